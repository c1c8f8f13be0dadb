# SPDX-License-Identifier: BSD-2-Clause
"""`cyclometer explain` as a user meets it, on bundles of a made-up machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from cyclometer.cli import cli, sampled
from cyclometer.errors import MeasurementFailed, NotComparable, UsageError
from cyclometer.explain import sources
from cyclometer.explain import tail as tails
from cyclometer.record.profile import Profile
from cyclometer.record.schema import Clock, Contract
from cyclometer.record.trace import TraceResult
from cyclometer.targets.api import TRACE_FLOW, Request
from cyclometer.targets.registry import TARGETS
from tests.explain import machine
from tests.explain.test_evidence import boot
from tests.explain.test_harts import LOCK, beside
from tests.explain.test_profile import made

KEY = "thing.poke"


def run(*words: str) -> str:
    outcome = CliRunner().invoke(cli, ["explain", *words], catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


@pytest.fixture
def bundles(tmp_path: Path) -> tuple[str, str]:
    """Two bundles that kept traces; the second one's turn is 87 cycles longer."""
    found = []
    for name, extra in (("before", 3), ("after", 90)):
        steady, cold = machine.evidence([extra] * 4), machine.evidence([500, extra, extra])
        for path, data in sources.files({KEY: {"steady": steady, "cold": cold}}).items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_bytes(data)
        found.append(str(tmp_path / name))
    return found[0], found[1]


def test_a_bundle_explains_itself(bundles: tuple[str, str]) -> None:
    text = run(bundles[0], KEY)
    assert f"steady turn {machine.LENGTH + 3} cycles, as long as the latency of this boot" in text
    lines = text.splitlines()
    poke = next(line for line in lines if line.strip().startswith("poke "))
    assert poke.split()[:2] == ["poke", "4"]
    assert poke.rstrip().endswith("dcache 3")
    assert any(line.strip().startswith("before client: poke") for line in lines)


@pytest.fixture
def two_harts(tmp_path: Path) -> str:
    """A bundle whose second hart looks at a lock while the client takes its turn."""
    found = beside(LOCK, [0, 1, 2] * 100, [1] * 300)
    for path, data in sources.files({KEY: {"steady": found}}).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return str(tmp_path)


def test_two_harts_stand_on_one_axis_of_time(two_harts: str) -> None:
    text = run(two_harts, KEY)
    assert f"steady turn {machine.LENGTH} cycles of hart 0, as long as" in text
    lines = [line.strip() for line in text.splitlines()]
    assert "hart 1  " + "s" * 64 in lines
    rows = [line.split() for line in lines if re.match(r"hart \d +\d", line)]
    assert rows == [
        ["hart", "0", str(machine.LENGTH), "0", "0", "0"],
        ["hart", "1", "0", "0", str(machine.LENGTH), "0"],
    ]


def test_a_hart_can_be_chosen(two_harts: str) -> None:
    steady = json.loads(run("--hart", "1", "--json", two_harts, KEY))["steady"]
    assert steady["hart"] == 1
    assert [part["name"] for part in steady["functions"]] == ["lock"]
    assert [one["waited"] for one in steady["harts"]] == [{}, {"spinning": machine.LENGTH}]
    assert steady["harts"][1]["stretches"] == [
        {"start": 0, "stop": machine.LENGTH, "state": "spinning", "function": "lock"}
    ]


def test_the_page_of_two_harts_draws_a_lane_for_each(two_harts: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("-o", str(page), two_harts, KEY)
    assert f"<title>lock: {machine.LENGTH} from 0, spinning</title>" in page.read_text()
    run("-o", str(page), str(two_harts), KEY, "--hart", "1")
    assert "By hart" in page.read_text()


def test_a_hart_that_is_not_there_is_one_sentence(bundles: tuple[str, str], two_harts: str) -> None:
    with pytest.raises(UsageError, match=r"has no hart 3; give --hart one of 0, 1$"):
        run("--hart", "3", two_harts, KEY)
    with pytest.raises(UsageError, match="leave --hart out"):
        run("--hart", "1", "--tail", bundles[0], KEY)


def test_lines_are_annotated(bundles: tuple[str, str]) -> None:
    text = run(bundles[0], KEY, "--lines")
    assert "kernel/context_switch.c:4" in text
    assert f"insn {machine.RETURN:x}" in text


def test_json_holds_every_view_and_each_sums(bundles: tuple[str, str]) -> None:
    result = json.loads(run(bundles[0], KEY, "--json"))
    assert result.pop("schema") == "cyclometer/explanation/1"
    assert set(result) == {"steady", "cold"}
    for turn in result.values():
        for view in ("phases", "modes", "functions", "lines", "instructions", "stacks"):
            assert sum(part["total"] for part in turn[view]) == turn["total"]
            assert all(sum(part["causes"].values()) == part["total"] for part in turn[view])
        assert sum(turn["causes"].values()) == turn["total"]


def test_the_difference_names_function_and_cause(bundles: tuple[str, str]) -> None:
    text = run("--diff", *bundles, KEY)
    assert "thing.poke: +87 cycles per turn" in text
    result = json.loads(run("--diff", *bundles, KEY, "--json"))
    assert result["change"] == 87
    for view in ("functions", "phases", "modes", "causes"):
        assert sum(part["change"] for part in result[view]) == 87
    assert result["functions"][0]["name"] == "poke"
    assert result["functions"][0]["causes"] == {"dcache": 87}


def test_the_tail_is_the_turn_that_differs(tmp_path: Path) -> None:
    evidence = machine.evidence([0, 0, 40, 0, 0, 0, 40, 0, 0, 0, 40, 0])
    for path, data in sources.files({KEY: {"steady": evidence}}).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    text = run("--tail", str(tmp_path), KEY, "-o", str(tmp_path / "tail.html"))
    length = machine.LENGTH
    assert f"differs: {length + 40} cycles, +40: every 4 turns (3 of 11 turns)" in text
    assert f"cycles of each turn: {length} (8x), {length + 40} (3x)" in text
    assert "The turn that differs" in (tmp_path / "tail.html").read_text()
    result = json.loads(run("--tail", str(tmp_path), KEY, "--json"))
    assert result["schema"] == "cyclometer/tail/1"
    assert (result["period"], result["change"], len(result["lengths"])) == (4, 40, 11)


def test_a_tail_is_of_one_side_and_of_many_turns(asked: list[Request]) -> None:
    run("--tail", KEY)
    assert [request.flow for request in asked] == [tails.FLOW]
    with pytest.raises(UsageError, match="leave --diff out"):
        run("--tail", "--diff", "a", "b", KEY)


@pytest.mark.parametrize("diff", [False, True])
def test_one_html_file_holds_it_all(bundles: tuple[str, str], tmp_path: Path, diff: bool) -> None:
    output = tmp_path / "why.html"
    run(*(["--diff", *bundles] if diff else [bundles[0]]), KEY, "-o", str(output))
    text = output.read_text()
    assert text.startswith("<!doctype html>")
    assert text.count("<svg") >= 4
    assert ("What changed" in text) == diff


@pytest.mark.parametrize("end", ["folded", "speedscope.json", "perfetto.json"])
def test_stacks_go_where_the_name_says(bundles: tuple[str, str], tmp_path: Path, end: str) -> None:
    output = tmp_path / f"why.{end}"
    run("--diff", *bundles, KEY, "-o", str(output))
    both = output.read_text()
    run(bundles[0], KEY, "-o", str(output))
    assert "sys_poke" in output.read_text() != both
    assert "<html" not in both


@pytest.mark.parametrize(
    "words",
    [("a", "b", "c"), ("--diff", "a", KEY), ("--diff", KEY), ("--diff", "a", "b", "c", KEY)],
)
def test_operands_that_do_not_fit_are_usage(words: Sequence[str]) -> None:
    with pytest.raises(UsageError, match="give KEY, or SIDE KEY, or --diff A B KEY"):
        run(*words)


def test_a_file_that_cannot_be_written_is_usage(bundles: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose another -o"):
        run(bundles[0], KEY, "-o", str(tmp_path / "no" / "x.html"))


class Silent:
    """A target that cannot trace."""

    name = "silent"

    def __init__(self, asked: list[Request]) -> None:
        self.asked = asked

    def circles(self, config: dict[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        del config
        return machine.CYCLES, [Contract(KEY)]


class Emulator(Silent):
    """A target that can trace one circle."""

    name = "emulator"
    trace_flow = TRACE_FLOW

    def trace(self, request: Request, keys: Sequence[str]) -> TraceResult:
        assert list(keys) == [KEY]
        self.asked.append(request)
        return boot()


class OfLinux(Emulator):
    """Stands for the one that boots kernels, which has another circle beside."""

    def circles(self, config: dict[str, str] | None = None) -> tuple[Clock, list[Contract]]:
        del config
        return machine.CYCLES, [Contract(KEY), Contract("other.thing")]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    requests: list[Request] = []
    there = {
        "emulator": Emulator(requests),
        "qemu-virt": Emulator(requests),
        "qemu-linux": OfLinux(requests),
        "linux": Silent([]),
        "silent": Silent(requests),
    }
    monkeypatch.setattr(TARGETS, "load", there.__getitem__)
    return requests


@pytest.mark.parametrize(
    ("words", "configs"),
    [
        ((KEY,), [{}]),
        (("emulator", KEY), [{}]),
        (("emulator:mcs=on,timer=mtime", KEY), [{"mcs": "on", "timer": "mtime"}]),
        (("mcs=on", KEY, "--config", "asid=off"), [{"asid": "off", "mcs": "on"}]),
        (("--diff", "default", "mcs=on", KEY, "--target", "emulator"), [{}, {"mcs": "on"}]),
    ],
)
def test_a_side_is_a_target_with_its_configuration(
    asked: list[Request], words: Sequence[str], configs: list[dict[str, str]]
) -> None:
    assert KEY in run(*words)
    assert [dict(request.config) for request in asked if request.method is None] == configs


@pytest.mark.usefixtures("asked")
def test_the_first_boot_is_told_while_it_runs() -> None:
    outcome = CliRunner().invoke(cli, ["explain", "emulator", KEY], catch_exceptions=False)
    assert "0/2 emulator: the steady turn" in outcome.stderr
    assert "the steady turn" not in outcome.stdout


class Native(Silent):
    """Stands for the running Linux, which samples one circle."""

    def profile(self, request: Request, key: str, seconds: float) -> Profile:
        assert (request, key, seconds) == (Request(), KEY, sampled.SECONDS)
        return made()


class Broken(OfLinux):
    """Stands for the one that boots kernels, where this one does not start."""

    def trace(self, request: Request, keys: Sequence[str]) -> TraceResult:
        del request, keys
        raise MeasurementFailed("the kernel panicked")


@pytest.fixture
def own_image(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the image of the running kernel is, if it is made."""
    monkeypatch.setattr(sampled, "_IMAGES", (str(tmp_path / "vmlinuz-{}"),))
    return tmp_path / f"vmlinuz-{os.uname().release}"


@pytest.fixture
def linux(asked: list[Request], monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """What the running Linux lets trace beside its samples."""
    there = {"linux": Native([]), "qemu-linux": OfLinux(asked)}
    monkeypatch.setattr(TARGETS, "load", there.__getitem__)
    return asked


def test_beside_samples_stands_the_exact_path_of_the_same_kernel(
    linux: list[Request], own_image: Path, tmp_path: Path
) -> None:
    own_image.touch()
    page = tmp_path / "why.html"
    text = run("--target", "linux", KEY, "--exact", "-o", str(page))
    (request,) = linux
    assert (request.only, request.config) == ((KEY,), {"kernel": str(own_image)})
    assert f"the same kernel executes {machine.LENGTH} cycles per turn" in text
    _, inclusive, alone = text.split("by function")
    rows = {cells[0]: cells[1:] for line in alone.splitlines() if (cells := line.split())}
    assert rows["pipe_write"][:2] == ["600", "60.0%"]  # sampled and not executed
    assert rows["context_switch"] == ["4", f"{4 / machine.LENGTH:.1%}"]  # the other way round
    both = next(line for line in inclusive.splitlines() if line.startswith(" entry "))
    assert both.split() == ["entry", "650", "65.0%", "62.0%", "to", "67.9%", "24", "72.7%"]
    assert "Instructions" in page.read_text()


@pytest.mark.usefixtures("linux")
def test_samples_and_exact_path_are_one_document(own_image: Path) -> None:
    assert json.loads(run("--target", "linux", KEY, "--exact", "--json"))["exact"] is None
    own_image.touch()
    exact = json.loads(run("--target", "linux", KEY, "--exact", "--json"))["exact"]
    assert sum(part["total"] for part in exact["functions"]) == exact["total"]


def test_no_kernel_boots_beside_samples_unless_asked(linux: list[Request], own_image: Path) -> None:
    own_image.touch()
    assert json.loads(run("--target", "linux", KEY, "--json"))["exact"] is None
    assert linux == []
    with pytest.raises(UsageError, match="is exact already"):
        run("--kernel", "a", KEY, "--exact")


def test_samples_need_no_image_and_its_absence_is_one_line(
    linux: list[Request], own_image: Path
) -> None:
    words = ["explain", "--target", "linux", KEY, "--exact"]
    outcome = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert (outcome.exit_code, linux) == (0, [])
    assert f"no exact path beside the samples: {own_image} cannot be read" in outcome.stderr
    assert "pipe_write" in outcome.stdout


@pytest.mark.parametrize("key", [KEY, "native.thing"])
def test_a_path_that_cannot_be_traced_costs_no_samples(
    monkeypatch: pytest.MonkeyPatch, own_image: Path, key: str
) -> None:
    own_image.touch()
    native = Native([])
    monkeypatch.setattr(native, "profile", lambda *_: made())
    there = {"linux": native, "qemu-linux": Broken([])}
    monkeypatch.setattr(TARGETS, "load", there.__getitem__)
    words = ["explain", "--target", "linux", key, "--exact"]
    outcome = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert outcome.exit_code == 0
    why = "the kernel panicked" if key == KEY else "target qemu-linux cannot run native.thing here"
    assert why in outcome.stderr
    assert "pipe_write" in outcome.stdout


def test_what_a_guest_boots_is_said_by_options_as_for_run(asked: list[Request]) -> None:
    run(
        KEY,
        "--kernel",
        "a,b",
        "--append",
        "mitigations=auto,nosmt",
        "--cpu-model",
        "max",
        "--symbols",
        "vmlinux",
    )
    wanted = {
        "kernel": "a,b",
        "append": "mitigations=auto,nosmt",
        "cpu_model": "max",
        "symbols": "vmlinux",
    }
    assert [dict(request.config) for request in asked] == [wanted, wanted]


def test_the_memory_of_a_board_is_part_of_a_side(asked: list[Request]) -> None:
    run("emulator:memory_latency=20,memory_jitter=7,mcs=on", KEY)
    assert {(r.memory_latency_cyc, r.memory_jitter, str(r.config)) for r in asked} == {
        (20, 7, "{'mcs': 'on'}")
    }
    with pytest.raises(UsageError, match="memory_latency=slow is not a number"):
        run("emulator:memory_latency=slow", KEY)


def test_an_unknown_circle_and_a_mute_target_are_one_sentence(asked: list[Request]) -> None:
    with pytest.raises(
        UsageError, match=r"emulator has no circle 'thing\.else' in this configuration"
    ):
        run("emulator", "thing.else")
    with pytest.raises(UsageError, match=r"`cyclometer explain --kernel IMAGE other\.thing`"):
        run("emulator", "other.thing")
    with pytest.raises(NotComparable, match="target silent records no instruction traces"):
        run("silent", KEY)
    assert asked == []


def test_names_cannot_steer_a_terminal(tmp_path: Path) -> None:
    evidence = machine.evidence([0, 0])
    contract = msgspec.structs.replace(evidence.facts.contract, title="\x1b[2J")
    facts = msgspec.structs.replace(evidence.facts, contract=contract)
    hostile = sources.Evidence(facts, evidence.steps, evidence.places)
    for path, data in sources.files({KEY: {"steady": hostile}}).items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(data)
    assert "\x1b" not in run(str(tmp_path), KEY)
