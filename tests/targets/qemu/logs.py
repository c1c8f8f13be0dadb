# SPDX-License-Identifier: BSD-2-Clause
"""What QEMU writes at a block of x86-64, as 7.2 does."""

from __future__ import annotations

_SEGMENTS = "".join(
    f"{name:3}=0000 0000000000000000 00000000 00000000\n"
    for name in ("ES", "CS", "SS", "DS", "FS", "GS", "LDT", "TR")
)


def x86_block(
    pc: int, flags: str, translation: str, stack: int = 0x1000, root: int = 0x5552000
) -> str:
    zero = f"{0:016x}"
    return (
        f"Trace 0: 0x7f109d600100 [{zero}/{pc:016x}/{flags}/{translation}] f\n"
        f"RAX={zero} RBX={zero} RCX={zero} RDX={zero}\n"
        f"RSI={zero} RDI={zero} RBP={zero} RSP={stack:016x}\n"
        f"R8 ={zero} R9 ={zero} R10={zero} R11={zero}\n"
        f"R12={zero} R13={zero} R14={zero} R15={zero}\n"
        f"RIP={pc:016x} RFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=0\n"
        f"{_SEGMENTS}GDT=     {zero} 0000007f\nIDT=     {zero} 00000fff\n"
        f"CR0=80050033 CR2={zero} CR3={root:016x} CR4=00350ef0\n"
        f"DR6=00000000ffff0ff0 DR7={zero}\nEFER={zero}\n"
    )
