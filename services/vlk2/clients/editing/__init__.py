"""Edits of files that belong to others: one entry in or out, every foreign byte as it was.

`jsonc`, `toml` and `yaml` are pure (text in, text out); `files` reads, backs up and writes. Only
`vlk2 install`, `vlk2 uninstall` and `vlk2 doctor` import them.
"""
