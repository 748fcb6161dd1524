"""The Celery workers that keep a shared store: consolidation and budget, keyed per agent timeline.

`celery -A vlk2_workers worker` and `celery -A vlk2_workers beat` find the application here as `app`.
"""

from vlk2_workers.celery_app import app

__all__ = ["app"]
