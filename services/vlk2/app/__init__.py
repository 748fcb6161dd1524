"""The use cases: one file, one verb. Each opens one transaction, reads facts, calls a pure function, writes
its answer and commits; none reads a clock, a setting or the world."""
