# SPDX-License-Identifier: BSD-2-Clause
"""The composite action judges a pull request, and the half that may write believes nothing that the
other half hands over.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
import pytest
import yaml

from cyclometer.cli import cli
from tests.action.emulation import Runner, git

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action"
BIN = Path(sys.executable).parent
MAP = 'key = "benchmark"\nvalue = "time"\nunit = "us"\n'
# what a checkout prints: its own base figure, and jitter that differs from round to round
MEASURE = (
    'echo "$SIDE $ROUND" >> ../order; base=$(cat base); '
    "{ echo benchmark,time; for name in a b; do for i in 1 2 3; do "
    'echo "$name,$((base + (ROUND * 7 + i * 3) % 5))"; done; done; } > times.csv; '
    'cyclometer ingest times.csv --map times.toml -o "$BUNDLE"'
)


def executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner for a pull request whose head takes half as long again."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    commits = []
    for figure in ("1000", "1500"):
        (project / "base").write_text(figure)
        (project / "times.toml").write_text(MAP)
        git(project, "add", ".")
        git(project, "commit", "-q", "-m", figure)
        commits.append(git(project, "rev-parse", "HEAD"))
    tools = tmp_path / "tools"
    tools.mkdir()
    # makes an environment that holds this very program, and notes what was to be installed
    executable(
        tools / "python3",
        f'#!/bin/sh\n[ "$1 $2" = "-m venv" ] || exit 9\nmkdir -p "$3/bin"\n'
        f'ln -s {BIN}/cyclometer "$3/bin/cyclometer"\n'
        f'printf \'#!/bin/sh\\necho "$@" > {tmp_path}/installed\\n\' > "$3/bin/pip"\n'
        'chmod +x "$3/bin/pip"\n',
    )
    executable(
        tools / "gh",
        "#!/bin/sh\ncase $1 in\napi) case $2 in */pulls/7) echo head-of-7;; *) exit 1;; esac;;\n"
        f'pr) shift 2; echo "$@" > {tmp_path}/commented; cp comment.md {tmp_path}/body;;\nesac\n',
    )
    event = {
        "pull_request": {"number": 7, "base": {"sha": commits[0]}, "head": {"sha": commits[1]}},
        "workflow_run": {"id": 1, "head_sha": "head-of-7"},
    }
    return Runner(tmp_path, project, {"event": event}, (tools,))


def test_a_slower_head_fails_and_the_table_is_kept(runner: Runner) -> None:
    status, code = runner.run(ACTION, {"measure": MEASURE, "rounds": "4"})
    assert (status, code) == (1, "1"), runner.printed
    order = (runner.workspace / "order").read_text().split("\n")[:-1]
    assert order == [
        f"{side} {number}"
        for number, sides in enumerate((("before", "after"), ("after", "before")) * 2, 1)
        for side in sides
    ]
    table = (runner.artifacts["latency"] / "gate.md").read_text()
    assert "regressed" in table
    assert (runner.folder / "summary.md").read_text() == table
    assert (runner.artifacts["latency"] / "number").read_text() == "7\n"
    assert (runner.folder / "installed").read_text() == f"install --quiet {ACTION}/..\n"


def test_a_head_that_is_alike_passes(runner: Runner) -> None:
    event = runner.github["event"]["pull_request"]
    event["head"] = event["base"]
    status, code = runner.run(ACTION, {"measure": MEASURE, "rounds": "3", "margin": "5%"})
    assert (status, code) == (0, "0"), runner.printed


@pytest.mark.parametrize("code", ["0", "1", "3", "4", "5", "6"])
def test_only_an_undecided_change_is_forgiven(runner: Runner, code: str) -> None:
    executable(runner.path[0] / "cyclometer", f"#!/bin/sh\nexit {code}\n")
    pip = runner.folder / "temp/cyclometer/bin/pip"
    pip.parent.mkdir(parents=True)
    executable(pip, "#!/bin/sh\n")
    executable(runner.path[0] / "python3", "#!/bin/sh\n")
    status, output = runner.run(ACTION, {"measure": 'mkdir "$BUNDLE"', "rounds": "1"})
    assert (status, output) == (0 if code == "3" else int(code), code)
    assert f"ended with {code}" in (runner.artifacts["latency"] / "gate.md").read_text()


@pytest.mark.parametrize("inputs", [{"build": "exit 9"}, {"measure": "false; true"}])
def test_a_side_that_fails_fails_the_job_and_nothing_is_judged(
    runner: Runner, inputs: dict[str, str]
) -> None:
    status, code = runner.run(ACTION, {"measure": "true", **inputs})
    assert status != 0
    assert code == ""
    assert not runner.artifacts


def hand_over(runner: Runner, number: str, text: str = "a table\n") -> None:
    folder = runner.folder / "uploaded"
    folder.mkdir()
    (folder / "number").write_text(number)
    (folder / "gate.md").write_text(text)
    runner.artifacts["latency"] = folder


def test_the_table_becomes_one_comment(runner: Runner) -> None:
    hand_over(runner, "7\n", "| a | @owner | é |\n" + "x" * 70_000)
    status, _ = runner.run(ACTION / "comment")
    assert status == 0, runner.printed
    words = (runner.folder / "commented").read_text()
    assert words.startswith("7 --repo owner/project --body-file comment.md --edit-last")
    body = (runner.folder / "body").read_text()
    assert body.startswith("| a | &#64;owner | é |\n")
    assert len(body) < 65_536


@pytest.mark.parametrize(
    "number", ["", "8\n", "7; touch evil\n", "$(touch evil)", "../issues/7", "7\n8\n", "-7", "7 7"]
)
def test_a_number_that_is_not_the_measured_pull_request_gets_no_comment(
    runner: Runner, number: str
) -> None:
    hand_over(runner, number)
    runner.run(ACTION / "comment")
    assert not (runner.folder / "commented").exists()
    assert not list(runner.folder.rglob("evil"))


def test_a_pull_request_that_has_moved_on_gets_no_comment(runner: Runner) -> None:
    runner.github["event"]["workflow_run"]["head_sha"] = "an older head"
    hand_over(runner, "7\n")
    status, _ = runner.run(ACTION / "comment")
    assert status == 0
    assert not (runner.folder / "commented").exists()


@pytest.mark.parametrize("folder", [ACTION, ACTION / "comment"])
def test_no_expression_stands_in_a_script(folder: Path) -> None:
    steps = yaml.safe_load((folder / "action.yml").read_text())["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert scripts
    assert all(re.fullmatch(r'sh "\$ACTION/\w+\.sh"', script) for script in scripts)


def test_the_examples_use_what_there_is_and_only_one_half_may_write() -> None:
    measuring = yaml.safe_load((ROOT / "docs/github-actions.yml").read_text())
    writing = yaml.safe_load((ROOT / "docs/github-actions-comment.yml").read_text())
    used = [step for step in measuring["jobs"]["gate"]["steps"] if "uses" in step]
    declared = yaml.safe_load((ACTION / "action.yml").read_text())["inputs"]
    assert used
    assert all(set(step["with"]) <= set(declared) for step in used)
    name, words = re.fullmatch(r"cyclometer (\w+) (.*)", used[0]["with"]["measure"]).groups()
    command = cli.get_command(click.Context(cli), name)
    known = {option for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"(?<=\s)--?[a-z]+", f" {words}")) <= known
    assert measuring["permissions"] == {"contents": "read"}
    assert writing[True]["workflow_run"]["workflows"] == [measuring["name"]]  # YAML 1.1: on is true
    (step,) = writing["jobs"]["comment"]["steps"]
    assert step["uses"].partition("@")[0].endswith("/action/comment")
