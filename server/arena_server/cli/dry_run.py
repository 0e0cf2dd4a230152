"""`arena run-tournament --dry-run`: what a tournament will take."""

from __future__ import annotations

from dataclasses import asdict

from arena_server.cli.output import show_json
from arena_server.coordinator.event import Event
from arena_server.coordinator.forecast import Forecast
from arena_server.store import Tournament
from arena_server.store.contracts import same

_HOUR_S, _MINUTE_S = 3600, 60
_GB = 1024


def print_forecast(event: Event, found: Tournament | None, *, as_json: bool) -> None:
    """Prints it.

    Args:
        event: what is asked for.
        found: the tournament that the same command without --dry-run would go on with.
        as_json: as JSON.
    """
    from arena_server.cli.run_tournament import length_text

    spec, forecast = event.spec, Forecast.of(event)
    name = event.settings.name or spec.default_name
    if as_json:
        status = None if found is None else found.status
        show_json({"tournament": name, "status": status, "contract": spec.contract(), **asdict(forecast)})
        return
    print(f"tournament {name}: {_state(found, event)}")
    print(f"format      {spec.format} of {len(spec.entrants)} bots, {length_text(spec)}")
    sooner = f"; fewer where this is known sooner: {event.settings.until}" if event.settings.until else ""
    print(f"games       {_span(forecast.games)}, {event.capacity} at once{sooner}")
    print(f"bot starts  {_span(forecast.starts)}")
    likely = _between(_duration(forecast.likely_h[0]), _duration(forecast.likely_h[1]))
    print(f"time        about {likely} if bots use half of theirs, at most about {_duration(forecast.longest_h)}")
    print(f"memory      {_size(forecast.memory_mb)}, and what bots load beside the engine")
    print(f"disk        {_between(_size(forecast.disk_mb[0]), _size(forecast.disk_mb[1]))}")


def _state(found: Tournament | None, event: Event) -> str:
    if found is None:
        return "new, nothing of it is in the database"
    if not same(found.spec, event.spec):
        return f"of that name one is in the database ({found.status}) with another contract, which would be refused"
    return f"in the database already ({found.status}); the figures are for the whole of it"


def _span(numbers: tuple[int, int]) -> str:
    return _between(*map(str, numbers))


def _between(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


def _duration(hours: float) -> str:
    seconds = hours * _HOUR_S
    if seconds < _MINUTE_S:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / _MINUTE_S:.0f} min" if seconds < _HOUR_S else f"{hours:.1f} h"


def _size(mb: float) -> str:
    return f"{max(1, round(mb))} MB" if mb < _GB else f"{mb / _GB:.1f} GB"
