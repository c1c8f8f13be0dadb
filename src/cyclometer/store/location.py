# SPDX-License-Identifier: BSD-2-Clause
"""Where a store lies: a directory, or a URL of anything that fsspec reaches, as s3://bucket/name."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cyclometer.errors import BadFile, MeasurementFailed, NotComparable

_CLIENTS = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs"}
_LOCAL = ("file", "local")
_TEMPORARY = ".part-"


class Location:
    """The files of a store, by their names relative to its root. `fs` is a file system of fsspec.

    Every operation that the other end refuses raises MeasurementFailed with what it said.
    """

    def __init__(self, url: str) -> None:
        """Raises NotComparable if a package is missing, BadFile for a URL that nothing reads."""
        self.url = url
        try:
            import fsspec
        except ImportError as error:
            raise NotComparable(
                "stores need fsspec; install it with `pip install 'cyclometer[store]'`"
            ) from error
        try:
            self.fs, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
        except ImportError as error:
            scheme = url.partition("://")[0]
            package = _CLIENTS.get(scheme, "its client")
            raise NotComparable(
                f"{scheme}:// needs {package}; install it with `pip install {package}`"
            ) from error
        except ValueError as error:
            raise BadFile(
                f"{url!r} names no store ({error}); write a folder or s3://..."
            ) from error
        self._root = str(root).rstrip("/")
        protocol = self.fs.protocol
        spoken = {protocol} if isinstance(protocol, str) else set(protocol)
        self.is_local = not spoken.isdisjoint(_LOCAL)

    def local(self, name: str) -> Path:
        """The path of a file; only where `is_local`."""
        return Path(self._root, name)

    def write(self, name: str, content: bytes) -> None:
        """Writes a file that appears whole or not at all; one of that name is replaced.

        Object stores do so by themselves. Two writers of one name leave the content of one.
        """
        path = self._path(name)
        with self._refusal():
            if not self.is_local:
                self.fs.pipe_file(path, content)
                return
            self.fs.makedirs(os.path.dirname(path), exist_ok=True)
            temporary = f"{os.path.dirname(path)}/{_TEMPORARY}{secrets.token_hex(8)}"
            try:
                with open(temporary, "wb") as stream:
                    stream.write(content)
                    stream.flush()
                    os.fsync(stream.fileno())  # or a crash may keep the name and lose the bytes
                os.replace(temporary, path)
            finally:
                if os.path.exists(temporary):
                    os.unlink(temporary)

    def read(self, name: str) -> bytes:
        """The content of a file. Raises FileNotFoundError if there is none."""
        with self._refusal():
            content: bytes = self.fs.cat_file(self._path(name))
            return content

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """The contents of many files by name, fetched many at a time where the other end can."""
        paths = {self._path(name): name for name in names}
        if not paths:
            return {}
        with self._refusal():
            found: dict[str, bytes] = self.fs.cat(list(paths), on_error="raise", recursive=False)
            if isinstance(found, bytes):
                found = {next(iter(paths)): found}
            return {paths[path]: content for path, content in found.items()}

    def exists(self, name: str) -> bool:
        with self._refusal():
            return bool(self.fs.exists(self._path(name)))

    def names(self, folder: str) -> list[str]:
        """Every file below a folder, by its name relative to the root, in alphabetical order."""
        return [name for name, _ in self.listing(folder)]

    def listing(self, folder: str) -> list[tuple[str, dict[str, Any]]]:
        """(name, what fsspec knows of it) of every finished file below a folder, sorted."""
        return [
            (name, facts)
            for name, facts in self.everything(folder)
            if not name.rpartition("/")[2].startswith(_TEMPORARY)
        ]

    def everything(self, folder: str) -> list[tuple[str, dict[str, Any]]]:
        """As `listing`, with what broken writers left behind."""
        with self._refusal():
            if not self.is_local:
                found = self.fs.find(self._path(folder), detail=True)
                skip = len(self._root) + 1
                return sorted((path[skip:], facts) for path, facts in found.items())
        return sorted((name, {}) for name in _walk(self.local(""), self.local(folder)))

    def remove(self, name: str) -> None:
        """Removes a file; one that is gone already is as well."""
        with self._refusal():
            try:
                self.fs.rm_file(self._path(name))
            except FileNotFoundError:
                return

    def modified_s(self, name: str) -> float:
        """When a file was written, in seconds since 1970. Raises FileNotFoundError."""
        with self._refusal():
            return float(self.fs.modified(self._path(name)).timestamp())

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _refusal(self) -> _Refusal:
        return _Refusal(self.url)


class _Refusal:
    """Turns what a client raises into one sentence; a missing file stays FileNotFoundError."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if (
            error is None
            or isinstance(error, FileNotFoundError)
            or not isinstance(error, Exception)
        ):
            return
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MeasurementFailed(
            f"the store {self._url} refused ({reason}); check its address, your credentials and "
            "its free space, and try again"
        ) from error


def _walk(root: Path, folder: Path) -> Iterable[str]:
    """Files below a local folder, relative to the root; links are not followed."""
    skip = len(str(root)) + 1
    for where, _, files in os.walk(folder):
        yield from (f"{where}/{file}"[skip:] for file in files)
