# SPDX-License-Identifier: BSD-2-Clause
"""Where evidence comes from: a target that can trace, or a bundle whose run kept traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cyclometer.errors import MeasurementFailed, NotComparable, UsageError
from cyclometer.explain import evidence
from cyclometer.explain.evidence import FLOOR_ONLY, ROLES, Evidence
from cyclometer.record.profile import ROLE, Profile, pack, unpack
from cyclometer.targets.api import SILENT, Progress, Request, Target, Tracer

_FILE_MAX_BYTES = 64 << 20
_STEADY = ".steady.gz"  # how such a file's name ends


def trace(
    target: Target,
    request: Request,
    keys: Sequence[str],
    steady_only: bool = False,
    untraced: list[str] | None = None,
    progress: Progress = SILENT,
) -> dict[str, dict[str, Evidence]]:
    """Of each circle in `keys` a steady and a cold turn, by key and role: two traced boots.
    `steady_only` is one boot, without the floor's circles, which is all that a difference needs.

    Raises NotComparable if the target cannot trace, MeasurementFailed where a boot ends early
    or, unless `untraced` is there to take the reason, has no test of a circle.
    """
    if not isinstance(target, Tracer):
        raise NotComparable(
            f"target {target.name} records no instruction traces; "
            f"`cyclometer explain --kernel IMAGE {keys[0]}` traces a Linux kernel under QEMU"
            if target.name == "linux"
            else f"target {target.name} records no instruction traces; take one that emulates, as "
            "qemu-virt"
        )
    flow = request.flow or target.trace_flow  # None: the target's own
    requests = {
        "steady": replace(
            request,
            only=request.only if steady_only else _with_floor(request.only),
            flow=flow,
            method=None,
        ),
        "cold": replace(request, flow=flow, method="passes"),
    }
    found: dict[str, dict[str, Evidence]] = {key: {} for key in keys}
    roles = ROLES[:1] if steady_only else ROLES
    for done, role in enumerate(roles):
        progress.visits(done, len(roles), f"{target.name}: the {role} turn")
        traced = target.trace(requests[role], keys)
        for key in keys:
            try:
                found[key] |= {role: evidence.gather(target.name, traced, [key], role)[key]}
            except MeasurementFailed as error:
                if untraced is None:
                    raise
                untraced.append(str(error))
    return found


def _with_floor(only: Sequence[str]) -> tuple[str, ...]:
    return ("*",) if "*" in only else (*only, *FLOOR_ONLY)


def files(found: Mapping[str, Mapping[str, Evidence]]) -> dict[str, bytes]:
    """As a bundle keeps them."""
    return {
        evidence.name(key, role): evidence.pack(one)
        for key, roles in found.items()
        for role, one in roles.items()
    }


def kept(bundle: Path, key: str) -> dict[str, Evidence]:
    """The traces of a circle that a bundle keeps, by role. Raises UsageError if it keeps none of
    it, BadFile where one is damaged.
    """
    folder = bundle / evidence.FOLDER
    there = {f"{evidence.FOLDER}/{file.name}": file for file in folder.glob("*.gz")}
    found = {role: there[name] for role in ROLES if (name := evidence.name(key, role)) in there}
    if "steady" not in found:
        circles = sorted({file.stem.rpartition(".")[0] for file in there.values()})
        has = (
            f"it has those of {', '.join(circles[:8])}{' ...' * (len(circles) > 8)}"
            if circles
            else "it has none"
        )
        raise UsageError(
            f"{bundle} holds no trace of {key!r}; {has}; make some with `cyclometer run --trace`; "
            "of a Linux kernel's turn no bundle is needed: "
            f"`cyclometer explain --kernel IMAGE {key}`"
        )
    return {role: evidence.unpack(_read(path), str(path)) for role, path in found.items()}


def traced(bundle: Path) -> set[str]:
    """The circles of which a bundle keeps a steady turn."""
    files = (bundle / evidence.FOLDER).glob(f"*{_STEADY}")
    return {file.name.removesuffix(_STEADY) for file in files}


def steady(bundle: Path, key: str) -> Evidence:
    """The steady turn of a circle that is among those `traced`. Raises BadFile if its file is
    damaged.
    """
    path = bundle / evidence.FOLDER / f"{key}{_STEADY}"
    return evidence.unpack(_read(path), str(path))


def profile_file(profile: Profile) -> dict[str, bytes]:
    """As a bundle keeps it."""
    return {evidence.name(profile.contract.key, ROLE): pack(profile)}


def kept_profile(bundle: Path, key: str) -> Profile | None:
    """The samples of a circle that a bundle keeps, or None. Raises BadFile for a damaged file."""
    path = bundle / evidence.name(key, ROLE)
    return unpack(_read(path), str(path)) if path.is_file() else None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_FILE_MAX_BYTES)
