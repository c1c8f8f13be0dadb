# SPDX-License-Identifier: BSD-2-Clause
"""Kernel packages are found by an ordinary user, and are hostile until proven small: nothing in
them chooses a path.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclometer.errors import BadFile, CyclometerError, NotComparable, UsageError
from cyclometer.targets.qemu_linux import debian

NAME = "./boot/vmlinuz-6.1.0-1-cloud-amd64"


def tar(
    *entries: tuple[str, bytes], kind: bytes = tarfile.REGTYPE, form: int = tarfile.GNU_FORMAT
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size, info.type = (len(content) if kind == tarfile.REGTYPE else 0), kind
            info.linkname = "/etc/passwd" if kind != tarfile.REGTYPE else ""
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def read(data: bytes) -> dict[str, bytes]:
    return debian.boot_files(io.BytesIO(data))


def test_kernel_configuration_and_symbols_leave_a_package_and_nothing_else() -> None:
    # a name of GNU's long form
    module = ("./lib/modules/6.1.0-1/kernel/" + "long/" * 30 + "x.ko", b"m" * 5000)
    files = [
        ("./boot/System.map-6.1", b"s"),
        module,
        ("./boot/config-6.1", b"c" * 600),
        (NAME, b"k" * 1000),
    ]
    assert read(tar(*files)) == {"System.map": b"s", "config": b"c" * 600, "vmlinuz": b"k" * 1000}


@pytest.mark.parametrize(
    "name",
    [
        "./boot/../etc/vmlinuz-1",
        "/boot/vmlinuz-1",
        "./boot/vmlinuz-1/../../x",
        "../boot/vmlinuz-1",
        "./boot/a/config-1",
    ],
)
def test_a_name_that_leaves_the_folder_is_not_ours(name: str) -> None:
    assert read(tar((name, b"x"))) == {}


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_a_link_or_a_device_is_not_a_kernel(kind: bytes) -> None:
    assert read(tar((NAME, b""), kind=kind)) == {}


def test_a_second_kernel_is_refused() -> None:
    with pytest.raises(BadFile, match="twice"):
        read(tar((NAME, b"x"), ("./boot/vmlinuz-7", b"y")))


def header(name: str, size: bytes) -> bytes:
    block = bytearray(512)
    block[: len(name)] = name.encode()
    block[124:136] = size.ljust(12, b"\0")
    block[156:157] = b"0"
    return bytes(block)


def test_a_file_larger_than_any_kernel_is_refused_before_it_is_read() -> None:
    with pytest.raises(BadFile, match="larger than 128 MiB"):
        read(header(NAME, b"1000000001"))


class Endless(io.RawIOBase):
    """An archive of ever more files of 64 MiB that are none of ours; counts what is read of it."""

    def __init__(self) -> None:
        self.asked = 0

    def read(self, size: int = -1) -> bytes:
        self.asked += size
        return header("./usr/share/x", b"400000000") if size == 512 else bytes(size)


def test_a_bomb_is_left_before_it_is_unpacked() -> None:
    endless = Endless()
    with pytest.raises(BadFile, match="more than 2 GiB"):
        debian.boot_files(endless)  # type: ignore[arg-type]
    assert endless.asked <= debian.ARCHIVE_BYTES


@pytest.mark.parametrize("size", [b"12x", b"-7777777", b"\x80\0\0\0\0\0\0\0\xff\xff\xff\xff"])
def test_a_damaged_size_is_refused(size: bytes) -> None:
    with pytest.raises(BadFile, match="damaged"):
        read(header(NAME, size))


def test_an_archive_that_is_cut_off_is_refused() -> None:
    whole = tar((NAME, b"k" * 5000))
    with pytest.raises(BadFile, match="cut off"):
        read(whole[:3000])


@given(st.binary(max_size=3000))
def test_no_bytes_do_anything_but_yield_files_or_a_sentence(data: bytes) -> None:
    try:
        found = read(header("./boot/config-1", b"10") + data)
    except CyclometerError:
        return
    assert set(found) <= set(debian.FILE_BYTES)


@pytest.mark.parametrize(
    "name", [":a;b", ":-o=x", ":Linux", ":a b", ":", ":../x", "@a/b:c", "@:c", "@B:c", "@trixie"]
)
def test_a_word_that_is_no_package_name_never_reaches_apt(name: str) -> None:
    with pytest.raises(UsageError, match="names no package"):
        debian.fetch(f"debian{name}")


# A distribution of one made-up archive: what apt is asked is logged, what it says stands in files.
APT_GET = """#!/bin/sh
echo "apt-get $*" >> "$LOG"
case "$*" in
    *indextargets*) echo 'Debian http://mirror/debian/ here'
        echo 'Debian http://mirror/debian/ here-updates'
        echo 'Other http://elsewhere/ here' ;;
    *update*) ! cat "$XDG_CACHE_HOME"/cyclometer/apt-amd64*/sources.list | grep -q backports ||
        exit ${NO_BACKPORTS:-0} ;;
    *download*) for word; do asked=${word%%=*}; done
        held="$STATE/$asked.deb"; [ -e "$held" ] || held="$STATE/package.deb"
        cp "$held" "./${asked}_1_amd64.deb" ;;
esac
"""
APT_CACHE = """#!/bin/sh
echo "apt-cache $*" >> "$LOG"
case "$*" in
    *pkgnames*) cat "$STATE/names" ;;
    *show*) for word; do cat "$STATE/shown/$word" 2>/dev/null; done; true ;;
esac
"""


@pytest.fixture
def distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a distribution whose package.deb holds a kernel; `shown/` describes its
    versions.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {
        "apt-get": APT_GET,
        "apt-cache": APT_CACHE,
        "dpkg-deb": '#!/bin/sh\ncat "$2"\n',
    }.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    for name, value in {
        "LOG": tmp_path / "log",
        "STATE": tmp_path,
        "XDG_CACHE_HOME": tmp_path / "cache",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    (tmp_path / "package.deb").write_bytes(
        tar((NAME, b"kernel"), ("./boot/config-6.1", b"CONFIG_A=y\n"))
    )
    describe(
        tmp_path, {"linux-image-6.1.0-9-amd64": "6.1.9-1", "linux-image-6.1.0-10-amd64": "6.1.10-1"}
    )
    return tmp_path


def describe(folder: Path, versions: dict[str, str], depends: str = "kmod") -> None:
    (folder / "names").write_text("\n".join([*versions, "linux-image-6.1.0-11-amd64-dbg"]))
    (folder / "shown").mkdir(exist_ok=True)
    for name, version in versions.items():
        own = folder / f"{name}.deb"
        held = own if own.exists() else folder / "package.deb"
        digest = hashlib.sha256(held.read_bytes()).hexdigest()
        stanza = f"Package: {name}\nVersion: {version}\nDepends: {depends}\nSHA256: {digest}\n\n"
        (folder / "shown" / name).write_text(stanza)


def calls(folder: Path, word: str) -> list[str]:
    return [line for line in (folder / "log").read_text().splitlines() if word in line]


def test_the_newest_version_is_fetched_once(distribution: Path) -> None:
    package, files = debian.fetch("debian:linux-image-6.1.0-*-amd64")
    assert (package.name, package.version) == ("linux-image-6.1.0-10-amd64", "6.1.10-1")
    assert files["vmlinuz"].read_bytes() == b"kernel"
    assert files["config"].read_bytes() == b"CONFIG_A=y\n"
    debian.fetch("debian:linux-image-6.1.0-*-amd64")
    assert len(calls(distribution, " update")) == len(calls(distribution, " download")) == 1


def test_two_that_need_a_package_at_once_fetch_it_once(distribution: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(debian.fetch, ["debian:linux-image-6.1.0-*-amd64"] * 4)
        assert len({str(files["vmlinuz"]) for _, files in found}) == 1
    assert len(calls(distribution, " update")) == len(calls(distribution, " download")) == 1


def test_the_distributions_own_archives_are_used_with_backports_where_there_are_any(
    distribution: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = distribution / "cache/cyclometer/apt-amd64/sources.list"
    debian.fetch("debian:linux-image-6.1.0-*-amd64")
    assert [line.split()[-2] for line in sources.read_text().splitlines()] == [
        "here",
        "here-backports",
        "here-updates",
    ]
    assert "elsewhere" not in sources.read_text()
    (sources.parent / "updated").unlink()
    monkeypatch.setenv("NO_BACKPORTS", "1")
    debian.fetch("debian:linux-image-6.1.0-*-amd64")
    assert "backports" not in sources.read_text()


def test_another_release_has_lists_of_its_own_and_suites_of_its_name(
    distribution: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_BACKPORTS", "1")
    debian.fetch("debian@next:linux-image-6.1.0-*-amd64")
    sources = distribution / "cache/cyclometer/apt-amd64-next/sources.list"
    assert [line.split()[-2] for line in sources.read_text().splitlines()] == [
        "next",
        "next-updates",
    ]
    with pytest.raises(UsageError, match="release next of the distribution has no package"):
        debian.fetch("debian@next:linux-image-7-amd64")


def test_a_package_that_only_points_is_followed(distribution: Path) -> None:
    versions = {"linux-image-cloud-amd64": "6.1.10-1", "linux-image-6.1.0-10-amd64": "6.1.10-1"}
    describe(distribution, versions, "linux-image-6.1.0-10-amd64 (= 6.1.10-1)")
    package, _ = debian.fetch("debian:linux-image-cloud-amd64")
    assert package.name == "linux-image-6.1.0-10-amd64"


def test_a_package_whose_parts_hold_the_kernel_is_put_together(distribution: Path) -> None:
    image, binary, base = (
        f"linux-{part}-7.3.4-cloud-amd64" for part in ("image", "binary", "base")
    )
    folder = "./usr/lib/modules/7.3.4-cloud-amd64"
    for name, file in (
        (image, "./usr/x"),
        (binary, f"{folder}/vmlinuz"),
        (base, f"{folder}/config"),
    ):
        (distribution / f"{name}.deb").write_bytes(tar((file, name.encode())))
    describe(
        distribution,
        dict.fromkeys((image, binary, base), "7.3.4-1"),
        f"initramfs-tools (>= 1), {base} (= 7.3.4-1), {binary} (= 7.3.4-1)",
    )
    package, files = debian.fetch("debian:linux-image-7*-amd64")
    assert package.name == image
    assert {name: path.read_text() for name, path in files.items()} == {
        "vmlinuz": binary,
        "config": base,
    }


def test_a_file_with_another_hash_is_refused_and_leaves_nothing(distribution: Path) -> None:
    (distribution / "package.deb").write_bytes(tar((NAME, b"another")))
    with pytest.raises(BadFile, match="not the file that the signed index describes"):
        debian.fetch("debian:linux-image-6.1.0-10-amd64")
    assert list((distribution / "cache/cyclometer/kernels").iterdir()) == []


def test_a_package_without_a_kernel_and_a_name_without_a_package_are_said(
    distribution: Path,
) -> None:
    with pytest.raises(UsageError, match="no package linux-image-7"):
        debian.fetch("debian:linux-image-7-amd64")
    (distribution / "package.deb").write_bytes(tar(("./usr/x", b"")))
    describe(distribution, {"linux-image-6.1.0-10-amd64": "6.1.10-1"})
    with pytest.raises(BadFile, match="holds no kernel"):
        debian.fetch("debian:linux-image-6.1.0-10-amd64")


def test_a_machine_without_apt_is_told_to_name_an_image(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotComparable, match="name a kernel image by its path"):
        debian.fetch("debian:linux-image-6.1.0-10-amd64")
