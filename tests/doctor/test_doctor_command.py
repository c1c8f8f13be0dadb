# SPDX-License-Identifier: BSD-2-Clause
"""The command on a made-up machine; this machine's own settings are never touched."""

import dataclasses
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cyclometer.bundle import store
from cyclometer.cli import cli, doctor
from cyclometer.doctor import observe as observing
from cyclometer.doctor.checks import CHECKS
from cyclometer.errors import NotComparable, UsageError
from cyclometer.record.schema import Clock
from cyclometer.targets.linux import clocks, target
from tests.compare.recorded import recorded

TSC = Clock("tsc", "ticks", 2.6e9)
ABILITIES = observing.Abilities(True, None, "", "", True, "cc 12", 40, 500)


@pytest.fixture(autouse=True)
def _machine(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ROOT", root)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(observing, "probe", lambda _: ABILITIES)
    monkeypatch.setattr(observing.time, "sleep", lambda _: None)
    monkeypatch.setattr(target, "program_for", lambda _: Path("/bin/true"))
    tell_clocks(monkeypatch, clocks.COUNTER)


def tell_clocks(monkeypatch: pytest.MonkeyPatch, reference: str, refusal: str = "") -> None:
    found = clocks.UsableClocks(TSC, refusal, reference)
    monkeypatch.setattr(clocks, "usable", lambda *_: found)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(doctor.command, ["--cpu", "3", *arguments])


def test_the_report_names_every_check_with_cost_and_change() -> None:
    result = call()
    assert result.exit_code == 0
    assert all(name in result.output for name in CHECKS)
    assert "from 800 to 4000 MHz" in " ".join(result.output.split())  # however wide the terminal
    assert "cyclometer doctor --tune" in result.output


def test_json_holds_findings_and_facts() -> None:
    answer = json.loads(call("--json").output)
    assert answer["cpu"] == 3
    assert [found["name"] for found in answer["findings"]] == [*CHECKS, "clocks"]
    assert answer["environment"]["microcode"] == "0xf4"
    assert answer["tuned"] == {}


@pytest.mark.parametrize(
    ("reference", "refusal", "offered", "state", "said"),
    [
        (clocks.COUNTER, "", True, "ok", "referenced (by the core's counter), cycles"),
        (clocks.CHAIN, "", False, "ok", "referenced (by a chain of instructions), cycles"),
        (clocks.CHAIN, "", True, "warn", "referenced (by a chain of instructions), cycles"),
        (clocks.CHAIN, "there is none", False, "ok", "; cycles is refused: there is none"),
        ("", "there is none", False, "ok", "native (tsc at 2.6 GHz); cycles is refused"),
    ],
)
def test_the_clocks_that_work_here_are_told(
    monkeypatch: pytest.MonkeyPatch,
    reference: str,
    refusal: str,
    offered: bool,
    state: str,
    said: str,
) -> None:
    tell_clocks(monkeypatch, reference, refusal)
    abilities = dataclasses.replace(ABILITIES, counter_offered=offered)
    monkeypatch.setattr(observing, "probe", lambda _: abilities)
    found = json.loads(call("--json").output)["findings"][-1]
    assert (found["name"], found["state"]) == ("clocks", state)
    assert said in found["found"]
    assert ("emulates the counter" in found["cost"]) is (state == "warn")


def test_a_machine_without_a_compiler_has_unknown_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> Path:
        raise NotComparable("no C compiler found")

    monkeypatch.setattr(target, "program_for", refuse)
    found = json.loads(call("--json").output)["findings"][-1]
    assert (found["state"], "no C compiler found" in found["found"]) == ("unknown", True)


def test_a_bad_check_ends_with_4(monkeypatch: pytest.MonkeyPatch) -> None:
    without_compiler = dataclasses.replace(ABILITIES, compiler="")
    monkeypatch.setattr(observing, "probe", lambda _: without_compiler)
    assert call().exit_code == 4
    assert call("--json").exit_code == 4


def test_tune_then_restore(root: Path) -> None:
    governor = root / "sys/devices/system/cpu/cpufreq/policy0/scaling_governor"
    result = call("--tune")
    assert result.exit_code == 0
    assert "scaling_governor: powersave -> performance" in result.output
    assert governor.read_text() == "performance\n"
    assert "12 settings are tuned" in call().output
    assert "nothing was changed" in call("--tune").output
    result = CliRunner().invoke(doctor.command, ["--restore"])
    assert result.exit_code == 0
    assert "every setting is as it was" in result.output
    assert governor.read_text() == "powersave\n"
    assert (
        CliRunner().invoke(doctor.command, ["--restore", "--json"]).output
        == '{\n "schema": "cyclometer/settings/1",\n "changes": []\n}\n'
    )


def test_refused_settings_share_one_sentence_and_end_with_4(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cyclometer.doctor.tune.os.access", lambda *_: False)
    result = call("--tune")
    assert result.exit_code == 4
    assert result.output.count("not changed (may not be written by this user)") == 1
    assert "/proc/sys/kernel/nmi_watchdog" in result.output
    assert "nothing was changed" in result.output


def test_restore_takes_no_cpu() -> None:
    assert isinstance(call("--restore").exception, UsageError)


def test_help_shows_an_example() -> None:
    assert "Example: cyclometer doctor --tune" in call("--help").output


def test_a_calibration_is_learnt_from_bundles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    names = ("aa1", "aa2", "s1")
    stored = [str(store.write(recorded(name), tmp_path / name, {}).path) for name in names]
    done = CliRunner().invoke(cli, ["doctor", "--calibrate", *stored])
    assert (done.exit_code, done.exception) == (0, None)
    assert "(146 circles, 2 pairs)" in done.output
    assert len(list((tmp_path / "cyclometer/sessions").glob("*.json"))) == 1
    compared = CliRunner().invoke(cli, ["compare", "--json", stored[0], stored[2]])
    summary = json.loads(compared.output)["summary"]
    assert not any("assumed" in sentence for sentence in summary["sessions"])


def test_bundles_are_for_calibrating(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["doctor", str(tmp_path)])
    assert isinstance(done.exception, UsageError)
