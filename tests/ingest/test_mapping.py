# SPDX-License-Identifier: BSD-2-Clause
"""`ingest --map`: files that no format knows, read as a mapping says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cyclometer.bundle.model import Bundle
from cyclometer.cli import cli
from cyclometer.errors import BadFile
from cyclometer.estimate.rows import estimates
from cyclometer.ingest import ingest, mapping

CSV = "case,bytes,took,attempt\nsend,8,1.5,a\nsend,8,1.7,a\nsend,8,1.6,b\nsend,64,n/a,b\n"
OF_CSV = 'key = "case"\nvalue = "took"\nunit = "us"\nrun = "attempt"\n[params]\nsize = "bytes"\n'


def mapped(tmp_path: Path, name: str, text: str, said: str) -> Bundle:
    (tmp_path / name).write_text(text)
    (tmp_path / "map.toml").write_text(said)
    return ingest([tmp_path / name], mapped=mapping.read(tmp_path / "map.toml"))[0]


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_columns_become_rows_runs_and_parameters(tmp_path: Path, mark: str) -> None:
    found = mapped(tmp_path, "x.csv", CSV.replace(",", mark), OF_CSV)
    (row,) = found.identity.rows
    assert (row.contract.params, row.clock.unit) == ({"size": "8"}, "ns")
    assert found.samples.value.tolist() == pytest.approx([1500.0, 1700.0, 1600.0])
    assert found.samples.run.tolist() == [0, 0, 1]
    (problem,) = found.identity.problems
    assert (problem.kind, problem.where) == ("unread", "x.csv line 5")


JSON = """{"suite": {"one": {"name": "a.b", "times": [3, 4, 5], "unit": "ns", "tag": {"os": "x"}},
"two": {"name": "c", "times": [2e-3], "unit": "ms", "tag": {"os": "y"}}}}"""
OF_JSON = """rows = "suite.*"
key = "name"
value = "times"
unit_column = "unit"
[config]
system = "tag.os"
"""


def test_paths_reach_into_json(tmp_path: Path) -> None:
    found = mapped(tmp_path, "x.json", JSON, OF_JSON)
    report = {r.contract.key: r.configuration for r in found.identity.rows}
    assert report == {"a.b": {"system": "x"}, "c": {"system": "y"}}
    assert found.samples.value.tolist() == [3.0, 4.0, 5.0]
    assert [s.mean for s in found.identity.summaries] == [2000.0]


def test_lines_of_json_are_runs_without_a_column_for_them(tmp_path: Path) -> None:
    lines = "".join(f'{{"id": ["x", "k"], "v": {v}}}\n' for v in (10, 12, 11))
    said = 'key = "id.1"\nvalue = "v"\nunit = "ops/s"\nbetter = "higher"\n'
    (e,) = estimates(mapped(tmp_path, "x.jsonl", lines, said))
    assert (e.contract.key, e.better, len(e.runs)) == ("k", "higher", 3)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("key = ", "is not a mapping"),
        ('value = "took"\nunit = "us"', "missing required field `key`"),
        ('key = "a"\nvalue = "b"\nunits = "us"', "unknown field `units`"),
        ('key = "a"\nvalue = "b"', "needs one of"),
        ('key = "a"\nvalue = "b"\nunit = "us"\nunit_column = "u"', "needs one of"),
        ('key = "no"\nvalue = "such"\nunit = "us"', "holds no result"),
        ("x = 1\n" * 20_000, "more than 65536 bytes"),
    ],
)
def test_what_is_no_mapping_is_one_sentence(tmp_path: Path, said: str, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        mapped(tmp_path, "x.csv", CSV, said)


def test_the_command_takes_a_mapping_or_a_format(tmp_path: Path) -> None:
    mapped(tmp_path, "x.csv", CSV, OF_CSV)
    words = ["ingest", str(tmp_path / "x.csv"), "--map", str(tmp_path / "map.toml")]
    done = CliRunner().invoke(cli, [*words, "-o", str(tmp_path / "out")], catch_exceptions=False)
    assert done.output.startswith("1 file(s) of mapping: 1 rows, 2 run(s)")
    both = CliRunner().invoke(cli, [*words, "--format", "table"])
    assert "give one of them" in str(both.exception)
