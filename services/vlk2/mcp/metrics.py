"""The counters of one server, in Prometheus' text format. Numbers only: no team, agent, project or text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vlk2.mcp.health import Health

_PATHS = ("/mcp", "/v1/events", "/v1/verbs")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counts what passes; `text` renders it. Without `prometheus_client` nothing is counted and `text` is None."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}
        try:
            import prometheus_client as prometheus
        except ImportError:
            self._registry = None
            return
        self._registry = registry = prometheus.CollectorRegistry()
        self._render = prometheus.generate_latest

        def counter(name: str, text: str, *labels: str) -> None:
            self._made[name] = prometheus.Counter(name, text, labels, registry=registry)

        def gauge(name: str, text: str, *labels: str) -> None:
            self._made[name] = prometheus.Gauge(name, text, labels, registry=registry)

        counter("vlk2_http_requests", "Requests answered", "path", "status")
        self._made["vlk2_http_seconds"] = prometheus.Histogram(
            "vlk2_http_seconds", "Time to answer a request", ("path",), registry=registry, buckets=_SECONDS
        )
        counter("vlk2_tool_calls", "MCP tool calls", "tool", "result")
        self._made["vlk2_tool_seconds"] = prometheus.Histogram(
            "vlk2_tool_seconds", "Time of an MCP tool call", ("tool",), registry=registry, buckets=_SECONDS
        )
        counter("vlk2_records", "Observations recorded by tool or hook", "source")
        counter("vlk2_loops", "Observations recorded under a constraint")
        counter("vlk2_events", "Hook events heard, by what the hook was told", "kind", "said")
        counter("vlk2_refused", "Requests refused", "reason")
        gauge("vlk2_up", "Whether a part answers", "part")
        gauge("vlk2_timelines_due", "Timelines that wait for the cycle")
        gauge("vlk2_timelines_leased", "Timelines that a worker has now")
        gauge("vlk2_timelines_parked", "Timelines parked after repeated failures")
        gauge("vlk2_oldest_due_seconds", "How long the oldest due timeline has waited")
        gauge("vlk2_last_tick_age_seconds", "Time since the cycle last ticked")
        gauge("vlk2_spool_lines", "Events that wait in this server's spool")

    @property
    def content_type(self) -> str:
        return "text/plain; version=0.0.4; charset=utf-8"

    def request(self, path: str, status: int, seconds: float) -> None:
        known = next((one for one in _PATHS if path.startswith(one)), "other")
        self._count("vlk2_http_requests", known, str(status))
        if self._made:
            self._made["vlk2_http_seconds"].labels(known).observe(seconds)

    def tool(self, name: str, *, failed: bool, seconds: float) -> None:
        self._count("vlk2_tool_calls", name, "error" if failed else "ok")
        if self._made:
            self._made["vlk2_tool_seconds"].labels(name).observe(seconds)

    def recorded(self, source: str, *, loop: bool) -> None:
        self._count("vlk2_records", source)
        if loop:
            self._count("vlk2_loops")

    def event(self, kind: str, said: str) -> None:
        self._count("vlk2_events", kind, said)

    def refused(self, reason: str) -> None:
        self._count("vlk2_refused", reason.removeprefix("refused."))

    def text(self, health: Health, now: int) -> bytes | None:
        """Everything, with the gauges as `health` says."""
        if self._registry is None:
            return None
        for part in ("database", "schema"):
            self._made["vlk2_up"].labels(part).set(0 if part in health.failing else 1)
        for part in ("redis", "beat", "cycle", "spool"):
            self._made["vlk2_up"].labels(part).set(0 if part in health.troubled else 1)
        if health.backlog:
            oldest = health.backlog.oldest_due_at
            self._made["vlk2_timelines_due"].set(health.backlog.due)
            self._made["vlk2_timelines_leased"].set(health.backlog.leased)
            self._made["vlk2_timelines_parked"].set(health.backlog.parked)
            self._made["vlk2_oldest_due_seconds"].set(0 if oldest is None else max(0, now - oldest) / 1e6)
        if health.tick_age is not None:
            self._made["vlk2_last_tick_age_seconds"].set(health.tick_age)
        self._made["vlk2_spool_lines"].set(health.spooled)
        return bytes(self._render(self._registry))

    def _count(self, name: str, *labels: str) -> None:
        made = self._made.get(name)
        if made is not None:
            (made.labels(*labels) if labels else made).inc()
