"""Microseconds UTC as a person reads them."""

from __future__ import annotations

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def stamp(at: int) -> str:
    """`2026-11-30 08:40 UTC` of microseconds since the epoch."""
    days, rest = divmod(at // SECOND, 86_400)
    year, month, day = _civil(days)
    return f"{year:04d}-{month:02d}-{day:02d} {rest // 3600:02d}:{rest % 3600 // 60:02d} UTC"


def iso(at: int) -> str:
    """ISO 8601 with seconds, of microseconds since the epoch."""
    days, rest = divmod(at // SECOND, 86_400)
    year, month, day = _civil(days)
    return f"{year:04d}-{month:02d}-{day:02d}T{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}Z"


def span(duration: int) -> str:
    """A duration in microseconds, in the largest unit that fits: `40 s`, `12 min`, `3 h`, `5 days`."""
    for unit, word in ((DAY, "days"), (HOUR, "h"), (MINUTE, "min")):
        if duration >= 2 * unit or (duration >= unit and unit < DAY):
            return f"{duration // unit} {word}"
    return f"{duration // SECOND} s"


def _civil(days: int) -> tuple[int, int, int]:
    """Days since 1970-01-01 as a proleptic Gregorian date (Hinnant, chrono-compatible date algorithms).

    Written out because `datetime` costs a hook more than these lines.
    """
    days += 719_468
    era, day_of_era = divmod(days, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1
