# SPDX-License-Identifier: BSD-2-Clause
"""How far sessions of one machine differ although nothing changed, learnt from repeated sessions
and kept for later comparisons.

The variance of a row's session mean is that of the sessions at hand, moderated: rows lend each
other strength by an inverse chi-square prior that is fitted to all of them (Smyth 2004, section
6.2). Restless circles have a prior of their own.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
from scipy import optimize, special

from cyclometer.compare.ancova import difference
from cyclometer.compare.component import Component, Gap, gap, is_restless
from cyclometer.compare.pairing import Side, pairs
from cyclometer.compare.surroundings import busier
from cyclometer.errors import BadFile, MeasurementFailed, NothingMeasured
from cyclometer.estimate.rows import Estimate
from cyclometer.estimate.session import Occasion, Session

MACHINE = ("cpu_count", "cpu_model", "microcode", "target")
"""What two sessions must share for one to tell about the other. The kernel may differ: how far
sessions differ is the hardware's and its neighbours' doing."""
FEWEST_SESSIONS = 3
_FIRM = 1e6  # degrees of freedom of a prior whose rows do not differ


class Variance(msgspec.Struct, frozen=True):
    """Of the mean of one session, in squared logarithms, and with how many degrees of freedom it is
    known.
    """

    variance: float
    df: float


class KnownVariances(msgspec.Struct, frozen=True):
    """What sessions of one gap showed: of each circle, and of one that was not measured."""

    pairs: int
    rows: dict[str, Variance]
    restless: Variance | None = None
    others: Variance | None = None

    def of(self, key: str) -> Variance | None:
        """The variance of the session mean of circle `key`; None if unknown."""
        return self.rows.get(key) or (self.restless if is_restless(key) else self.others)


class Calibration(msgspec.Struct, frozen=True):
    """What is known of a machine; `gaps` by how far the sessions lay apart."""

    machine: dict[str, str]
    created: str
    gaps: dict[str, KnownVariances]

    def component(
        self, key: str, before: Sequence[Session], after: Sequence[Session], own: float
    ) -> Component | None:
        """What sessions add to the variance `own`, in squared logarithms, of a circle's change.
        None if unknown, as of sessions of another machine.
        """
        sessions = [*before, *after]
        if any(machine(one.occasion) != self.machine for one in sessions):
            return None
        known = self.gaps.get(widest(gap(a.occasion, b.occasion) for a in before for b in after))
        found = None if known is None else known.of(key)
        if known is None or found is None:
            return None
        total = found.variance * (1 / len(before) + 1 / len(after))
        source = f"of this machine differ by {100 * math.sqrt(found.variance):.2g} % in this circle"
        # a part of what sessions differ by is in the spread of their visits already
        return Component(max(0.0, total - own), found.df, f"{source} ({known.pairs} pairs)")


def widest(gaps: Iterable[Gap]) -> Gap:
    """The gap that counts where sessions lie differently far apart."""
    return "machine" if "machine" in set(gaps) else "hour"


def machine(occasion: Occasion) -> dict[str, str]:
    """The facts by which a session's machine is known again."""
    return {name: value for name, value in occasion.machine if name in MACHINE}


def learn(sides: Sequence[Side]) -> Calibration:
    """What sessions between which nothing changed show, each one a side of its own.

    Pairs of which one session was measured beside other work are left out, as `compare` refuses
    them. Raises NothingMeasured if fewer than FEWEST_SESSIONS of one machine are left, or if no
    circle has visits on an axis of time.
    """
    squares: dict[Gap, dict[str, list[float]]] = {}
    machines, used = [], set[int]()
    for (i, before), (j, after) in combinations(enumerate(sides), 2):
        for b, a in _alike(before, after):
            apart = gap(b.sessions[0].occasion, a.sessions[0].occasion)
            moved = difference(b.sessions, a.sessions).value
            rows = squares.setdefault(apart, defaultdict(list))
            # a difference of two means varies twice as much as one of them
            rows[b.contract.key].append(moved**2 / 2)
            machines += [machine(e.sessions[0].occasion) for e in (b, a)]
            used |= {i, j}
    if len(used) < FEWEST_SESSIONS or any(m != machines[0] for m in machines):
        raise NothingMeasured(
            f"{len(used)} of {len(sides)} bundles are comparable sessions, and {FEWEST_SESSIONS} "
            "of one machine are needed; measure it with `cyclometer doctor --calibrate`"
        )
    # pairs share sessions: they know no more than the sessions do
    df = len(used) - 1.0
    return Calibration(
        machines[0],
        datetime.now(UTC).isoformat(timespec="seconds"),
        {apart: _known(rows, df) for apart, rows in squares.items()},
    )


def _alike(before: Side, after: Side) -> list[tuple[Estimate, Estimate]]:
    """The circles of two sessions that a comparison would judge."""
    found = [
        (pair.before.estimate, pair.after.estimate)
        for pair in pairs(before, after)
        if pair.before and pair.after and not pair.refusal
    ]
    kept = [
        (b, a)
        for b, a in found
        if b.valid and a.valid and len(b.sessions) == 1 and len(a.sessions) == 1
    ]
    return [] if kept and busier(*(e.sessions for e in kept[0])) else kept


def _known(squares: dict[str, list[float]], sessions_df: float) -> KnownVariances:
    seen = {key: float(np.mean(values)) for key, values in squares.items()}
    df = min(sessions_df, float(max(map(len, squares.values()))))
    rows, priors = {}, []
    for restless in (True, False):
        # a variance of 0 has no logarithm
        of_kind = {key: s2 for key, s2 in seen.items() if is_restless(key) is restless and s2}
        prior = moderation(list(of_kind.values()), df) if len(of_kind) > 1 else None
        priors.append(prior)
        for key, s2 in of_kind.items():
            known = prior or Variance(s2, 0.0)
            together = known.df + df
            rows[key] = Variance((known.df * known.variance + df * s2) / together, together)
    return KnownVariances(max(map(len, squares.values())), rows, priors[0], priors[1])


def moderation(variances: Sequence[float], df: float) -> Variance:
    """The prior of some positive variances with df degrees of freedom each: its middle and its own
    degrees of freedom.
    """
    # z: the logarithms without their bias. What they vary by beyond the chance of df degrees of
    # freedom is the prior's: the trigamma function of half of its own degrees of freedom.
    z = np.log(variances) - special.digamma(df / 2) + math.log(df / 2)
    beyond = float(z.var(ddof=1)) - float(special.polygamma(1, df / 2))
    d0 = _FIRM
    if beyond > float(special.polygamma(1, _FIRM / 2)):
        d0 = 2 * _inverse_trigamma(beyond)
    middle = float(z.mean()) + float(special.digamma(d0 / 2)) - math.log(d0 / 2)
    return Variance(math.exp(middle), d0)


def _inverse_trigamma(value: float) -> float:
    low, high = 1e-3, _FIRM
    if value >= float(special.polygamma(1, low)):
        return low
    return float(optimize.brentq(lambda x: float(special.polygamma(1, x)) - value, low, high))


def path(folder: Path, facts: dict[str, str]) -> Path:
    """Where the calibration of a machine is kept, by the facts that `machine` gives."""
    name = hashlib.sha256(msgspec.json.encode(sorted(facts.items()))).hexdigest()[:16]
    return folder / f"{name}.json"


def read(file: Path) -> Calibration | None:
    """A kept calibration; None if there is none. Raises BadFile if it is damaged."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Calibration)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise BadFile(f"{file} is not a calibration ({error}); delete it") from None


def keep(known: Calibration, folder: Path) -> Path:
    """Writes a calibration in place of an older one of that machine, and returns the path of its
    file. Raises MeasurementFailed if the file cannot be written.
    """
    file = path(folder, known.machine)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # a comparison that reads meanwhile finds the old file or the new one, never half of it
        new = file.with_suffix(".new")
        new.write_bytes(msgspec.json.format(msgspec.json.encode(known), indent=1) + b"\n")
        new.replace(file)
    except OSError as error:
        raise MeasurementFailed(
            f"{file} cannot be written ({error.strerror}); make room, or set XDG_STATE_HOME"
        ) from None
    return file


def sentences(known: Calibration) -> list[str]:
    """What a calibration says, for people."""
    return [
        f"sessions {_GAPS[apart]} differ by {_percent(values, 0.5)} in the middle circle, by more "
        f"than {_percent(values, 0.9)} in one of ten ({len(values)} circles, {found.pairs} pairs)"
        for apart, found in known.gaps.items()
        if (values := [one.variance for one in found.rows.values()])
    ]


_GAPS = {"hour": "of one boot within the hour", "machine": "of other boots or hours"}


def _percent(variances: Sequence[float], quantile: float) -> str:
    return f"{100 * math.sqrt(float(np.quantile(variances, quantile))):.2g} %"
