# SPDX-License-Identifier: BSD-2-Clause
"""Every check finds a breach of its rule and is silent on a tree that keeps it."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import click
import pytest

import catalogue
import check_catalogue
import check_commands
import check_comments
import check_core_freestanding
import check_dependencies
import check_functions
import check_kernel_figures
import check_names
import check_spdx
import check_units
import check_version
from findings import c_code

Files = dict[str, str]
Check = Callable[[Path], Iterable[str]]

SPDX = "// SPDX-License-Identifier: BSD-2-Clause\n"
VERSIONS = {
    "pyproject.toml": 'version = "1.2.0"\n',
    "src/cyclometer/__init__.py": '__version__ = "1.2.0"\n',
    "CHANGELOG.md": "# Changelog\n\n## 1.2.0 - today\n",
    "kernel/Makefile": '#define BUILD_VERSION "1.2.0"\n',
}


COUNTED = {
    "tests/data/kernel-counts.tsv": "# Kept.\nkey\tboard=virt\tboard=virt accounting=on\n"
    "take\t14\t15\ncall.words_0.same\t290\t0\ncall.words_0.cross\t316.2\t0\nacct\t-\t9\n"
}
FIGURES = """| row | default |
|---|---|
| `take` | 14 |
| `call.words_0` | 290 (316) |
| `call.words_N.cross` | 316 |
| `acct` | 9 |
"""

CYCLES = {
    "docs/experiments/layout.md": """| row | least | mean | greatest | sd | range |
| `round` | 324.2 | 331.7 | 335.1 | 1.09% | 3.28% |

| row | least | greatest | apart |
| `round` | 330.8 | 335.1 | 1.3% |
""",
    "tests/e2e/test_rocket_figures.py": 'MOST = {"round": 480, "alone": 9,}\n',
}
CYCLES_PAGE = """| row | mean warm cycles | to beat | seL4 |
|---|---|---|---|
| `round` | 324 to 335 | 480 | 830 to 899 |
| `alone` | about 5 | 9 | |
"""


def long_function(lines: int) -> str:
    return (
        "def long():\n"
        + '    """Not counted.\n\n    At all.\n    """\n'
        + "    pass\n" * (lines - 1)
    )


def planted(root: Path, files: Files) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


BREACHES: list[tuple[Check, Files, str]] = [
    (check_spdx.check, {"core/a.c": "int a;\n"}, "core/a.c:1: has no `SPDX"),
    (check_spdx.check, {"kernel/Makefile": "\n\n\n# " + SPDX}, "kernel/Makefile:1:"),
    (
        check_kernel_figures.check,
        COUNTED | {"kernel/README.md": FIGURES.replace("(316)", "(290)")},
        "kernel/README.md:4: call.words_0 takes {316} instructions with default, not 290",
    ),
    (
        check_kernel_figures.check,
        COUNTED | {"kernel/README.md": FIGURES.replace("14", "15")},
        "kernel/README.md:3: take takes {14} instructions with default, not 15",
    ),
    (
        check_kernel_figures.check,
        COUNTED | {"kernel/README.md": FIGURES.replace("`take", "`took")},
        "kernel/README.md:3: no circle is called took",
    ),
    (
        check_kernel_figures.check,
        COUNTED | CYCLES | {"kernel/README.md": CYCLES_PAGE.replace("324", "319")},
        "kernel/README.md:3: round takes 324 to 335 or 331 to 335 cycles over layouts, not 319 to",
    ),
    (
        check_kernel_figures.check,
        COUNTED | CYCLES | {"kernel/README.md": CYCLES_PAGE.replace("| 9", "| 8")},
        "does not assert that alone takes 8 cycles at most",
    ),
    (
        check_comments.check,
        {"linux/a.h": "/* As `b()`. */\n// host_later() undoes it\nint b(void); // c\n"},
        "linux/a.h:2: the comment names host_later(), which",
    ),
    (check_version.check, VERSIONS | {"CHANGELOG.md": "## 1.3.0\n"}, "CHANGELOG.md says 1.3.0"),
    (
        check_version.check,
        VERSIONS | {"kernel/Makefile": 'BUILD_VERSION "0.9.0"\n'},
        "kernel/Makefile says 0.9.0",
    ),
    (
        check_version.check,
        VERSIONS | {"CHANGELOG.md": "none\n"},
        "CHANGELOG.md:1: names no version",
    ),
    (
        check_dependencies.check,
        {"core/a.c": '\n#include "../linux/host.h"\n', "linux/host.h": ""},
        "core/a.c:2: core may not include ../linux/host.h",
    ),
    (
        check_dependencies.check,
        {"core/a.c": '#include "trap.h"\n', "kernel/trap.h": ""},
        "which is in kernel",
    ),
    (
        check_dependencies.check,
        {"linux/a.c": '#include "kernel/trap.h"\n', "kernel/trap.h": ""},
        "linux may not",
    ),
    (
        check_dependencies.check,
        {"kernel/u/a.c": '#include "../../linux/b.h"\n', "linux/b.h": ""},
        "kernel may not",
    ),
    (
        check_dependencies.check,
        {"src/cyclometer/record/decode.py": "\nfrom cyclometer.bundle import model\n"},
        "src/cyclometer/record/decode.py:2: record may not import bundle",
    ),
    (
        check_dependencies.check,
        {"src/cyclometer/lint/a.py": "from ..report import table\n"},
        "may not import report",
    ),
    (
        check_dependencies.check,
        {"src/cyclometer/units.py": "from . import record\n"},
        "units may not import record",
    ),
    (
        check_dependencies.check,
        {"src/cyclometer/estimate/a.py": "import cyclometer.cli.run\n"},
        "may not import cli",
    ),
    (check_dependencies.check, {"src/cyclometer/misc/a.py": ""}, "misc has no stage"),
    (
        check_dependencies.check,
        {"machines/x/a.cpp": '#include "core/b.h"\n', "core/b.h": ""},
        "machines may not include core/b.h",
    ),
    (
        check_dependencies.check,
        {
            "kernel/a.h": '#include "b.h"\n',
            "kernel/b.h": '#include "u/c.h"\n',
            "kernel/u/c.h": '#include "a.h"\n',
        },
        "kernel/a.h:1: needs itself, by way of kernel/b.h, kernel/u/c.h, kernel/a.h",
    ),
    (
        check_dependencies.check,
        {
            "src/cyclometer/lint/a.py": "from cyclometer.lint.b import name\n",
            "src/cyclometer/lint/b.py": "def f():\n    from cyclometer.lint import a\n",
        },
        "needs itself, by way of src/cyclometer/lint/",
    ),
    (
        check_core_freestanding.check,
        {"core/a.h": "#include <stdio.h>\n"},
        "core/a.h:1: includes <stdio.h>",
    ),
    (check_core_freestanding.check, {"core/a.h": "\ndouble mean;\n"}, "core/a.h:2: uses double"),
    (
        check_core_freestanding.check,
        {"core/a.c": 'int puts(const char *);\nvoid a(void) { puts(""); }\n'},
        "core: wants the symbol puts",
    ),
    (
        check_core_freestanding.check,
        {"core/a.c": "int a(void) { return b; }\n"},
        "does not compile",
    ),
    (
        check_units.check,
        {"core/a.h": "struct a {\n    int b, timeout;\n};\n"},
        "core/a.h:2: timeout names no unit",
    ),
    (check_units.check, {"linux/a.c": "void f(uint64_t start_time);\n"}, "start_time"),
    (check_units.check, {"linux/a.c": "static unsigned long stack_size = 4;\n"}, "stack_size"),
    (
        check_units.check,
        {"src/a.py": "def f(latency: float | None) -> None: ...\n"},
        "src/a.py:1: latency",
    ),
    (
        check_units.check,
        {"src/a.py": "class A:\n    sample_rate: int\n"},
        "src/a.py:2: sample_rate",
    ),
    (check_units.check, {"tools/a.py": "POLL_PERIOD = 0.5\n"}, "POLL_PERIOD"),
    (check_functions.check, {"a.py": long_function(61)}, "a.py:1: long has 61 lines"),
    (
        check_names.check,
        {"src/cyclometer/a.py": "class A: ...\n", "src/cyclometer/b.py": "class A: ...\n"},
        "src/cyclometer/b.py:1: class A is also in src/cyclometer/a.py:1",
    ),
    (
        check_names.check,
        {
            "src/cyclometer/report/documents/a.py": "class A: ...\n",
            "src/cyclometer/report/documents/b.py": "class A: ...\n",
        },
        "documents/b.py:1: class A is also in src/cyclometer/report/documents/a.py:1",
    ),
    (
        check_functions.check,
        {"a.c": "int\nmain(void)\n{\n" + "    f();\n" * 59 + "}\n"},
        "main has 61 lines",
    ),
    (check_functions.check, {"a.py": long_function(16)}, "median Python function has 16 lines"),
    (
        check_functions.check,
        {"a.c": "int main(void)\n{\n" + "    f();\n" * 14 + "}\n"},
        "median C function has 16",
    ),
]


@pytest.mark.parametrize(("check", "files", "finding"), BREACHES)
def test_a_breach_is_the_only_finding(
    tmp_path: Path, check: Check, files: Files, finding: str
) -> None:
    found = [
        line
        for line in check(planted(tmp_path, files))
        if "median" not in line or "median" in finding
    ]
    assert len(found) == 1
    assert finding in found[0]


KEPT: list[tuple[Check, Files]] = [
    (
        check_spdx.check,
        {"core/a.c": SPDX, "a.sh": "#!/bin/sh\n" + SPDX, "tests/__init__.py": "", "build/x.c": "x"},
    ),
    (check_version.check, VERSIONS),
    (
        check_comments.check,
        {"linux/a.h": "// b() and main() of core\nint b(void);\n", "core/a.c": "int main(void);\n"},
    ),
    (check_kernel_figures.check, COUNTED | {"kernel/README.md": FIGURES}),
    (check_kernel_figures.check, COUNTED | CYCLES | {"kernel/README.md": CYCLES_PAGE}),
    (
        check_dependencies.check,
        {
            "core/a.c": '#include "b.h"\n#include "generated.h"\n',
            "core/b.h": "",
            "linux/a.c": '#include "../core/b.h"\n',
            "kernel/a.c": '#include "core/b.h"\n#include "linux/none.h"\n',
            "src/cyclometer/report/table.py": "from cyclometer import errors\nfrom ..estimate "
            "import rows\n",
            "src/cyclometer/__init__.py": "",
        },
    ),
    (
        check_core_freestanding.check,
        {
            "core/a.c": "#include <stdint.h>\nint b(void);\nint a(void) { return b(); /* double */ "
            "}\n",
            "core/b.c": "int b(void) { return 1; }\n",
            "core/test/t.c": "#include <stdio.h>\ndouble t;\n",
        },
    ),
    (
        check_units.check,
        {
            "linux/a.c": '// int delay;\nint timeout_s;\nsize_t page_size;\nint size = puts("int '
            'period;");\n',
            "src/a.py": "latency_ns: float = 1.0\ntimer: str\ntime: str\ndef command(budget: "
            "float) -> None: ...\n",
            "tests/a.py": "delay = 1\n",
        },
    ),
    (
        check_functions.check,
        {"a.py": long_function(15), "a.c": "int main(void)\n{\n" + "    f();\n" * 13 + "}\n"},
    ),
    (
        check_names.check,
        {
            "src/cyclometer/a.py": "class A: ...\nclass _B: ...\n",
            "src/cyclometer/b.py": "class _B: ...\n",
            "src/cyclometer/report/documents/a.py": "class A: ...\n",
            "tests/a.py": "class A: ...\n",
        },
    ),
]


@pytest.mark.parametrize(("check", "files"), KEPT)
def test_a_tree_that_keeps_the_rule_has_no_finding(
    tmp_path: Path, check: Check, files: Files
) -> None:
    assert list(check(planted(tmp_path, files))) == []


@pytest.mark.parametrize("module", [check_functions, check_units])
def test_an_excuse_is_needed_or_removed(tmp_path: Path, module: object) -> None:
    check = module.check  # type: ignore[attr-defined]
    content = "timeout = 1\n" + long_function(61)
    name = "long" if module is check_functions else "timeout"
    planted(tmp_path, {"src/a.py": content, "src/b.py": "def short(): pass\n" * 2})
    assert [
        line for line in check(tmp_path, {"src/a.py": {name: "because"}}) if "median" not in line
    ] == []
    assert any(
        "needs no excuse" in line for line in check(tmp_path, {"src/b.py": {name: "no more"}})
    )


def test_comments_and_literals_are_no_code() -> None:
    assert c_code('a /* "b\n" */ "c//d" \'"\' // e\nf') == "a \n \"\" '' \nf"


@click.command()
@click.option("--json", "as_json", is_flag=True)
def good(as_json: bool) -> None:
    """Does good.

    Example: cyclometer good --json
    """


@click.command()
def mute() -> None:
    """Says little."""


def test_a_command_has_an_example_json_and_a_page() -> None:
    assert list(check_commands.check_command("good", good, "type `cyclometer good`")) == []
    found = list(check_commands.check_command("mute", mute, "type `cyclometer good`"))
    assert [
        words in line for words, line in zip(("Example", "no --json", "names"), found, strict=True)
    ] == [True] * 3


LISTING = {
    "targets": [{"name": "linux", "description": "this machine"}],
    "circles": [
        {
            "key": key,
            "target": "linux",
            "contract": {
                "title": "Pipe | round trip",
                "sequence": ["client: write", "server: read"],
                "interval": {"kind": "round_trip", "from": "write", "to": "read"},
                "expect": {"switches": 2},
                "params": {"bytes": "1"},
            },
        }
        for key in ("pipe.b", "clock.read", "pipe.a")
    ],
}


PIPE = "docs/catalogue/linux-pipe.md"


def test_the_catalogue_has_a_page_per_family_with_every_contract_in_order() -> None:
    pages = catalogue.render(LISTING)
    assert list(pages) == [catalogue.PAGE, "docs/catalogue/linux-clock.md", PIPE]
    assert "3 circles." in pages[catalogue.PAGE]
    assert "| [pipe](catalogue/linux-pipe.md) | 2 |" in pages[catalogue.PAGE]
    wanted = ("## `pipe.a`", "Pipe | round trip", "- turn: client: write; server: read")
    wanted += ("- interval: round trip, from write to read", "- expect: switches 2")
    places = [pages[PIPE].index(part) for part in (*wanted, "- parameters: bytes 1", "`pipe.b`")]
    assert places == sorted(places)


def test_a_circle_that_some_targets_lack_says_which_have_it() -> None:
    circles = [*LISTING["circles"], LISTING["circles"][0] | {"target": "qemu-linux"}]
    targets = [*LISTING["targets"], {"name": "qemu-linux", "description": "another"}]
    page = catalogue.render({"targets": targets, "circles": circles})[PIPE]
    assert page.count("- only on: linux") == 1
    assert page.index("- only on: linux") < page.index("`pipe.b`")


def test_a_stale_catalogue_is_found_at_its_line(tmp_path: Path) -> None:
    pages = catalogue.render(LISTING)
    planted(tmp_path, pages)
    assert list(check_catalogue.compare(tmp_path, pages)) == []
    stale = pages | {PIPE: pages[PIPE].replace("`pipe.b`", "`pipe.c`")}
    line = pages[PIPE][: pages[PIPE].index("`pipe.b`")].count("\n") + 1
    found = [finding.split(" ")[0] for finding in check_catalogue.compare(tmp_path, stale)]
    assert found == [f"{PIPE}:{line}:"]
    assert len(list(check_catalogue.compare(tmp_path / "none", pages))) == len(pages)
    planted(tmp_path, {"docs/catalogue/linux-gone.md": "#\n"})
    assert "linux-gone.md:1: no contract" in next(check_catalogue.compare(tmp_path, pages))


def test_no_catalogue_is_made_where_a_target_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    target = LISTING["targets"][0] | {"missing": "qemu-virt needs a compiler"}
    listing = json.dumps(LISTING | {"targets": [target]})
    command = click.command()(click.option("--json", is_flag=True)(lambda **_: click.echo(listing)))
    monkeypatch.setattr("cyclometer.cli.list.command", command)
    with pytest.raises(RuntimeError, match="the catalogue would lack circles: qemu-virt needs"):
        catalogue.listed()
