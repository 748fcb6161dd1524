"""Vlk²: the memory of what did not work."""

__version__ = "0.1.0"
