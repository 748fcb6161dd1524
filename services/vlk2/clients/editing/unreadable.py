"""What an edit raises where it cannot be sure of the file."""


class Unreadable(Exception):
    """The file cannot be parsed, or has another shape than the entry needs: it stays as it is."""
