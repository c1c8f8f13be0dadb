# SPDX-License-Identifier: BSD-2-Clause
"""The JSON that commands print: one schema a kind, and the one function that writes it.

Every document is an object whose `schema` is `cyclometer/KIND/VERSION`. A new member keeps the
version; one that goes away, or means something else, raises it. A number that does not exist is
null, for JSON has neither infinity nor NaN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from cyclometer.report.documents import (
    checked,
    compared,
    explained,
    kernels,
    listed,
    machine,
    measured,
    over_time,
    sampled,
    stored,
    swept,
    written,
)

KINDS: Mapping[str, tuple[int, type[Struct]]] = {
    "estimates": (1, measured.Estimates),
    "circle": (1, measured.CircleDetails),
    "exported": (1, measured.Exported),
    "comparison": (1, compared.Comparison),
    "kernels": (1, kernels.KernelsCompared),
    "expected": (1, compared.Expected),
    "matrix": (1, compared.Matrix),
    "false-alarms": (1, compared.FalseAlarms),
    "history": (1, over_time.History),
    "newest": (1, over_time.NewestPoints),
    "circles": (1, listed.Circles),
    "machine": (1, machine.Machine),
    "settings": (1, machine.Settings),
    "counts": (1, machine.HostCounts),
    "agreement": (1, machine.Agreement),
    "calibration": (1, machine.Calibration),
    "lint": (1, checked.Lint),
    "rules": (1, checked.Rules),
    "ingested": (1, written.Ingested),
    "report": (1, written.Report),
    "built": (1, written.Built),
    "store": (1, stored.Store),
    "transferred": (1, stored.Transferred),
    "answer": (1, stored.Answer),
    "leftovers": (1, stored.Leftovers),
    "sweep": (1, swept.Sweep),
    "sweep-plan": (1, swept.SweepPlan),
    "sweep-task": (1, swept.SweepTask),
    "site": (1, written.Site),
    "bisect": (1, swept.Bisected),
    "explanation": (1, explained.ExplainedCircle),
    "explained-difference": (1, explained.ExplainedDifference),
    "tail": (1, explained.ExplainedTail),
    "paths": (1, explained.ExecutedPaths),
    "profile": (1, sampled.SampledCircle),
    "profile-difference": (1, sampled.SampledDifference),
    "why": (1, sampled.Counted),
    "move": (1, explained.MoveProof),
    "glossary": (1, listed.Glossary),
    "kinds": (1, listed.Kinds),
}
"""Kind -> version and type."""
_KIND_OF = {typed: kind for kind, (_, typed) in KINDS.items()}


def name(kind: str) -> str:
    """What `schema` says in a document of this kind."""
    return f"cyclometer/{kind}/{KINDS[kind][0]}"


def describe(kind: str) -> str:
    """What prints documents of a kind, and what they say; one sentence."""
    return (KINDS[kind][1].__doc__ or "").strip()


def dumps(document: Struct) -> str:
    """A document as JSON; its type is one of `KINDS`, which names the kind."""
    content = {"schema": name(_KIND_OF[type(document)]), **plain(document)}
    return json.dumps(content, indent=1, allow_nan=False)


def plain(value: Any) -> Any:
    """`value` as plain data, with null for every number that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Struct):
        members = msgspec.structs.fields(value)
        return {one.encode_name: plain(getattr(value, one.name)) for one in members}
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def schema(kind: str) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a kind."""
    (_, typed) = KINDS[kind]
    described = msgspec.json.schema(typed)
    definition = described["$defs"][typed.__name__]
    definition["properties"] = {"schema": {"const": name(kind)}} | definition["properties"]
    definition["required"] = ["schema", *definition["required"]]
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "$id": name(kind)} | described
