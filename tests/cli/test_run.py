# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer run` before it measures, and after."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cyclometer.bundle import store
from cyclometer.cli import cli
from cyclometer.cli.run import _finish, _product
from cyclometer.errors import BadFile, MeasurementFailed
from cyclometer.targets import registry
from cyclometer.targets.common import Measured, Request
from tests.report import sample_bundles


@pytest.mark.parametrize("matrix", [(), ("--matrix", "mcs=off,on")])
def test_an_existing_bundle_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, matrix: tuple[str, ...]
) -> None:
    taken = tmp_path / "bundle" / "mcs-on" if matrix else tmp_path / "bundle"
    taken.mkdir(parents=True)
    monkeypatch.setattr(registry, "target", lambda name: pytest.fail(f"{name} was asked to measure"))
    with pytest.raises(BadFile, match="exists already"):
        CliRunner().invoke(cli, ["run", *matrix, "-o", str(tmp_path / "bundle")], catch_exceptions=False)
    assert list(taken.iterdir()) == []


def test_no_combination_of_a_matrix_takes_anothers_folder(tmp_path: Path) -> None:
    ends = "x" * 200
    words = f"kernel=/one/{ends},/two/{ends},a-5,a,a"
    found = _product(Request(), (words,), tmp_path)
    assert [request.config["kernel"] for request, _ in found] == words.removeprefix("kernel=").split(",")
    assert len({path for _, path in found}) == len(found) == 5


def test_a_measurement_outlives_a_trace_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MeasurementFailed("the log is too long")

    monkeypatch.setattr(registry, "target", lambda _: SimpleNamespace(name="made-up", trace=fail))
    bundle = sample_bundles.typical()
    code = _finish(
        Measured(bundle, {}), Request(), tmp_path / "kept", "made-up", as_json=True, kbench=False, trace=True
    )
    assert code == 5
    assert store.read(tmp_path / "kept").identity.rows == bundle.identity.rows
