# SPDX-License-Identifier: BSD-2-Clause
"""The circles of linux/: each is found by its key, and a file of one's own adds to them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cyclometer.errors import MeasurementFailed, UsageError
from cyclometer.record.schema import Circle, Contract
from cyclometer.targets import build
from cyclometer.targets.linux.harness import list_circles

TEMPLATE = build.sources() / "linux" / "circles" / "TEMPLATE.c"


def contracts(*added: Path) -> list[Contract]:
    records = list_circles(build.harness(circles=added), [])
    return [record.contract for record in records if isinstance(record, Circle)]


@pytest.fixture(scope="module")
def listed() -> list[Contract]:
    return contracts(TEMPLATE)


def test_a_key_leads_to_its_definition(listed: list[Contract]) -> None:
    files = list((build.sources() / "linux").rglob("*.[ch]"))
    quoted = Counter(key for file in files for key in re.findall(r'"([^"\n]+)"', file.read_text()))
    for contract in listed:
        name, line = contract.source.split(":")
        (file,) = (f for f in files if f.as_posix().endswith(f"circles/{Path(name).name}"))
        definition = file.read_text().splitlines()[int(line) - 1]
        assert definition == f'CIRCLE("{contract.key}") = {{'
        assert quoted[contract.key] == 1


def test_circles_are_listed_by_file_and_line(listed: list[Contract]) -> None:
    own = [c.source.split(":") for c in listed if c.source.startswith("linux/")]
    places = [(file, int(line)) for file, line in own]
    assert places == sorted(places)
    assert len({file for file, _ in places}) > 10


def test_the_template_is_in_no_harness_that_does_not_ask_for_it(listed: list[Contract]) -> None:
    assert [c.key for c in listed if c.key.startswith("template.")] == [
        "template.round_trip.same.equal",
        "template.round_trip.same.equal.gives_3",
    ]
    assert not any(c.key.startswith("template.") for c in contracts())


def test_a_file_of_ones_own_is_called_by_its_name(tmp_path: Path, listed: list[Contract]) -> None:
    mine = tmp_path / "mine.c"
    shutil.copy(TEMPLATE, mine)
    copied = {c.key: c.source for c in contracts(mine)}["template.round_trip.same.equal"]
    original = {c.key: c.source for c in listed}["template.round_trip.same.equal"]
    assert copied == original.replace("TEMPLATE.c", "mine.c")


def test_what_a_file_includes_is_compiled_anew(tmp_path: Path) -> None:
    mine, header = tmp_path / "mine.c", tmp_path / "what.h"
    text = TEMPLATE.read_text().replace("round trip", "ROUND TRIP")
    mine.write_text(
        text.replace('#include "linux_circle.h"', '#include "linux_circle.h"\n#include "what.h"')
    )
    header.write_text("#define GIVES 1\n")
    first = build.harness(circles=[mine])
    assert build.harness(circles=[mine]) == first
    header.write_text("#define GIVES 2\n")
    assert build.harness(circles=[mine]) == first  # nothing uses it
    mine.write_text(mine.read_text().replace(".gives = 3", ".gives = GIVES"))
    second = build.harness(circles=[mine])
    header.write_text("#define GIVES 3\n")
    assert build.harness(circles=[mine]) != second


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (".turns = round_trips,", "", "has either .turns or .pass"),
        ('{"wakeups", 2}', '{"wakeup", 2}', "names a counter that this harness does not have"),
        (".client = 50,", ".client = 500,", "a priority from 1 to 99"),
        ("equal.gives_3", "Equal", "a key is 1 to 95 characters of a-z"),
        (
            "template.round_trip.same.equal.gives_3",
            "syscall.null",
            "another circle has the same key",
        ),
        (".from = ", ".to = ", "needs .title, .sequence, .from and .to"),
    ],
)
def test_a_contract_that_cannot_be_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    mine = tmp_path / "mine.c"
    head, second = TEMPLATE.read_text().split("// The server takes three times")
    assert old in second
    mine.write_text(head + "//" + second.replace(old, new, 1))
    with pytest.raises(UsageError, match=r'^mine\.c:\d+: circle ".*": ') as refused:
        contracts(mine)
    assert said in str(refused.value)


def test_a_compilers_complaint_names_the_line(tmp_path: Path) -> None:
    mine = tmp_path / "mine.c"
    mine.write_text('#include "linux_circle.h"\nint broken(void) { return nothing; }\n')
    with pytest.raises(MeasurementFailed, match=r"mine\.c:2:.* error: .nothing. undeclared"):
        build.harness(circles=[mine])
    mine.write_text("int other(void);\nint (*used)(void) = other;\n")
    with pytest.raises(MeasurementFailed, match=r"undefined reference to `other'"):
        build.harness(circles=[mine])


def test_only_c_files_hold_circles(tmp_path: Path) -> None:
    for path in (tmp_path / "none.c", tmp_path, tmp_path / "x.o"):
        with pytest.raises(UsageError, match=r"is not a C file"):
            build.harness(circles=[path])
