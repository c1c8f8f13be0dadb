# SPDX-License-Identifier: BSD-2-Clause
"""Streams of several runs become one bundle, whatever was damaged on the way."""

from __future__ import annotations

from cyclometer.bundle.assemble import Assembler
from cyclometer.bundle.model import MISSING, Bundle, tag_bit
from cyclometer.record.decode import Decoder
from tests.streams import CONTRACT, circle, end, group, hello, line, stream


def assemble(*runs: bytes) -> Bundle:
    assembler = Assembler("linux", {"cpus": 2})
    for number, data in enumerate(runs, 1):
        decoder = Decoder()
        assembler.add(number, decoder.feed(data) + decoder.finish())
        assembler.add_damage(number, decoder.damage)
    return assembler.bundle()


def test_runs_share_a_row_and_keep_arrival_order() -> None:
    bundle = assemble(b"".join(stream()), b"".join([line(hello(run=2)), *stream()[1:]]))
    assert len(bundle.identity.rows) == 1
    assert bundle.samples.value.tolist() == [100, 101, 102, 200, 201, 202] * 2
    assert bundle.samples.run.tolist() == [1] * 6 + [2] * 6
    assert bundle.samples.turns.tolist() == [10] * 3 + [20] * 3 + [10] * 3 + [20] * 3


def test_a_broken_contract_is_marked_and_kept() -> None:
    data = [
        line(hello()),
        line(circle(1)),
        line(group(2, [5, 6], switches=[20, 19])),
        line(end(3, 2)),
    ]
    assert assemble(b"".join(data)).samples.tags.tolist() == [0, tag_bit("invalid")]


def test_methods_are_rows_of_their_own() -> None:
    passes = group(3, [7], turns=1, kind="pass", method="passes")
    data = [
        line(hello()),
        line(circle(1)),
        line(circle(2, "passes")),
        line(passes),
        line(end(4, 1)),
    ]
    bundle = assemble(b"".join(data))
    assert [row.method for row in bundle.identity.rows] == ["accumulated", "passes"]
    assert bundle.samples.row.tolist() == [1]


def test_an_overhead_is_told_from_a_measurement_and_owes_no_contract() -> None:
    empty = group(2, [3, 4], turns=1, kind="overhead", switches=[0, 0])
    samples = assemble(
        b"".join([line(hello()), line(circle(1)), line(empty), line(end(3, 2))])
    ).samples
    assert samples.kind.tolist() == [1, 1]
    assert samples.tags.tolist() == [0, 0]


def test_counters_that_some_visits_lack_are_missing_there() -> None:
    proof = group(3, [9], counters={"switches": [20], "entries": [40]})
    data = [line(hello()), line(circle(1)), line(group(2, [5])), line(proof), line(end(4, 2))]
    assert assemble(b"".join(data)).samples.counters["entries"].tolist() == [MISSING, 40]


def test_values_without_their_contract_are_reported() -> None:
    bundle = assemble(line(hello()) + line(group(1, [5])) + line(end(2, 1)))
    assert len(bundle.samples) == 0
    assert "without its contract" in bundle.identity.problems[0].what


def test_failures_and_damage_become_problems_once() -> None:
    failed = {"kind": "failed", "seq": 1, "circle": CONTRACT["key"], "reason": "did not finish"}
    data = line(hello()) + line(failed) + line(failed | {"seq": 2}) + b"@cyc {garbage\n"
    kinds = [problem.kind for problem in assemble(data).identity.problems]
    assert kinds == ["failed", "damaged", "damaged"]


def test_origins_are_kept_if_every_run_states_one() -> None:
    both = [line(hello(run=run, origin=1000 * run)) + line(end(1, 0)) for run in (1, 2)]
    assert assemble(*both).identity.plan == {"origins": {"1": 1000, "2": 2000}}
    assert assemble(both[0], line(hello(run=2)) + line(end(1, 0))).identity.plan == {}


def test_an_origin_beyond_a_clock_is_damage() -> None:
    damaged = assemble(line(hello(origin=1 << 63)) + line(end(1, 0)))
    assert [problem.kind for problem in damaged.identity.problems][:1] == ["damaged"]
