# SPDX-License-Identifier: BSD-2-Clause
"""Compiles the C sources this package carries, for the machine at hand, once per content."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from cyclometer.errors import MeasurementFailed, NotComparable, UsageError

CFLAGS = (
    "-Icore/include",
    "-iquote",
    "linux",
    "-std=c11",
    "-O2",
    "-g",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Werror",
    "-pthread",
)
# Still at a random address in every process, so that each visit draws a layout.
_STATIC = ("-static-pie",)
_STATIC_PARTS = ("rcrt1.o", "libc.a")
_PLACELESS = "-ffile-prefix-map={root}=."  # a program is the same wherever its sources lie
_COMPLAINT = re.compile(r"error:|undefined reference|multiple definition")
_UNFINISHED = "tmp"  # begins the names of folders
_IN_USE_S = 600  # from the use of a file of the cache to the end of what reads it
_PACKAGE = Path(__file__).resolve().parent.parent


def sources() -> Path:
    """The folder that holds core/ and linux/: inside an installed wheel, or the repository."""
    carried = _PACKAGE / "_sources"
    return carried if carried.is_dir() else _PACKAGE.parent.parent


def cache() -> Path:
    """Where compiled harnesses are kept, shared by all checkouts of a user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cyclometer"


def compiler() -> str:
    """The C compiler: $CC, else cc, gcc or clang. Raises NotComparable if there is none."""
    wanted = [os.environ["CC"]] if os.environ.get("CC") else ["cc", "gcc", "clang"]
    for name in wanted:
        if path := shutil.which(name):
            return path
    raise NotComparable(
        f"no C compiler found (looked for {', '.join(wanted)}); install gcc or clang"
    )


def compiler_for(machine: str, prefix: str) -> str | None:
    """The C compiler for a machine as `uname -m` says it, by the prefix that cross compilers have;
    None if there is none. Errors as `compiler`.
    """
    return compiler() if os.uname().machine == machine else shutil.which(f"{prefix}gcc")


def harness(
    extra_flags: Sequence[str] = (),
    cc: str | None = None,
    circles: Sequence[Path] = (),
    static: bool = False,
) -> Path:
    """The Linux harness, compiled if its sources, flags or compiler are new; for another machine by
    its compiler `cc`. `circles` are C files outside of the sources that define further circles, as
    linux/linux_circle.h describes; their warnings are not errors. `static` links it without
    shared libraries if the compiler has what that takes.

    Raises MeasurementFailed, and UsageError for a name in `circles` that is not a C file.
    """
    root, cc = sources(), cc or compiler()
    parts = [
        *root.glob("core/*.[cS]"),
        *root.glob("core/include/cyc/*.h"),
        *root.glob("linux/*.[ch]"),
        *root.glob("linux/circles/[a-z]*.[ch]"),  # not TEMPLATE.c
    ]
    parts.sort()
    flags = (*CFLAGS, *extra_flags, *(_STATIC if static and _links_statically(cc) else ()))
    folder = cache() / content(root, parts, (_version(cc), *flags, _PLACELESS))
    placeless = (*flags, _PLACELESS.format(root=root))
    units = [p.relative_to(root) for p in parts if p.suffix in (".c", ".S")]
    if circles:
        whole = _compiled(folder / "harness.o", cc, (*placeless, "-r", "-nostdlib"), units)
        return _with_circles(whole, cc, placeless, [_c_file(path) for path in circles])
    return _compiled(folder / "cyclometer-linux", cc, placeless, units)


def _links_statically(cc: str) -> bool:
    """Whether the compiler knows where all parts of a static program lie."""
    found = (
        subprocess.run(
            [cc, f"-print-file-name={part}"], capture_output=True, text=True, check=False
        ).stdout.strip()
        for part in _STATIC_PARTS
    )
    return all(os.path.isabs(path) and os.path.exists(path) for path in found)


def _compiled(target: Path, cc: str, flags: Sequence[str], units: Sequence[Path]) -> Path:
    with alone(target.parent):
        if not target.exists():
            compile_into(target, cc, flags, units, sources())
    return target


def _with_circles(whole: Path, cc: str, flags: Sequence[str], added: Sequence[Path]) -> Path:
    """The harness of the object file `whole` and the circles of the files `added`."""
    flags = [flag for flag in flags if flag != "-Werror"]
    flags += [f"-ffile-prefix-map={path.parent}/=" for path in added]  # named as they are called
    said = [path.name + _preprocessed(cc, flags, path) for path in added]
    target = whole.parent / content(whole.parent, [], said) / "cyclometer-linux"
    return _compiled(target, cc, flags, [whole, *added])


def _c_file(path: Path) -> Path:
    if path.suffix != ".c" or not path.is_file():
        raise UsageError(f"{path} is not a C file; circles are defined in files named *.c")
    return path.resolve()


def _preprocessed(cc: str, flags: Sequence[str], path: Path) -> str:
    """A file and all that it includes, wherever they lie. If the preprocessor fails, the compiler
    will report it.
    """
    command = [cc, "-E", "-P", *flags, str(path)]
    done = subprocess.run(command, capture_output=True, check=False, cwd=sources())
    return done.stdout.decode(errors="replace")


def compile_into(
    target: Path, cc: str, flags: Sequence[str], units: Sequence[Path], root: Path
) -> None:
    """Compiles `units`, named from the folder `root`, into `target`, which appears whole or not at
    all. For who is alone in its folder.
    """
    with unfinished(target.parent) as folder:
        draft = folder / target.name
        command = [cc, *flags, *map(str, units), "-o", str(draft.absolute())]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
        if done.returncode != 0:
            complaints = (line for line in done.stderr.splitlines() if _COMPLAINT.search(line))
            first = next(complaints, done.stderr[:200])
            raise MeasurementFailed(f"{cc} cannot build the harness: {first}")
        draft.rename(target)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Makes `folder` and keeps other processes that ask likewise out of it meanwhile: make does not
    share a folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the file is closed
        yield


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """A folder within `folder` for what is under way there, which goes at the end. For who is alone
    there: what killed processes left goes, too.
    """
    for left in folder.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left, ignore_errors=True)  # a compiler may have survived, and write
    with tempfile.TemporaryDirectory(dir=folder, prefix=_UNFINISHED) as name:
        yield Path(name)


def keep_newest(files: Iterable[Path], number: int) -> None:
    """Removes all of these files of a cache but those that were used last, so many of them, and
    those that a measurement may be about to read. Others may remove them meanwhile.
    """
    used_s: dict[Path, float] = {}
    for file in files:
        with suppress(FileNotFoundError):
            used_s[file] = file.stat().st_mtime
    newest = sorted(used_s, key=lambda file: used_s[file], reverse=True)
    for file in newest[number:]:
        if used_s[file] < time.time() - _IN_USE_S:
            file.unlink(missing_ok=True)


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0))


def content(root: Path, parts: Sequence[Path], words: Sequence[str]) -> str:
    """A name for what is compiled: a hash over `words` and the names and bytes of `parts`."""
    total = hashlib.sha256("\0".join(words).encode())
    for part in parts:
        total.update(part.relative_to(root).as_posix().encode() + b"\0" + part.read_bytes())
    return total.hexdigest()[:16]


def _version(cc: str) -> str:
    return subprocess.run([cc, "--version"], capture_output=True, text=True, check=False).stdout
