# SPDX-License-Identifier: BSD-2-Clause
"""Runs the steps of a composite action as GitHub's runner does: expressions, files for outputs and
the path, and stand-ins for the actions that it uses.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")


@dataclass
class Runner:
    """A machine with a workspace, a repository to check out, and artifacts by name."""

    folder: Path
    repository: Path
    github: dict[str, Any]
    path: tuple[Path, ...] = ()
    artifacts: dict[str, Path] = field(default_factory=dict)
    printed: str = ""

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def run(self, action: Path, inputs: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Runs an action with these inputs; the status of its last step, and its output `code`."""
        described = yaml.safe_load((action / "action.yml").read_text())
        self.workspace.mkdir(parents=True, exist_ok=True)
        context: dict[str, Any] = {
            "github": {**self.github, "action_path": str(action), "token": "secret"},
            "inputs": {},
            "steps": {},
        }
        declared = described.get("inputs", {})
        assert not set(inputs or {}) - set(declared)
        for name, one in declared.items():
            context["inputs"][name] = (inputs or {}).get(name, filled(one["default"], context))
        status = 0
        for step in described["runs"]["steps"]:
            status = self._step(step, context)
            if status != 0:
                break
        output = described.get("outputs", {}).get("code", {}).get("value", "")
        return status, filled(output, context)

    def _step(self, step: Mapping[str, Any], context: dict[str, Any]) -> int:
        if "uses" in step:
            given = {name: filled(str(v), context) for name, v in step.get("with", {}).items()}
            name = step["uses"].partition("@")[0].removeprefix("actions/")
            getattr(self, name.replace("-", "_"))(given)
            return 0
        outputs, paths = self.folder / "outputs", self.folder / "paths"
        outputs.write_text("")
        paths.touch()
        search = [*paths.read_text().split(), *map(str, self.path), os.environ["PATH"]]
        environment = {
            **os.environ,
            **{name: filled(str(v), context) for name, v in step.get("env", {}).items()},
            "PATH": ":".join(search),
            "GITHUB_OUTPUT": str(outputs),
            "GITHUB_PATH": str(paths),
            "GITHUB_REPOSITORY": "owner/project",
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "RUNNER_TEMP": str(self.folder / "temp"),
        }
        done = subprocess.run(
            [step["shell"], "-e", "-c", step["run"]],
            cwd=self.workspace,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.printed += done.stdout
        pairs = (line.partition("=") for line in outputs.read_text().splitlines())
        found = {name: value for name, _, value in pairs}
        context["steps"][step.get("id", "")] = {"outputs": found}
        return done.returncode

    def checkout(self, given: Mapping[str, str]) -> None:
        folder = self.workspace / given["path"]
        git(self.repository, "worktree", "add", "--detach", str(folder), given["ref"])

    def upload_artifact(self, given: Mapping[str, str]) -> None:
        self.artifacts[given["name"]] = self.workspace / given["path"]

    def download_artifact(self, given: Mapping[str, str]) -> None:
        assert given["github-token"] == "secret"
        shutil.copytree(self.artifacts[given["name"]], self.workspace / given["path"])


def filled(text: str, context: Mapping[str, Any]) -> str:
    """`text` with each expression replaced by its value; an unknown one is empty, as on GitHub."""

    def value(found: re.Match[str]) -> str:
        at: Any = context
        for name in found[1].split("."):
            at = at.get(name, {}) if isinstance(at, Mapping) else {}
        return "" if at == {} else str(at)

    return _EXPRESSION.sub(value, text)


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    command = ["git", *identity, "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
