# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer prove-move`: a moved kernel executes what it would have executed in QEMU."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import rich_click as click

from cyclometer.cli.common import kernel_options, print_json
from cyclometer.errors import FAILED, PASS

if TYPE_CHECKING:
    from cyclometer.report.documents.explained import MoveProof
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
    """Compare one test of circle KEY in QEMU with the same test on the RTL, pc by pc.

    The target rocket-linux boots a Linux kernel in QEMU and moves it to a simulated core just
    before the test. This command checks that the kernel executes there what it would have executed
    in QEMU. A circle that neither switches threads nor reads the time, such as syscall.null, has no
    differences.

    Exit codes: 0 if every difference has a known cause, 5 if some have none.

    Example: cyclometer prove-move --kernel debian@trixie:linux-image-6.12*-riscv64 syscall.null
    """
    from cyclometer.targets.api import Request
    from cyclometer.targets.rocket_linux.target import RocketLinuxTarget

    request = Request(kernel=kernel, append=append, cpu_model=cpu_model, symbols=symbols)
    proof = RocketLinuxTarget().prove(request, key)
    if as_json:
        print_json(_document(proof))
    else:
        _show(_document(proof))
    sys.exit(PASS if proof.explained else FAILED)


def _document(proof: Proof) -> MoveProof:
    from cyclometer.report.documents.explained import MoveProof, SetApart

    return MoveProof(
        circle=proof.key,
        turns=proof.turns,
        steps=SetApart(proof.qemu_steps, proof.rtl_steps, proof.equal_steps),
        identical=proof.identical,
        differing=dict(proof.differing),
        unexplained=proof.unexplained,
        rest_equal=proof.rest_equal,
    )


def _show(proof: MoveProof) -> None:
    from cyclometer.targets.rocket_linux.proof import reason

    head = f"{proof.circle}, a test of {proof.turns} turns:"
    if proof.identical:
        click.echo(f"{head} {proof.steps.rtl} steps, the same pc at every step")
        return
    click.echo(
        f"{head} {proof.steps.qemu} steps in QEMU, {proof.steps.rtl} on the RTL; the first "
        f"{proof.steps.equal} are the same"
    )
    for function, more in list(proof.differing.items())[:_SHOWN]:
        click.echo(f"  {more:+8} {function}: {reason(function) or 'not explained'}")
    rest = "the same pc at every step" if proof.rest_equal else "another order, not explained"
    click.echo(f"           all other functions: {rest}")
    if len(proof.differing) > _SHOWN:
        click.echo(f"  and {len(proof.differing) - _SHOWN} functions more")
