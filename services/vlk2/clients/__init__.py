"""Adapters for coding agents: one folder each, and the readers of their recorded sessions."""
