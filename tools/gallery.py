# SPDX-License-Identifier: BSD-2-Clause
"""Makes docs/gallery.md and its pictures: pages as a browser shows them, made by the commands below
of the measurements kept in docs/pictures/kept.tar.xz, and a chart of each experiment, drawn of the
figures on its page.

`python tools/gallery.py --charts` leaves out what needs a browser.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cyclometer.report.chart import registry
from cyclometer.report.chart.plot import Scale
from cyclometer.report.markup import Markup, join, tag
from findings import ROOT

PICTURES = "docs/pictures"
KEPT = f"{PICTURES}/kept.tar.xz"
GALLERY = "docs/gallery.md"
WIDTH = 1200  # of a browser's window, in pixels
_CALL = "endpoint.round_trip.words_0.cross"


class Page(NamedTuple):
    """A page to look at: what it shows, how it is made, and the part of it that the picture has.
    `anchor` is a pattern of the circle's anchor in it.
    """

    name: str
    caption: str
    command: str
    file: str
    height: int
    anchor: str = ""


class Experiment(NamedTuple):
    """Figures of a page in docs/experiments: the columns that are drawn, of its n-th table."""

    page: str
    caption: str
    unit: str
    columns: tuple[str, ...]
    table: int = 0


PAGES = (
    Page(
        "report",
        "One measurement: every circle (benchmark) of a kernel with its latency, on one scale",
        "cyclometer report default -o report.html",
        "report.html",
        780,
    ),
    Page(
        "comparison",
        "Linux with and without malloc's cache per thread: one session per side gives no verdict",
        "cyclometer report session-08 session-09 -o comparison.html",
        "comparison.html",
        780,
    ),
    Page(
        "circle",
        "The page of one circle of Linux: figures, samples, distribution, and what a turn does",
        "cyclometer report session-08 session-09 -o sessions.html",
        "sessions.html",
        1900,  # all of it, or the browser scrolls to the anchor
        'c[0-9]+-memory-malloc-free-bytes-64[^"]*',
    ),
    Page(
        "explanation",
        "Where one turn goes, by phase, mode, function and cause",
        f"cyclometer explain default {_CALL} -o turn.html",
        "turn.html",
        1300,
    ),
    Page(
        "difference",
        "What a change of configuration costs, as tables and as the flame graph of the change",
        f"cyclometer explain --diff default mcs {_CALL} -o difference.html",
        "difference.html",
        1900,
    ),
    Page(
        "site",
        "A store of 14 sessions: from the ninth on, malloc runs without its cache per thread",
        "cyclometer site store -o public",
        "public/index.html",
        760,
    ),
    Page(
        "history",
        "The same sessions without a store: the history of one circle",
        "cyclometer history . -o history",
        "history",
        700,
    ),
)

EXPERIMENTS = (
    Experiment(
        "caches", "What caches are worth", "ratio of cycles", ("geometric mean of the ratios",)
    ),
    Experiment("cores", "One turn on two cores", "cycles", ("instructions", "cycles")),
    Experiment("layout", "What moving code alone changes", "cycles", ("least", "mean", "greatest")),
    Experiment("big-lock", "One lock, or one per object", "cycles", ("biglock", "fine"), table=1),
    Experiment("linux-6.1-6.12-rt", "Linux 6.1, 6.12 and RT", "instructions", ("before", "after")),
    Experiment("kdiff-mitigations", "Mitigations off, counted", "instructions", ("old", "new")),
    Experiment(
        "tail-of-getpid",
        "The turn of getpid that differs",
        "instructions",
        ("common turn", "differs"),
    ),
    Experiment("linux-on-rtl", "Linux on the RTL of a core", "cycles", ("cycles per turn",)),
    Experiment(
        "sel4", "Where a seL4 round trip goes", "per round trip", ("seL4", "reference kernel")
    ),
    Experiment("sel4bench-mtime", "sel4bench and mtime", "cycles", ("rdtime", "mtime")),
    Experiment("composite-brands", "Composite's brands", "cycles", ("cycles",)),
    Experiment("kbench-accumulated", "KBench's circle", "cycles", ("A/N", "(c + b N)/N")),
)


def text() -> str:
    """docs/gallery.md."""
    lines = [
        "# Gallery",
        "",
        "`tools/gallery.py` makes this page and its pictures from the measurements in",
        f"[kept.tar.xz](pictures/{Path(KEPT).name}) and from the figures of the experiments.",
        "",
        "## Pages",
        "",
        "Each page is one file that loads nothing from the network, and follows the light or dark",
        "mode of your system.",
        "",
    ]
    for page in PAGES:
        lines += [f"{page.caption}:", "", f"    {page.command}", ""]
        lines += [f"![{page.caption}](pictures/{page.name}.png)", ""]
    lines += ["## Experiments", ""]
    for one in EXPERIMENTS:
        lines += [f"[{one.caption}](experiments/{one.page}.md)", ""]
        lines += [f"![{one.caption}](pictures/{one.page}.svg)", ""]
    return "\n".join(lines[:-1]) + "\n"


def figures(root: Path, one: Experiment) -> list[tuple[str, list[float]]]:
    """Rows of an experiment's page: what its first column says, and the drawn figures. A cell of
    several figures is drawn as its first; a row without a figure is left out.
    """
    page = (root / f"docs/experiments/{one.page}.md").read_text()
    heads, *rows = list(_tables(page))[one.table]
    places = [heads.index(column) for column in one.columns]
    found = []
    for row in rows:
        cells = [re.search(r"\d[\d,]*(\.\d+)?", row[place]) for place in places]
        if all(cells):
            values = [float(cell[0].replace(",", "")) for cell in cells if cell]
            found.append((", ".join(row[: min(places)]) if one.page == "cores" else row[0], values))
    return found


def _tables(page: str) -> Iterator[list[list[str]]]:
    """Every table of a page, its heads first: in Markdown, or as a command printed it."""
    for block in re.findall(r"(?:^\|.*\n)+", page, re.M):
        heads, _, *rows = block.splitlines()
        yield [
            [re.sub(r"[`*]", "", c).strip() for c in r.strip("|").split("|")]
            for r in (heads, *rows)
        ]
    for block in re.findall(r"^    circle +.*\n(?:    \S.*\n)+", page, re.M):
        yield [re.split(r"\s{2,}", line.strip()) for line in block.splitlines()]


def chart(root: Path, one: Experiment) -> str:
    """The figures as dots on a logarithmic scale, a line for each row, as an SVG file."""
    rows = figures(root, one)
    plot_px, line_px, top_px = 420, 22, 52
    label_px = max(260, 24 + 6.4 * max(len(name) for name, _ in rows))
    values = [value for _, row in rows for value in row if value > 0]
    scale = Scale(min(values) * 0.8, max(values) * 1.25, label_px, label_px + plot_px, log=True)
    width, height = label_px + plot_px + 60, top_px + line_px * len(rows) + 12
    parts = [
        tag("title", f"{one.caption}, {one.unit}"),
        tag("style", Markup(registry.style())),
        tag("rect", cls="ground", x=0, y=0, width=width, height=height),
        tag("text", f"{one.caption} [{one.unit}]", cls="title", x=8, y=18),
        *_legend(one.columns, label_px),
    ]
    for tick in scale.ticks(5):
        x = scale(tick)
        parts.append(tag("line", cls="grid", x1=x, x2=x, y1=top_px - 4, y2=height - 8))
        parts.append(tag("text", f"{tick:g}", cls="middle label", x=x, y=top_px - 8))
    for place, (name, row) in enumerate(rows):
        y = top_px + line_px * place + line_px / 2
        parts.append(tag("line", cls="grid", x1=label_px, x2=label_px + plot_px, y1=y, y2=y))
        parts.append(tag("text", name, cls="end", x=label_px - 10, y=y + 4))
        parts += [
            tag(
                "g",
                tag("title", f"{value:g}"),
                tag("circle", cls="dot", cx=scale(value), cy=y, r=4),
                cls=f"s{i}",
            )
            for i, value in enumerate(row)
            if value > 0
        ]
    box = f"0 0 {width} {height}"
    return (
        tag(
            "svg",
            join(parts),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=box,
            width=width,
            height=height,
        )
        + "\n"
    )


def _legend(columns: tuple[str, ...], x: float) -> Iterator[Markup]:
    for index, column in enumerate(columns if len(columns) > 1 else ()):
        dot = tag("circle", cls="dot", cx=x + 4, cy=14, r=4)
        yield tag("g", dot, tag("text", column, x=x + 12, y=18), cls=f"s{index}")
        x += 30 + 7 * len(column)


def photograph(folder: Path, out: Path) -> None:
    """Makes every page of PAGES in `folder`, where the kept bundles are, and its picture."""
    env = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    sessions = sorted(path.name for path in folder.glob("session-*"))
    run = ["cyclometer", "store"]
    for words in (["init", "store"], ["push", "store", *sessions]):
        subprocess.run([*run, *words], cwd=folder, env=env, check=True, capture_output=True)
    for page in PAGES:
        words = shlex.split(page.command)
        if words[1] == "history":  # of the sessions alone
            words[2:3] = sessions
        subprocess.run(words, cwd=folder, env=env, check=True, capture_output=True)
        path = folder / page.file
        if path.is_dir():  # of a history, the circle with most changes
            path = max(path.glob("circle/*.html"), key=lambda p: p.read_text().count("regressed"))
        address = path.as_uri()
        if page.anchor:
            found = re.search(f'id="({page.anchor})"', path.read_text())
            assert found is not None, page.anchor
            address += f"#{found[1]}"
        _shoot(address, page.height, out / f"{page.name}.png")


def _shoot(address: str, height: int, out: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is not installed; run `make setup-all`")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    size = f"--window-size={WIDTH},{height}"
    subprocess.run(
        [browser, *options, size, f"--screenshot={out}", address], check=True, capture_output=True
    )


def main() -> None:
    (ROOT / GALLERY).write_text(text())
    for one in EXPERIMENTS:
        (ROOT / PICTURES / f"{one.page}.svg").write_text(chart(ROOT, one))
    if sys.argv[1:] == ["--charts"]:
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(ROOT / KEPT) as kept:
            kept.extractall(folder, filter="data")
        photograph(Path(folder), ROOT / PICTURES)


if __name__ == "__main__":
    main()
