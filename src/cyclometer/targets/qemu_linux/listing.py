# SPDX-License-Identifier: BSD-2-Clause
"""A kernel's own list of its functions, read out of the memory of a guest that has made it, and
kept for the next time.
"""

from __future__ import annotations

from cyclometer.errors import CyclometerError, MeasurementFailed
from cyclometer.targets.qemu.debugger import Debugger
from cyclometer.targets.qemu_linux import symbols as kernel_symbols
from cyclometer.targets.qemu_linux.booted import hints
from cyclometer.targets.qemu_linux.guest import Guest
from cyclometer.targets.qemu_linux.symbols import Symbols

_SHOWS = "init_show"  # of the harness: stops with the list at hand
# where the ABI has the first two arguments of a function, which say where the list is and how long
_ARGUMENTS = {"x86_64": ("rdi", "rsi"), "aarch64": ("x0", "x1"), "riscv64": ("a0", "a1")}


def known(guest: Guest) -> Symbols | None:
    """The kernel's functions, where a file has them or an earlier boot listed them."""
    kept = kernel_symbols.kept(guest.kernel.sha256)
    listed = guest.kernel.symbols or (kept if kept.exists() else None)
    return kernel_symbols.load(listed) if listed else None


def listed(guest: Guest, bound_s: float) -> Symbols:
    """Those that the kernel itself lists, of a boot. Raises MeasurementFailed if it lists none."""
    machine = guest.kernel.machine.name
    why = "lists no functions (it has no /proc/kallsyms, or hides addresses)"
    text = b""
    try:
        with guest.boot(0, [], ["--symbols"]) as command, Debugger(command, bound_s) as stopped:
            found = hints(guest.program, machine).items()
            stopped.run_to([pc for pc, function in found if function == _SHOWS])
            text = stopped.memory(*(stopped.register(name) for name in _ARGUMENTS[machine]))
    except CyclometerError as error:
        why = f"was not asked for its functions: {error}"
    functions = kernel_symbols.read(text)
    if functions is None:
        raise MeasurementFailed(f"{guest.kernel.name} {why}; give its System.map by --symbols")
    kernel_symbols.keep(guest.kernel.sha256, functions)
    return functions
