# SPDX-License-Identifier: BSD-2-Clause
"""Every test of a store has a cache of its own, and a real S3 server where one is installed."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fsspec", reason="fsspec is not installed; run `make setup-all`")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _server() -> str | None:
    beside = Path(sys.executable).with_name("versitygw")
    return str(beside) if beside.exists() else shutil.which("versitygw")


@pytest.fixture(scope="session")
def _s3_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A versitygw, which serves the S3 protocol out of a folder, on loopback."""
    server = _server()
    if server is None:
        pytest.skip("versitygw is not installed; `make setup-all` builds it where Go is")
    pytest.importorskip("s3fs", reason="s3fs is not installed; run `make setup-all`")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    data = tmp_path_factory.mktemp("s3")
    keys = {"ROOT_ACCESS_KEY": "tester", "ROOT_SECRET_KEY": "secret-tester"}
    process = subprocess.Popen(
        [server, "--port", f"127.0.0.1:{port}", "posix", "--nometa", str(data)],
        env=os.environ | keys,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"the S3 server did not answer (exit code {process.poll()})")


@pytest.fixture
def s3(_s3_port: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a new bucket."""
    import s3fs

    for name, value in {
        "AWS_ACCESS_KEY_ID": "tester",
        "AWS_SECRET_ACCESS_KEY": "secret-tester",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{_s3_port}",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    bucket = f"b{secrets.token_hex(6)}"
    s3fs.S3FileSystem(endpoint_url=f"http://127.0.0.1:{_s3_port}").mkdir(f"/{bucket}")
    return f"s3://{bucket}/latency"
