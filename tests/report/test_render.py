# SPDX-License-Identifier: BSD-2-Clause
"""Templates: what is not markup is escaped, nothing is needed that is not there, and commands that
write no page do without.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from jinja2 import UndefinedError

from cyclometer.report.html import render

EVIL = "<img src=x onerror=alert(1)>\x1b\ud800"


def sampled(**view: object) -> str:
    known = {"title": "t", "lead": [], "links": [], "changes": [], "sides": [], "levels": []}
    return render.page("profile.html", **(known | view))


def test_text_is_escaped_and_has_no_character_that_a_page_cannot_hold() -> None:
    text = sampled(title=EVIL, lead=[EVIL], links=[render.Link(EVIL, EVIL)], changes=[[EVIL] * 2])
    assert "<img" not in text
    assert text.count("&lt;img src=x onerror=alert(1)&gt;\ufffd\ufffd") >= 4
    text.encode()


def test_commands_in_a_sentence_are_set_as_code() -> None:
    text = sampled(lead=["as `run` measured; `a<b`"])
    assert "as <code>run</code> measured; <code>a&lt;b</code>" in text


def test_what_a_template_needs_must_be_given() -> None:
    with pytest.raises(UndefinedError, match="undefined"):
        render.page("profile.html", title="t")


@pytest.mark.parametrize("path", sorted(render.TEMPLATES.glob("*.html")), ids=lambda p: p.name)
def test_no_template_lets_text_through_or_carries_code_or_style(path) -> None:
    text = path.read_text()
    assert "SPDX-License-Identifier" in text.splitlines()[0]
    assert not re.search(r"<[^>]*\s(style|on\w+)=", text)
    assert "|safe" not in text.replace(" ", "")
    assert "autoescape" not in text


def test_commands_that_write_no_page_load_no_templates() -> None:
    code = (
        "import sys; from cyclometer.cli import cli; "
        "cli(['explain', '--help'], standalone_mode=False); "
        "import cyclometer.report.profile, cyclometer.report.explanation; "
        "sys.exit('jinja2' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
