# SPDX-License-Identifier: BSD-2-Clause
"""Writes a store's site into a folder, and of an older one only what new bundles touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from cyclometer import __version__
from cyclometer.compare.finding import Options
from cyclometer.errors import NothingMeasured, UsageError
from cyclometer.site import pages, triage
from cyclometer.site.newest import NewestPages
from cyclometer.site.triage import TriageState
from cyclometer.store import history, index
from cyclometer.store.location import Location

_KEPT = "site.json"  # what the site was made of
_ROWS = """
    SELECT likeness, any_value(key), any_value(better = 'higher'),
    concat(count(*), '-', bit_xor(hash(bundle, latency)))
    FROM points WHERE latency > 0 GROUP BY likeness ORDER BY likeness
"""
_OF_BUNDLE = """
    SELECT bundle, likeness, key, configuration, latency, unit
    FROM points WHERE latency > 0 AND list_contains($1, bundle) ORDER BY bundle, key
"""
_BUNDLES = "SELECT bundle, created, target, title FROM bundles ORDER BY created DESC, bundle"
_AT_ONCE = 200  # bundles whose rows are written together


class _Kept(msgspec.Struct):
    version: str
    marks: dict[str, str]  # likeness -> what its page was made of
    states: dict[str, TriageState]


@dataclass(frozen=True)
class Built:
    """How many pages of circles and files of bundles were written, of how many; and the verdict."""

    circles: int
    all_circles: int
    bundles: int
    all_bundles: int
    verdict: str


def build(location: Location, out: Path, options: Options | None = None) -> Built:
    """Makes or brings up to date the site in `out`. Raises NothingMeasured for an empty store."""
    options = options or Options()
    kept = _kept(out)
    acknowledged = triage.acknowledged(location)
    with index.tables(location, "points") as database:
        rows = database.execute(_ROWS).fetchall()
        listed = database.execute(_BUNDLES).fetchall()
        if not rows:
            raise NothingMeasured(f"{location.url} has no valid row yet; push a bundle to it")
        (out / "circle").mkdir(parents=True, exist_ok=True)
        (out / "data").mkdir(exist_ok=True)
        marks = {name: f"{mark}-{_seen(kept, name, acknowledged)}" for name, _, _, mark in rows}
        stale = {name for name in marks if kept.marks.get(name) != marks[name]}
        higher = {name for name, _, is_higher, _ in rows if is_higher}
        keys = sorted({key for name, key, _, _ in rows if name in stale})
        states = {name: kept.states[name] for name in marks if name not in stale}
        known = history.identities(database)
        digests = [bundle for bundle, *_ in listed]
        with NewestPages(location, out, digests, _write) as newest:
            for key in keys:
                found = history.of_keys(database, options, (_literally(key),), known)
                for name, series in found.items():
                    if name in stale:
                        one = triage.state(name, series, name in higher)
                        states[name] = one
                        more = newest.links(name, series)
                        page = pages.circle(series, one, acknowledged, more)
                        _write(out / f"circle/{name}.html", page)
        states = dict(sorted(states.items()))
        fresh = _write_bundles(database, out, digests)
    marks = {
        name: f"{mark}-{_seen(_Kept('', {}, states), name, acknowledged)}"
        for name, _, _, mark in rows
    }
    verdict = triage.sentence([*states.values()], acknowledged)
    _write(out / "index.html", pages.overview(states, acknowledged, verdict))
    _write(out / "compare.html", pages.side_by_side([_choice(*row) for row in listed]))
    _write(out / "badge.svg", pages.badge([*states.values()], acknowledged))
    _write(out / _KEPT, msgspec.json.encode(_Kept(_version(), marks, states)).decode())
    return Built(len(stale), len(marks), fresh, len(listed), verdict)


def _version() -> str:
    """Pages of another version, or look, are made anew."""
    return f"{__version__}-3"


def _kept(out: Path) -> _Kept:
    """What an earlier build noted; nothing where there was none, or one of another version."""
    try:
        kept = msgspec.json.decode((out / _KEPT).read_bytes(), type=_Kept)
    except FileNotFoundError:
        if out.exists() and any(out.iterdir()):
            raise UsageError(
                f"{out} holds files that are not a site; name a folder that is empty or new"
            ) from None
        return _Kept("", {}, {})
    except msgspec.DecodeError:
        return _Kept("", {}, {})
    return kept if kept.version == _version() else _Kept("", {}, {})


def _seen(kept: _Kept, name: str, acknowledged: Mapping[str, str]) -> str:
    """The alerts of a row that are acknowledged now: its page says so."""
    one = kept.states.get(name)
    return ",".join(a.id for a in one.alerts if a.id in acknowledged) if one else ""


def _write_bundles(database: Any, out: Path, bundles: list[str]) -> int:
    """A file of rows for each bundle that has none yet; how many were written."""
    missing = [b for b in bundles if not (out / f"data/{b[:12]}.js").exists()]
    for at in range(0, len(missing), _AT_ONCE):
        rows: dict[str, dict[str, Any]] = {b: {} for b in missing[at : at + _AT_ONCE]}
        for bundle, likeness, key, configuration, latency, unit in database.execute(
            _OF_BUNDLE, [[*rows]]
        ).fetchall():
            rows[bundle][likeness] = [key, _options(configuration), latency, unit]
        for bundle, held in rows.items():
            # JSON with every < escaped is a script that cannot end its element
            encoded = msgspec.json.encode(held).decode().replace("<", "\\u003c")
            _write(out / f"data/{bundle[:12]}.js", f'arrived("{bundle[:12]}", {encoded});\n')
    return len(missing)


@lru_cache(4096)  # a store has few configurations, and a row names one
def _options(configuration: str) -> str:
    options = msgspec.json.decode(configuration, type=dict[str, str])
    return ", ".join(f"{name}={value}" for name, value in sorted(options.items()))


def _choice(bundle: str, created: Any, target: str, title: str) -> str:
    return f"{created:%Y-%m-%d %H:%M} {target} {bundle[:12]} {title[:60]}".strip()


def _literally(key: str) -> str:
    """A GLOB pattern that matches the key alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in key)


def _write(path: Path, text: str) -> None:
    """Replaces a file only where it differs, so that a copy to a server moves little."""
    content = text.encode("utf-8")
    if not path.exists() or path.read_bytes() != content:
        draft = path.with_name(f".{path.name}")
        draft.write_bytes(content)
        draft.rename(path)
