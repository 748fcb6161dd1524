"""`vlk2 trust`: let a project's own file set its threshold, fingerprint rows and exclusions."""

from __future__ import annotations

import os
from pathlib import Path

import click

from vlk2 import project_file
from vlk2.cli.output import answer, json_option
from vlk2.errors import ConfigError
from vlk2.identity import worktree_of
from vlk2.userfile import data_directory


@click.command(epilog="Examples: vlk2 trust    vlk2 trust --revoke    vlk2 trust --list")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--revoke", is_flag=True, help="Take the trust away.")
@click.option("--list", "listing", is_flag=True, help="List the trusted files.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def trust(folder: Path | None, revoke: bool, listing: bool, yes: bool, as_json: bool) -> None:
    """Trust the vlk2.toml of this project (or of FOLDER) as it is now.

    It may set loop_threshold, exclude and [[fingerprint]] rows, nothing else. When the file changes it has to
    be trusted again; until then it is not read.
    """
    data = data_directory(os.environ)
    if listing:
        held = project_file.trusted(data)
        answer(as_json, "\n".join(held) or "no project file is trusted", trusted=sorted(held))
        return
    path = project_file.file_of(worktree_of(str(folder or Path.cwd())))
    if revoke:
        gone = project_file.distrust(path, data)
        answer(as_json, f"{path} is {'no longer' if gone else 'not'} trusted.", file=path, trusted=False)
        return
    if not Path(path).exists():
        raise ConfigError(f"there is no {path}.")
    if not yes:
        click.echo(Path(path).read_text(encoding="utf-8", errors="replace"), err=True)
        click.confirm(f"Trust {path} as shown?", abort=True, err=True)
    rules = project_file.trust(path, data)
    sets = [
        *([f"loop_threshold {rules.loop_threshold}"] if rules.loop_threshold else []),
        *([f"{len(rules.exclude)} exclusions"] if rules.exclude else []),
        *(["fingerprint rows"] if rules.table else []),
    ]
    answer(as_json, f"Trusted {path}: {', '.join(sets) or 'it sets nothing'}.", file=path, trusted=True)
