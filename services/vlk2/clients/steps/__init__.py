"""The neutral step format."""
