# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer prove-move`: a moved kernel executes what it would have executed in QEMU."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli.common import kernel_options
from cyclometer.errors import FAILED, PASS

if TYPE_CHECKING:
    from cyclometer.targets.rocket_linux.proof import Proof

_SHOWN = 20  # functions


@click.command()
@click.argument("key", default="syscall.null")
@kernel_options
@click.option("--json", "as_json", is_flag=True, help="Print the proof as JSON.")
def command(
    key: str,
    kernel: str | None,
    append: str | None,
    cpu_model: str | None,
    symbols: str | None,
    as_json: bool,
) -> None:
    """Set a test of circle KEY in QEMU and on the RTL side by side, pc by pc.

    0: every difference is one that the machines are known for; 5: it is not. A circle that neither
    switches threads nor reads the time, as syscall.null, has none.

    Example: cyclometer prove-move --kernel debian@trixie:linux-image-6.12*-riscv64 syscall.null
    """
    from cyclometer.targets.api import Request
    from cyclometer.targets.rocket_linux.target import RocketLinuxTarget

    request = Request(kernel=kernel, append=append, cpu_model=cpu_model, symbols=symbols)
    proof = RocketLinuxTarget().prove(request, key)
    if as_json:
        click.echo(json.dumps(_as_json(proof), indent=1))
    else:
        _show(proof)
    sys.exit(PASS if proof.explained else FAILED)


def _as_json(proof: Proof) -> dict[str, object]:
    return {
        "circle": proof.key,
        "turns": proof.turns,
        "steps": {"qemu": proof.qemu_steps, "rtl": proof.rtl_steps, "equal": proof.equal_steps},
        "identical": proof.identical,
        "differing": proof.differing,
        "unexplained": proof.unexplained,
        "rest_equal": proof.rest_equal,
    }


def _show(proof: Proof) -> None:
    from cyclometer.targets.rocket_linux.proof import reason

    head = f"{proof.key}, a test of {proof.turns} turns:"
    if proof.identical:
        click.echo(f"{head} {proof.rtl_steps} steps, the same pc at every step")
        return
    click.echo(
        f"{head} {proof.qemu_steps} steps in QEMU, {proof.rtl_steps} on the RTL; the first "
        f"{proof.equal_steps} are the same"
    )
    for function, more in list(proof.differing.items())[:_SHOWN]:
        click.echo(f"  {more:+8} {function}: {reason(function) or 'not explained'}")
    rest = "the same pc at every step" if proof.rest_equal else "another order, not explained"
    click.echo(f"           all other functions: {rest}")
    if len(proof.differing) > _SHOWN:
        click.echo(f"  and {len(proof.differing) - _SHOWN} functions more")
