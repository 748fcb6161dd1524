"""The Celery workers that keep a shared store: consolidation and budget, keyed per agent timeline."""
