# SPDX-License-Identifier: BSD-2-Clause
"""The archive a kernel unpacks as its first root: cpio, form `newc` (Linux Documentation, initramfs
buffer format).
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

_ALIGN = 4
_CONSOLE = (5, 1)  # major and minor of /dev/console, which the kernel opens for its first process


@dataclass(frozen=True)
class _Entry:
    name: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def archive(
    program: bytes, files: Mapping[str, bytes], programs: Mapping[str, bytes] | None = None
) -> bytes:
    """An archive with `program` as /init, a console, and `files` (name in the root -> content).

    `programs` (path in the root -> content) may be executed; their folders are made.

    Times are zero and inode numbers run on, so that equal contents are equal bytes.
    """
    entries = [
        _Entry("dev", stat.S_IFDIR | 0o755),
        _Entry("dev/console", stat.S_IFCHR | 0o600, device=_CONSOLE),
        _Entry("init", stat.S_IFREG | 0o755, program),
        *(_Entry(name, stat.S_IFREG | 0o644, data) for name, data in files.items()),
        *(_Entry(name, stat.S_IFDIR | 0o755) for name in _folders(programs or {})),
        *(_Entry(name, stat.S_IFREG | 0o755, data) for name, data in (programs or {}).items()),
    ]
    written = [_written(entry, number) for number, entry in enumerate(entries, 1)]
    return b"".join(written) + _written(_Entry("TRAILER!!!", 0), 0)


def _folders(paths: Iterable[str]) -> list[str]:
    """Every folder above the paths, each before what is in it."""
    return sorted({str(above) for path in paths for above in PurePosixPath(path).parents} - {"."})


def _written(entry: _Entry, inode: int) -> bytes:
    name = entry.name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    # ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
    fields = (inode, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, *entry.device, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return _padded(head) + _padded(entry.data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGN)
