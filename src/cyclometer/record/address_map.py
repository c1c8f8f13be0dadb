# SPDX-License-Identifier: BSD-2-Clause
"""What is at an address of the images that a machine executes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """One instruction of an image. `starts` where its function begins; `file` is relative to the
    sources.
    """

    function: str
    text: str = ""
    file: str = ""
    line: int = 0
    starts: bool = False
    insn: int = 0
    inlined: str = ""  # the call that the function has inline here, `name (file:line)`


@dataclass(frozen=True)
class AddressMap:
    """What stands where, for programs and for the kernel, whose addresses may be the same."""

    kernel: Mapping[int, Place]
    user: Mapping[int, Place]

    def at(self, pc: int, user: bool) -> Place:
        """The place of an instruction; without a symbol it is named by its page."""
        found = (self.user if user else self.kernel).get(pc)
        return found or Place(f"[no symbol, {pc & ~0xFFF:#x}]")

    def addresses(self, insn: int) -> list[int]:
        """The addresses of an instruction's encoding in either image, in ascending order."""
        return sorted(
            {
                pc
                for image in (self.kernel, self.user)
                for pc, place in image.items()
                if place.insn == insn
            }
        )
