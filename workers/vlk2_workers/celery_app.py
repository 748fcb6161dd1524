"""The Celery application. It reads the settings when it is first used, not when it is imported."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from celery import Celery, signals

from vlk2.errors import ConfigError
from vlk2.settings import Settings, load
from vlk2_workers import heartbeat
from vlk2_workers.limits import Limits
from vlk2_workers.routing import MAINTENANCE, queues, route
from vlk2_workers.schedule import schedule

# So many tasks with a countdown a process holds at once; the rest waits where any worker can take it.
WAITING = 8


@cache
def settings() -> Settings:
    """The settings of this process: the environment over the user file."""
    return load()


def configuration(settings: Settings) -> dict[str, Any]:
    """Celery's configuration for the settings. ConfigError where no broker is named."""
    if not settings.broker:
        raise ConfigError(
            "the workers need a broker: set VLK2_BROKER, for example to redis://127.0.0.1:6379/0. Without one "
            "the cycle runs inside `vlk2 serve`."
        )
    limits = Limits.of(settings)
    return {
        "broker_url": settings.broker,
        "broker_connection_retry_on_startup": True,
        # None retries for ever: a worker outlives a broker that is away for long.
        "broker_connection_max_retries": None,
        "broker_transport_options": _transport(settings.broker, limits),
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_ignore_result": True,
        # A task may run twice: what it writes is guarded by the version of its lease. So it is acknowledged
        # when it is done, and what a lost process or the hard limit cut off is delivered again.
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_acks_on_timeout": False,
        "task_soft_time_limit": limits.soft,
        "task_time_limit": limits.hard,
        "task_default_queue": MAINTENANCE,
        "task_queues": queues(settings.shards),
        "task_routes": [partial(route, settings.shards)],
        "task_create_missing_queues": False,
        "worker_prefetch_multiplier": 1,
        "worker_eta_task_limit": WAITING,
        "worker_max_tasks_per_child": 5_000,
        "worker_max_memory_per_child": 400_000,
        "worker_soft_shutdown_timeout": min(20.0, limits.hard),
        # A task that the broker is lost under may finish: the delivery that comes after it finds nothing to do.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_send_task_events": False,
        "worker_hijack_root_logger": True,
        # Every entry is an interval, so there is nothing to keep in a file.
        "beat_scheduler": "celery.beat:Scheduler",
        "beat_schedule": schedule(settings),
        "beat_max_loop_interval": max(0.2, min(5.0, settings.cycle_seconds)),
        "timezone": "UTC",
    }


def _transport(broker: str, limits: Limits) -> dict[str, Any]:
    if not broker.startswith(("redis:", "rediss:")):
        return {}
    return {
        "visibility_timeout": limits.visibility,
        "global_keyprefix": "vlk2:",
        "socket_timeout": 30,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
        "health_check_interval": 25,
    }


# Celery has no types: what comes of it is Any here and nowhere else.
app: Any = Celery("vlk2_workers", include=["vlk2_workers.tasks"], set_as_current=False)
app.add_defaults(lambda: configuration(settings()))

_signals: Any = signals
_signals.worker_ready.connect(heartbeat.beats)
_signals.heartbeat_sent.connect(heartbeat.beats)
_signals.worker_shutdown.connect(heartbeat.ends)


@_signals.beat_init.connect
def first_tick(**_: Any) -> None:
    """Beat ticks when it starts and not a cycle later; where another has just ticked, this one does nothing."""
    tick = app.conf.beat_schedule["dispatch"]
    app.send_task(tick["task"], **tick["options"])
