"""No store is let off: what ran on the one ran on the other."""

from __future__ import annotations

import os


def test_as_many_contract_tests_ran_on_postgres_as_on_sqlite(ran_so_far):
    """On a laptop without a server the shared store is skipped; in CI that is a failure."""
    if os.environ.get("CI"):
        assert ran_so_far["postgres"] >= ran_so_far["sqlite"]
