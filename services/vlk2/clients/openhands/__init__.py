"""OpenHands."""
