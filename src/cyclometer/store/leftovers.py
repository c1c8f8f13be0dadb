# SPDX-License-Identifier: BSD-2-Clause
"""What writers that were killed left in a store: files of no bundle that anybody can see."""

from __future__ import annotations

import re
import time

from cyclometer.store.location import Location

GRACE_S = 24 * 3600.0
"""Files younger than this may be of a writer at work."""
_DATA = re.compile(r"data/[0-9a-f]{2}/([0-9a-f]{64})/.+")
_ROWS = re.compile(r"rows/.+/([0-9a-f]{64})\.parquet")
_ENTRY = re.compile(r"bundles/.+/([0-9a-f]{64})\.parquet")
_TEMPORARY = re.compile(r".*/\.part-[0-9a-f]+")


def find(location: Location, older_s: float = GRACE_S) -> list[str]:
    """Names of files that belong to no entry of the table of bundles and are older than this."""
    listed = [name for part in ("bundles", "data", "rows") for name, _ in location.everything(part)]
    entered = {m[1] for name in listed if (m := _ENTRY.fullmatch(name))}
    loose = [
        name
        for name in listed
        if _TEMPORARY.fullmatch(name)
        or ((m := _DATA.fullmatch(name) or _ROWS.fullmatch(name)) and m[1] not in entered)
    ]
    return [name for name in loose if _age_s(location, name) >= older_s]


def _age_s(location: Location, name: str) -> float:
    """Less than nothing for a file that is gone by now."""
    try:
        return max(0.0, time.time() - location.modified_s(name))
    except FileNotFoundError:
        return -1.0
