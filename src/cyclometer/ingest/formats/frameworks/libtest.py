# SPDX-License-Identifier: BSD-2-Clause
"""Rust's libtest: what `#[bench]` functions print under `cargo bench`, and criterion with
`--output-format bencher`.

A line is a run of its benchmark: the median of 50 samples of many iterations, and how far the
largest sample lies above the least, both after the outer 5 % of each end were moved inwards
(library/test/src/bench.rs). MB/s is the median in another unit.
"""

from __future__ import annotations

import re

from cyclometer.ingest.parsed import Collector, Parsed, Settings, number, slug
from cyclometer.ingest.quantities import NS
from cyclometer.ingest.reading import Foreign

NAME = "libtest"
DESCRIPTION = "Rust's libtest: lines of `cargo bench` with #[bench]"

_FIGURE = r"\d[\d,]{0,20}(?:\.\d{1,9})?"
_LINE = re.compile(
    rf"test (\S.{{0,200}}?)\s+\.\.\. bench:\s+({_FIGURE}) ns/iter \(\+/- ({_FIGURE})\)"
    rf"(?: = ({_FIGURE}) MB/s)?"
)
_LIKE_DATA = re.compile(r"\bbench:\s+\d")


def detect(head: bytes, _filename: str) -> int:
    return 95 if re.search(rb"^test \S.{0,200} bench: +[\d,.]+ ns/iter", head, re.M) else 0


def parse(foreign: Foreign, settings: Settings) -> Parsed:
    into = Collector(foreign, settings)
    for at, line in foreign.lines():
        text = line.strip()
        if match := _LINE.fullmatch(text):
            name, median, spread, rate = match.groups()
            into.add(
                ".".join(("libtest", *map(slug, name.split("::")))),
                NS,
                title=name,
                line=at,
                name=name,
                median=median,
                step=10.0 ** -len(median.partition(".")[2]),
                extra={"range_ns": number(spread), "mb_s": number(rate)},
            )
        elif _LIKE_DATA.search(text):
            into.unread(text, at)
    return into.finish(NAME)
