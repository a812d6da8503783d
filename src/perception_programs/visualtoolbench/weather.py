"""The weather of a past day at a place, from an archive that asks for no key."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any, Protocol

from ..errors import InputError, MissingExtraError, ToolError, install_command

__all__ = ["OpenMeteo", "Weather", "checked_date"]

_FIRST = dt.date(1940, 1, 1)
_LARGEST_ANSWER = 1 << 20
_DAILY = {
    "temperature_2m_max": "highest temperature",
    "temperature_2m_min": "lowest temperature",
    "temperature_2m_mean": "mean temperature",
    "precipitation_sum": "precipitation",
    "snowfall_sum": "snowfall",
    "wind_speed_10m_max": "strongest wind",
    "sunshine_duration": "sunshine",
}


class Weather(Protocol):
    """An archive of the weather."""

    async def day(self, location: str, date: dt.date) -> str:
        """The weather of a day at a place, in words and units.

        Raises:
            ToolError: it has none of that place and day; the message says why.
        """
        ...


def checked_date(text: str) -> dt.date:
    """A day as a model writes it, `YYYY-MM-DD`, that is over.

    Raises:
        InputError: no such day, or one to come.

    >>> checked_date("2024-02-29").isoformat()
    '2024-02-29'
    """
    try:
        date = dt.date.fromisoformat(text.strip())
    except (ValueError, AttributeError):
        raise InputError(f"date: expected a day as YYYY-MM-DD, got {text!r}") from None
    if date >= dt.datetime.now(dt.timezone.utc).date():
        raise InputError(f"date: expected a day that is over, got {date}")
    return date


class OpenMeteo:
    """Open-Meteo's archive of reanalysed weather, from 1940 on.

    Args:
        places: address of its geocoding.
        archive: address of its archive.
        timeout: seconds for each of the two requests.
    """

    def __init__(
        self,
        *,
        places: str = "https://geocoding-api.open-meteo.com/v1/search",
        archive: str = "https://archive-api.open-meteo.com/v1/archive",
        timeout: float = 20.0,
    ) -> None:
        self._places, self._archive, self._timeout = places, archive, timeout

    async def day(self, location: str, date: dt.date) -> str:
        """The weather of a day at a place, in words and units.

        Raises:
            ToolError: no such place, no weather of that day, or no answer.
        """
        if date < _FIRST:
            raise ToolError(f"no weather is kept from before {_FIRST}")
        found = await self._get(self._places, {"name": location, "count": "1", "format": "json"})
        places = found.get("results") or []
        if not places:
            raise ToolError(f"no place is called {location[:80]!r}; try the name of a town alone")
        place = places[0]
        day = date.isoformat()
        answer = await self._get(
            self._archive,
            {
                "latitude": str(place["latitude"]),
                "longitude": str(place["longitude"]),
                "start_date": day,
                "end_date": day,
                "daily": ",".join(_DAILY),
                "timezone": "auto",
            },
        )
        daily, units = answer.get("daily") or {}, answer.get("daily_units") or {}
        if daily.get("time") != [day]:
            raise ToolError(f"the archive has no weather of {day} at {location[:80]}")
        known = {key: (daily.get(key) or [None])[0] for key in _DAILY}
        said = [
            f"{_DAILY[key]} {value:g} {units.get(key, '')}".strip()
            for key, value in known.items()
            if isinstance(value, (int, float))
        ]
        if not said:
            raise ToolError(f"the archive has no weather of {day} at {location[:80]}")
        where = ", ".join(
            str(place[key]) for key in ("name", "admin1", "country") if place.get(key)
        )
        return f"{where}, {day}: {'; '.join(said)}."

    async def _get(self, address: str, query: Mapping[str, str]) -> dict[str, Any]:
        try:
            import aiohttp
        except ImportError:
            raise MissingExtraError(
                f"the weather archive needs aiohttp: {install_command('harness')}"
            ) from None
        timeout = aiohttp.ClientTimeout(total=self._timeout)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.get(address, params=query) as response,
            ):
                data = await response.content.read(_LARGEST_ANSWER)
                status = response.status
            found = json.loads(data)
        except (aiohttp.ClientError, TimeoutError, ValueError, OSError) as error:
            kind = str(error) or type(error).__name__
            raise ToolError(f"the weather archive gave no answer: {kind}") from None
        if status != 200 or not isinstance(found, dict):
            reason = found.get("reason", "") if isinstance(found, dict) else ""
            raise ToolError(f"the weather archive refused ({status}): {reason}".rstrip(": "))
        return found
