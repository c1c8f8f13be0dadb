# SPDX-License-Identifier: BSD-2-Clause
"""Pages from `templates/`: what is not Markup is escaped, and no page loads anything but, in a
site, the site's own files.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cyclometer import __version__
from cyclometer.report.chart import registry
from cyclometer.report.markup import Markup, clean, join, tag

TEMPLATES = Path(__file__).with_name("templates")
SYMBOLS = {
    "regressed": "▲",
    "over margin": "▲",
    "improved": "▼",
    "changed": "±",
    "equivalent": "=",
    "undecided": "?",
    "added": "+",
    "removed": "\u2212",
    "failed": "✕",
    "invalid": "✕",
    "not comparable": "≠",
    "valid": "✓",
}
"""Of each verdict, so that colour is not needed to read it."""
_STAYS = "This file is complete: it loads nothing from anywhere."
_OF_SITE = "A static site: it loads nothing but its own files."


class Link(NamedTuple):
    """An entry of a page's navigation."""

    address: str
    words: str


def page(template: str, script: str = "", of_site: bool = False, **view: Any) -> str:
    """A whole document, to be written as UTF-8. `template` and `script` are names in `templates/`;
    a script of a site's page may load files of the site.
    """
    style = registry.style() + _file("style.css")
    code = _file(script) if script else ""
    return (
        _environment()
        .get_template(template)
        .render(
            view,
            policy=Markup(_policy(style, code, of_site)),
            style=Markup(style),
            script=Markup(code),
            version=__version__,
            footer=_OF_SITE if of_site else _STAYS,
        )
    )


def css_class(verdict: str) -> str:
    """A verdict as the stylesheet names it."""
    return verdict.replace(" ", "-")


def breakable(name: str) -> Markup:
    """A name that may go on in the next line after its dots and slashes rather than anywhere."""
    pieces = re.findall(r"[^./_]*[./_]?", name)
    return join(part for piece in pieces for part in (piece, tag("wbr")) if piece)


def prose(words: str) -> Markup:
    """A sentence whose `commands` are set as code."""
    pieces = words.split("`")
    return join(tag("code", piece) if i % 2 else piece for i, piece in enumerate(pieces) if piece)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_printed,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"breakable": breakable, "css_class": css_class, "prose": prose}
    made.globals["SYMBOLS"] = SYMBOLS
    return made


def _printed(value: object) -> object:
    """What an expression of a template prints: None is nothing, and no character but text's."""
    if value is None:
        return ""
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _file(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _policy(style: str, script: str, of_site: bool) -> str:
    """Nothing from anywhere, but a site's own scripts; of styles and scripts in the page only the
    two whose digest is named.
    """
    digests = [
        base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        for part in (style, script)
    ]
    own = " 'self'" if of_site and script else ""
    allowed = (
        f"style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'{own}; img-src data:"
    )
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
