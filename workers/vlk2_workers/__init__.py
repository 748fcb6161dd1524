"""The Celery workers that keep a shared store: consolidation and budget, keyed per agent timeline.

`celery -A vlk2_workers worker` and `celery -A vlk2_workers beat` find the application here as `app`; it is
imported when it is asked for, since a health check runs often and needs no Celery.
"""

from __future__ import annotations

from typing import Any

__all__ = ["app"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in ("app", "celery"):
        from vlk2_workers.celery_app import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
