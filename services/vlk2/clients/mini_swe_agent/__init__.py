"""mini-swe-agent."""
