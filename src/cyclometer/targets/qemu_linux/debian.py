# SPDX-License-Identifier: BSD-2-Clause
"""Kernel packages of the Debian this runs on: found, fetched, verified, unpacked by an ordinary
user, never installed.

The distribution's client does the fetching, with lists and downloads in folders of ours: it checks
the signature of the index and the hash of the package. The package itself is hostile input all the
same: only the kernel, its configuration and its symbols leave it, under names of ours and with
sizes bounded.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cyclometer.errors import BadFile, NotComparable, UsageError
from cyclometer.targets import build

PREFIX = "debian"
FILE_BYTES = {"vmlinuz": 128 << 20, "config": 4 << 20, "System.map": 64 << 20}
"""What leaves a package, and how large it may be."""
ARCHIVE_BYTES = 2 << 30
"""How far an archive is read before it counts as a bomb."""
_NAME = re.compile(r"(?:@([a-z]+))?:([a-z0-9][a-z0-9+.*?\[\]-]*)")
_VERSION = "[A-Za-z0-9+.~_-]+"
_BOOT_FILE = re.compile(
    rf"(?:\./)?(?:boot/(vmlinuz|vmlinux|config|System\.map)-{_VERSION}"
    # from 7.0 on
    rf"|usr/lib/modules/{_VERSION}/(vmlinuz|vmlinux|config|System\.map))"
)
# packages that hold the files of one that only depends on them, as Debian's do from 7.0 on
_PARTS = re.compile(r"\blinux-(?:binary|base)-[^\s,|]*\d[^\s,|]*")
_REAL = re.compile(r"linux-image-[^\s,|]*\d[^\s,|]*")
_DISTRIBUTIONS = ("Debian", "Ubuntu")
_KEYRINGS = [f"/usr/share/keyrings/{name.lower()}-archive-keyring.gpg" for name in _DISTRIBUTIONS]
_FRESH_S = 24 * 3600
_BLOCK = 512
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Package:
    """One version of a package, as the signed index describes it."""

    name: str
    version: str
    architecture: str
    sha256: str
    depends: str


def is_package(name: str) -> bool:
    """Whether a kernel's name is one of a package, and not a path."""
    return name.startswith((f"{PREFIX}:", f"{PREFIX}@"))


def fetch(name: str) -> tuple[Package, dict[str, Path]]:
    """The newest kernel package that `debian:PATTERN` matches, or `debian@RELEASE:PATTERN` in
    another release of the distribution; and its files by the names in FILE_BYTES, out of the cache.

    Raises UsageError for a pattern that matches nothing, NotComparable if this machine cannot
    fetch packages, BadFile for a package that is not what the index says or holds no kernel.
    """
    match = _NAME.fullmatch(name.removeprefix(PREFIX))
    if not match:
        raise UsageError(
            f"{name} names no package; write {PREFIX}:linux-image-6.1.0-*-cloud-amd64, or "
            f"{PREFIX}@trixie:linux-image-6.12*-riscv64"
        )
    release, pattern = match.groups()
    archive = _Archive(_architecture(pattern), release)
    with build.alone(archive.home):  # apt shares its lists with nobody
        package = archive.newest(pattern)
        if not _installed_name(package.name) and (real := _REAL.search(package.depends)):
            package = archive.newest(real[0])  # a package that only depends on the current kernel
        folder = build.cache() / "kernels" / f"{package.name}-{package.sha256[:16]}"
        if not folder.is_dir():
            _unpack_into(folder, archive, package)
    return package, {name: folder / name for name in FILE_BYTES if (folder / name).exists()}


def boot_files(tar: IO[bytes]) -> dict[str, bytes]:
    """The files of FILE_BYTES in a package's tar stream. Nothing in it names a place of ours.

    Raises BadFile for a stream that is cut off, too long, or holds one of them twice or too large.
    """
    found: dict[str, bytes] = {}
    read = 0
    while header := _header(tar):
        name, size, regular = header
        read += _BLOCK + size
        if read > ARCHIVE_BYTES:
            raise BadFile(
                f"the package unpacks to more than {ARCHIVE_BYTES >> 30} GiB; it is not a kernel "
                "package"
            )
        match = _BOOT_FILE.fullmatch(name) if regular else None
        if match is None:
            _skip(tar, size)
            continue
        kind = match[1] or match[2]
        kind = "vmlinuz" if kind == "vmlinux" else kind
        if kind in found or size > FILE_BYTES[kind]:
            raise BadFile(
                f"the package holds {name} twice or larger than {FILE_BYTES[kind] >> 20} MiB; not "
                "used"
            )
        found[kind] = _exactly(tar, size)
        _skip(tar, -size % _BLOCK, padded=False)
    return found


def _header(tar: IO[bytes]) -> tuple[str, int, bool] | None:
    """Name, size and whether it is a regular file, of the next entry (POSIX.1-1988 ustar); None at
    the end.
    """
    block = tar.read(_BLOCK)
    if len(block) < _BLOCK or block == bytes(_BLOCK):
        return None
    try:
        size = int(block[124:136].strip(b" \0") or b"0", 8)
    except ValueError as error:
        raise BadFile(
            "the package's archive is damaged (an entry without a size); fetch it again"
        ) from error
    if size < 0:
        raise BadFile(
            "the package's archive is damaged (an entry of negative size); fetch it again"
        )
    name = block[:100].split(b"\0", 1)[0].decode("utf-8", "replace")
    return name, size, block[156:157] in (b"0", b"\0")


def _skip(tar: IO[bytes], size: int, padded: bool = True) -> None:
    left = size + (-size % _BLOCK if padded else 0)
    while left > 0:
        left -= len(_exactly(tar, min(left, _CHUNK)))


def _exactly(tar: IO[bytes], size: int) -> bytes:
    data = tar.read(size)
    if len(data) < size:
        raise BadFile("the package's archive is cut off; fetch it again")
    return data


def _architecture(pattern: str) -> str:
    """By the end of the name, as kernels bear it."""
    return next((a for a in ("arm64", "riscv64") if pattern.endswith(f"-{a}")), "amd64")


def _installed_name(name: str) -> bool:
    """Whether a package is a kernel and not only a pointer to the current one: those bear a whole
    version.
    """
    return re.search(r"-\d+\.\d+\.\d+", name) is not None


def _unpack_into(folder: Path, archive: _Archive, package: Package) -> None:
    """Downloads, checks and unpacks a package; the folder appears whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with build.unfinished(archive.home) as draft:
        files = _unpacked(archive.download(package, draft))
        if "vmlinuz" not in files:
            for part in map(archive.newest, _PARTS.findall(package.depends)):
                files |= _unpacked(archive.download(part, draft))
        if "vmlinuz" not in files:
            raise BadFile(f"{package.name} {package.version} holds no kernel; name another package")
        made = draft / "files"
        made.mkdir()
        for name, content in files.items():
            (made / name).write_bytes(content)
        if not folder.is_dir():
            made.rename(folder)


def _unpacked(file: Path) -> dict[str, bytes]:
    command = ["dpkg-deb", "--fsys-tarfile", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            return boot_files(process.stdout)
        finally:
            process.kill()


class _Archive:
    """The packages of one release of the distribution, of this machine's where `release` is None,
    for one architecture, through its client, in state of ours.
    """

    def __init__(self, architecture: str, release: str | None):
        for program in ("apt-get", "apt-cache", "dpkg", "dpkg-deb"):
            if not shutil.which(program):
                raise NotComparable(
                    f"{PREFIX}:PACKAGE needs {program}; name a kernel image by its path instead"
                )
        self.architecture, self._release = architecture, release
        self.home = build.cache() / "-".join(filter(None, ("apt", architecture, release)))
        self._updated = self.home / "updated"

    def newest(self, pattern: str) -> Package:
        """The package with the newest version among the matching names. Raises UsageError if
        there is none.
        """
        if not self._updated.exists() or time.time() - self._updated.stat().st_mtime > _FRESH_S:
            self._update()
        stem = re.split(r"[*?\[]", pattern)[0]
        names = self._run("apt-cache", "pkgnames", stem).split()
        wanted = [
            n
            for n in names
            if fnmatch.fnmatchcase(n, pattern) and not n.endswith(("-dbg", "-unsigned"))
        ]
        found = self._described(wanted) if wanted else []
        if not found:
            where = f"release {self._release} of the distribution" * bool(self._release)
            raise UsageError(
                f"{where or 'the distribution'} has no package {pattern} for {self.architecture}; "
                f"check the name, or name a release that has it, as {PREFIX}@trixie:{pattern}"
            )
        newest = found[0]
        for one in found[1:]:
            if _later(one, newest):
                newest = one
        return newest

    def download(self, package: Package, folder: Path) -> Path:
        """The package's file, whose hash is the index's. Raises BadFile if it is not."""
        self._run("apt-get", "download", f"{package.name}={package.version}", cwd=folder)
        files = list(folder.glob(f"{package.name}_*.deb"))
        if len(files) != 1:
            raise NotComparable(
                f"apt-get did not download {package.name}; try `apt-get download {package.name}`"
            )
        with files[0].open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != package.sha256:
                raise BadFile(
                    f"{package.name} is not the file that the signed index describes; not used"
                )
        return files[0]

    def _described(self, names: list[str]) -> list[Package]:
        """What the index says of these packages; those that it gives no hash are left out."""
        found = []
        for stanza in self._run("apt-cache", "show", "--no-all-versions", *names).split("\n\n"):
            f = dict(re.findall(r"^(Package|Version|SHA256|Depends): (.*)$", stanza, re.M))
            if "Version" in f and re.fullmatch(r"[0-9a-f]{64}", f.get("SHA256", "")):
                depends = f.get("Depends", "")
                found.append(
                    Package(f["Package"], f["Version"], self.architecture, f["SHA256"], depends)
                )
        return found

    def _update(self) -> None:
        """Fetches the index; with the distribution's backports where it has them, and without its
        updates where a mirror has them only in part. An old index is better than none.
        """
        for folder in ("state/lists/partial", "cache/archives/partial"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        (self.home / "status").touch()
        (self.home / "apt.conf").write_text(self._configuration(), encoding="utf-8")
        last = ""
        archives = _archives(self._release)
        released = {(uri, suite) for uri, suite in archives if "-" not in suite}
        backports = {(uri, f"{suite}-backports") for uri, suite in released}
        for wanted in (archives | backports, archives, released):
            lines = "".join(f"{line}\n" for line in _sources(wanted))
            (self.home / "sources.list").write_text(lines, encoding="utf-8")
            try:
                self._run("apt-get", "update")
            except NotComparable as error:
                last = str(error)
            else:
                self._updated.touch()
                return
        if not self._updated.exists():
            raise NotComparable(last)

    def _configuration(self) -> str:
        """Everything that apt writes or reads of its own is in our folder; proxies and the like
        stay the machine's.
        """
        settings = {
            "Dir::State": self.home / "state",
            "Dir::State::status": self.home / "status",
            "Dir::Cache": self.home / "cache",
            "Dir::Cache::pkgcache": "pkgcache.bin",
            "Dir::Etc::sourcelist": self.home / "sources.list",
            "Dir::Etc::sourceparts": "/dev/null",
            "APT::Architecture": self.architecture,
            "Acquire::Languages": "none",
        }
        cleared = (
            "APT::Architectures",
            "APT::Update::Post-Invoke",
            "APT::Update::Post-Invoke-Success",
            "Acquire::IndexTargets::deb::DEP-11",
            "Acquire::IndexTargets::deb::CNF",
        )
        return "".join(
            [f"#clear {name};\n" for name in cleared]
            + [f'{n} "{v}";\n' for n, v in settings.items()]
        )

    def _run(self, program: str, *arguments: str, cwd: Path | None = None) -> str:
        command = [program, "-q", "-c", str(self.home / "apt.conf"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.startswith("E:")] or [
                "it said nothing"
            ]
            raise NotComparable(
                f"{program} {arguments[0]} failed ({said[-1]}); check the network and the apt "
                "sources"
            )
        return done.stdout


def _archives(release: str | None) -> set[tuple[str, str]]:
    """Address and suite of what this machine's apt is set up to use of its distribution, mirrors
    respected; the suites are those of `release` where it is given.
    """
    done = subprocess.run(
        [
            "apt-get",
            "indextargets",
            "--format",
            "$(ORIGIN) $(REPO_URI) $(RELEASE)",
            "Created-By: Packages",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    fields = [line.split() for line in done.stdout.splitlines()]
    seen = {(f[1], f[2]) for f in fields if len(f) == 3 and _is_distribution(f[0], f[1])}
    if not seen:
        raise NotComparable(
            "apt knows no archive of the distribution here; name a kernel image by its path instead"
        )
    if release is None:
        return seen
    return {(uri, re.sub(r"^[^-]+", release, suite)) for uri, suite in seen}


def _sources(archives: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The main sections of these archives as lines of a sources.list."""
    key = next((f"[signed-by={keyring}] " for keyring in _KEYRINGS if Path(keyring).exists()), "")
    return (f"deb {key}{uri} {suite} main" for uri, suite in sorted(archives))


def _is_distribution(origin: str, uri: str) -> bool:
    """Whether an archive is the distribution's own: it says so itself, or, before its first update,
    by its path.
    """
    known = not origin.startswith("$")
    return (
        origin in _DISTRIBUTIONS
        if known
        else re.search(r"/(debian|ubuntu)(-security)?/?$", uri) is not None
    )


def _later(one: Package, other: Package) -> bool:
    command = ["dpkg", "--compare-versions", one.version, "gt", other.version]
    return subprocess.run(command, check=False).returncode == 0
