# SPDX-License-Identifier: BSD-2-Clause
"""What `make bench` reads from other tools, in the words that they print, and how it sets their
precision beside ours.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bench
import peers
from cyclometer.bundle.core_cycles import in_core_cycles
from cyclometer.compare.pairing import side
from cyclometer.compare.verdicts import Comparison, compare
from tests.compare.wandering import MACHINES, Suite, session

PRINTED = {
    "perf bench sched pipe": (
        "     Total time: 0.095 [sec]\n\n      19.026800 usecs/op\n          52557 ops/sec\n",
        19026.8,
    ),
    "perf bench messaging": (
        "# 1 groups == 40 processes run\n\n     Total time: 0.269 [sec]\n",
        0.269e9 / 80000,
    ),
    "stress-ng --switch": (
        "stress-ng: metrc: [7] switch      15797.31 nanosecs per context switch (pipe method)\n",
        15797.31,
    ),
    "lat_pipe": ("Pipe latency: 9.4621 microseconds\n", 9462.1),
    "schbench": (
        "Wakeup Latencies percentiles (usec) runtime 3 (s) (9 total samples)\n"
        "\t  50.0th: 7          (5 samples)\n\t* 99.0th: 31         (4 samples)\n"
        "Request Latencies percentiles (usec) runtime 3 (s)\n\t  50.0th: 9000   (5 samples)\n",
        7000,
    ),
    "core-to-core-latency": (
        "    Min  latency: \x1b[1;37m99.0\x1b[0mns \x1b[2;37m±0.3\x1b[0m cores: (1,0)\n"
        "    Mean latency: \x1b[1;37m101.5\x1b[0mns\n",
        101.5,
    ),
}


@pytest.mark.parametrize("peer", peers.ON_TWO_CPUS, ids=lambda peer: peer.name)
def test_the_figure_of_a_peer_is_read(peer: peers.Peer) -> None:
    printed, ns = PRINTED[peer.name]
    assert peers.read(peer, printed) == pytest.approx(ns)
    assert peers.read(peer, "no such option") is None


def test_a_peer_that_is_missing_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    starter = tmp_path / "taskset"
    starter.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    perf = tmp_path / "perf"
    perf.write_text("#!/bin/sh\necho '2.5 usecs/op'\n")
    for program in (starter, perf):
        program.chmod(0o755)
    some = [
        replace(peer, circle="circle.0")
        for peer in peers.ON_TWO_CPUS
        if peer.name != "perf bench messaging"
    ]
    theirs = peers.sitting(some, "1,0")
    assert theirs[some[0]] == [2500] * peers.REPEATS
    found = of_one_machine()
    peers.table(found, (theirs, theirs))
    lines = capsys.readouterr().out.splitlines()
    assert found.findings[0].pair.after is not None
    ns = found.findings[0].pair.after.estimate.ns
    cells = ["perf", "bench", "sched", "pipe", "2500", "0.00", "+0.0", "+-0.0"]
    assert lines[2].split()[:9] == [*cells, f"{ns:.0f}"]
    assert max(map(len, lines)) <= 80
    assert f"  lat_pipe: not installed; {peers.LMBENCH}" in lines
    assert f"  core-to-core-latency: not installed; {peers.CORE_TO_CORE}" in lines


def of_one_machine() -> Comparison:
    """Two sessions between which nothing changed."""
    rng = np.random.default_rng(3)
    suite = Suite.drawn(rng, 2)
    minutes = ("2026-11-01T00:00:00+00:00", "2026-11-01T00:02:00+00:00")
    bundles = [session(rng, MACHINES["steady"], suite, minute)[0] for minute in minutes]
    before, after = (side([in_core_cycles(one)]) for one in bundles)
    return compare(before, after)


def test_a_peers_starts_give_a_mean_an_error_and_a_change() -> None:
    printed = peers._figure([100.0, 102, 98, 101, 99], [110.0, 112, 108, 111, 109])
    # t(4) = 2.776, sd 1.58, five starts
    assert printed.split()[:3] == ["110", "1.78", "+10.0"]


def test_a_peer_that_fails_now_and_then_has_no_figure(capsys: pytest.CaptureFixture[str]) -> None:
    assert peers._figure([100.0] * 4, [100.0] * 5) == ""
    mute = peers.Peer("mute", "-", ("true",), r"(\d+)", 1, "circle.0", "nothing")
    away = replace(mute, name="away", command=("echo", "7"), circle="circle.9")
    theirs = peers.sitting([mute, away])
    assert theirs == {mute: [], away: [7] * peers.REPEATS}
    peers.table(of_one_machine(), (theirs, theirs))
    printed = capsys.readouterr().out
    assert "does not run here" in printed
    assert "not measured here" in printed


def test_a_peer_that_does_not_end_has_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "TIMEOUT_S", 0.05)
    endless = peers.Peer("endless", "-", ("sleep", "60"), r"(\d+)", 1, "circle.0", "nothing")
    assert peers.sitting([endless]) == {endless: []}


def test_the_precision_of_a_session_and_of_two(capsys: pytest.CaptureFixture[str]) -> None:
    bench._half_widths(of_one_machine())
    own, both = capsys.readouterr().out.splitlines()
    assert own.startswith("half-width       of a latency: median circle 0.")
    assert both.startswith("A/A              two suites with the peers between them: 2 ")


def test_a_part_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["lives"])
    assert "there is no part lives; choose from live, two-cpus" in capsys.readouterr().err
