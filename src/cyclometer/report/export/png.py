# SPDX-License-Identifier: BSD-2-Clause
"""One chart of one circle as a picture."""

from __future__ import annotations

import re

from cyclometer.errors import NotComparable, UsageError
from cyclometer.report.export import svg
from cyclometer.report.export.request import ExportRequest


def export(request: ExportRequest) -> bytes:
    """A chart of one circle as PNG, at two pixels a unit; wants `pip install
    'cyclometer[report]'`.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise UsageError(
            "PNG wants the package resvg-py; pip install 'cyclometer[report]', or export svg"
        ) from error
    drawing = svg.export(request)
    picture = bytes(resvg_py.svg_to_bytes(svg_string=drawing))
    # Where the machine has no fonts all text is left out without a word: then the drawing without
    # text is the same.
    if picture == bytes(resvg_py.svg_to_bytes(svg_string=re.sub(r"<text.*?</text>", "", drawing))):
        raise NotComparable(
            "this machine has no fonts to write on a picture with; install some, or export svg"
        )
    return picture
