# SPDX-License-Identifier: BSD-2-Clause
"""One estimate's samples, and names that tell estimates apart: what printers, exporters and charts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cyclometer.bundle.model import Bundle
from cyclometer.estimate.rows import Estimate


def row_of(bundle: Bundle, e: Estimate) -> int:
    """Index of the bundle's row that `e` was estimated from."""
    wanted = (e.contract, e.configuration, e.clock, e.method)
    rows = bundle.identity.rows
    return next(i for i, r in enumerate(rows) if (r.contract, r.configuration, r.clock, r.method) == wanted)


def names(found: Sequence[Estimate]) -> list[str]:
    """One name an estimate, all different: the key, then what tells its configuration or clock from its namesakes'.

    `fifo.put` stays `fifo.put`; two configurations of it become `fifo.put/mcs=off` and `fifo.put/mcs=on`.
    """
    counts = Counter(e.contract.key for e in found)
    return [e.contract.key + (_difference(e, found) if counts[e.contract.key] > 1 else "") for e in found]


def _difference(e: Estimate, found: Sequence[Estimate]) -> str:
    namesakes = [other for other in found if other.contract.key == e.contract.key]
    options = sorted({option for other in namesakes for option in other.configuration})
    telling = [o for o in options if len({other.configuration.get(o) for other in namesakes}) > 1]
    parts = [f"{option}={e.configuration.get(option, 'unset')}" for option in telling]
    if len({other.clock.name for other in namesakes}) > 1:
        parts.append(f"clock={e.clock.name}")
    return "".join(f"/{part}" for part in parts)
