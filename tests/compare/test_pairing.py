# SPDX-License-Identifier: BSD-2-Clause
"""Which circle answers to which, and every reason why one does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cyclometer.bundle.model import Clock, Flow, Problem, Span, tag_bit
from cyclometer.compare.pairing import Pair, Side, circumstances_apart, pairs, side
from tests.compare.bundles import ICOUNT, Spec, bundle, measured, one_side


def only(found: list[Pair]) -> Pair:
    assert len(found) == 1
    return found[0]


def test_like_circles_pair_and_the_rest_stays_alone_in_order() -> None:
    before = one_side(Spec("a", [1]), Spec("gone", [1]), Spec("b", [1]))
    after = one_side(Spec("b", [2]), Spec("new", [1]), Spec("a", [2]))
    shape = [(p.key, p.before is None, p.after is None) for p in pairs(before, after)]
    assert shape == [
        ("a", False, False),
        ("gone", False, True),
        ("b", False, False),
        ("new", True, False),
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"configuration": {"mcs": "on"}}, "mcs off against on"),
        ({"clock": Clock("tsc", "cycles")}, "clock tsc in ticks against tsc in cycles"),
        ({"clock": ICOUNT}, "icount in instructions (exact)"),
        ({"clock": Clock("tsc", "ticks", 2.4e9)}, "clock rate 2600.0 MHz against 2400.0 MHz"),
        (
            {"contract": {"interval": Span("one_way", "x", "y")}},
            "interval unknown from [] to [] against one_way",
        ),
        ({"contract": {"sequence": ("client: Call",)}}, "sequence none against client: Call"),
        ({"contract": {"params": {"words": "10"}}}, "parameters none against words=10"),
        ({"contract": {"correction": "subtracted"}}, "correction none against subtracted"),
        (
            {"row": {"better": "higher", "method": "reported", "configuration": {"mcs": "off"}}},
            "direction of better",
        ),
    ],
)
def test_unlike_circles_are_refused_with_the_difference(
    change: dict[str, object], reason: str
) -> None:
    plain = {"configuration": {"mcs": "off"}}
    pair = only(
        pairs(one_side(Spec("a", [1], **plain)), one_side(Spec("a", [1], **(plain | change))))
    )  # type: ignore[arg-type]
    assert reason in pair.refusal


def test_a_circle_whose_definition_moved_is_the_same_circle() -> None:
    moved = {"contract": {"source": "linux/circles/channel.c:9"}}
    before, after = one_side(Spec("a", [1])), one_side(Spec("a", [1], **moved))  # type: ignore[arg-type]
    assert only(pairs(before, after)).refusal == ""


def test_a_rate_found_anew_by_each_run_is_one_clock() -> None:
    after = one_side(Spec("a", [1], clock=Clock("tsc", "ticks", 2.6e9 * 1.00002)))
    assert only(pairs(one_side(Spec("a", [1])), after)).refusal == ""


def test_another_machine_is_refused_unless_it_may_differ() -> None:
    before, after = (
        one_side(Spec("a", [1]), cpu_model="EPYC"),
        one_side(Spec("a", [1]), cpu_model="Xeon"),
    )
    assert only(pairs(before, after)).refusal == "cpu EPYC against Xeon"
    assert only(pairs(before, after, {"cpu": None})).refusal == ""


def test_an_emulated_machine_is_the_same_on_any_host() -> None:
    one, other = (
        one_side(Spec("a", [1], clock=ICOUNT), cpu_model=model) for model in ("EPYC", "Xeon")
    )
    assert only(pairs(one, other)).refusal == ""


def test_the_circumstances_that_would_have_to_be_free_are_named() -> None:
    configurations = ({"mcs": "off", "kernel": "1"}, {"mcs": "on", "kernel": "2", "asid": "off"})
    sides = [one_side(Spec("a", [1], configuration=c)) for c in configurations]
    refused = only(pairs(*sides))
    assert circumstances_apart(refused) == ["asid", "mcs"]
    assert (
        circumstances_apart(only(pairs(*sides, dict.fromkeys(circumstances_apart(refused))))) == []
    )
    unlike = one_side(Spec("a", [1], configuration=configurations[1], clock=ICOUNT))
    assert circumstances_apart(only(pairs(sides[0], unlike))) == []


def test_versions_may_differ() -> None:
    before, after = (
        one_side(Spec("a", [1], configuration={"kernel": sha})) for sha in ("1a", "2b")
    )
    assert only(pairs(before, after)).refusal == ""


def test_equal_versions_pair_before_different_ones() -> None:
    specs = [Spec("a", [1], configuration={"kernel": sha}) for sha in ("1a", "2b")]
    found = pairs(one_side(*specs), one_side(*reversed(specs)))
    assert [
        p.before.circumstances == p.after.circumstances for p in found if p.before and p.after
    ] == [True, True]


def test_versions_stay_with_their_own_where_another_option_may_differ() -> None:
    def history(mcs: str) -> Side:
        versions = [{"kernel": sha, "mcs": mcs} for sha in ("1a", "2b", "3c")]
        return one_side(*(Spec("a", [1], configuration=version) for version in versions))

    found = pairs(history("off"), history("on"), {"mcs": None})
    assert len(found) == 3
    assert all(p.before and p.after and not p.refusal for p in found)
    kernels = [(p.before, p.after) for p in found if p.before and p.after]
    assert all(x.circumstances["kernel"] == y.circumstances["kernel"] for x, y in kernels)


def test_two_answers_are_refused_and_the_choice_is_named() -> None:
    before = one_side(Spec("a", [1], configuration={"kernel": "1a"}))
    after = one_side(*(Spec("a", [1], configuration={"kernel": sha}) for sha in ("2b", "3c")))
    refused, extra = pairs(before, after)
    assert "2 circles of the other side" in refused.refusal
    assert "--across" in refused.refusal
    assert extra.before is None


def test_values_across_choose_the_sides_of_one_file() -> None:
    both = one_side(
        *(
            Spec("a", [n], configuration={"state": s})
            for n, s in ((1, "before"), (2, "after"), (3, "other"))
        )
    )
    pair = only(pairs(both, both, {"state": ("before", "after")}))
    assert pair.before is not None
    assert pair.after is not None
    assert [c.estimate.runs[0].latency.value for c in (pair.before, pair.after)] == [1, 2]


def test_flows_tell_the_circles_of_one_bundle_apart() -> None:
    specs = [Spec("a", [n], row={"flow": Flow(n, 0, 1, 5)}) for n in (30, 300)]
    found = pairs(one_side(*specs), one_side(*reversed(specs)))
    values = [
        (p.before.estimate.flow, p.after.estimate.flow) for p in found if p.before and p.after
    ]
    assert values == [(Flow(30, 0, 1, 5),) * 2, (Flow(300, 0, 1, 5),) * 2]


def test_runs_of_several_bundles_are_pooled() -> None:
    bundles = [
        measured({"a": [100, 101, 102]}, seed=1),
        measured({"a": [100, 103], "b": [5, 6]}, seed=2),
    ]
    a, b = side(bundles).circles
    assert [len(c.estimate.runs) for c in (a, b)] == [5, 2]
    assert a.estimate.latency is not None
    assert a.estimate.latency.value == pytest.approx(101.2, abs=0.3)
    assert a.estimate.tests == 300


def test_a_broken_bundle_breaks_the_pool() -> None:
    whole = (
        side([measured({"a": [100, 101]}), measured({"a": [100, 101]}, broken=["a"])])
        .circles[0]
        .estimate
    )
    assert not whole.valid
    assert not whole.failed
    assert whole.reason.startswith("contract broken in 120 of 120 tests")


def test_a_bundle_whose_tests_were_all_disturbed_adds_nothing_to_the_pool() -> None:
    """Unless no bundle has one that counts."""
    whole, disturbed = measured({"a": [100, 101]}), measured({"a": [100, 101]}, seed=2)
    tags = np.full(len(disturbed.samples), tag_bit("shared core"), np.int32)
    disturbed = replace(disturbed, samples=replace(disturbed.samples, tags=tags))
    alone, pool = (side(bundles).circles[0].estimate for bundles in ([whole], [disturbed, whole]))
    assert (pool.valid, pool.tests, pool.runs) == (True, alone.tests, alone.runs)
    assert pool.set_aside == {"shared core": len(tags)}
    none = side([disturbed] * 2).circles[0].estimate
    assert none.drowned
    assert none.set_aside == {"shared core": 2 * len(tags)}


def test_the_environment_of_a_side_is_flat_and_lasting() -> None:
    one = side(
        [
            bundle(Spec("a", [1]), load=[1.0], mitigations={"retbleed": "off"}),
            bundle(Spec("a", [1]), swap=2),
        ]
    )
    assert one.environment == {
        "mitigations.retbleed": "off",
        "swap": "2",
        "target": "linux",
        "tool": "",
    }


def test_a_side_keeps_its_problems_once() -> None:
    problem = Problem("the board is hot", kind="environment")
    assert side([bundle(Spec("a", [1]), problems=[problem])] * 2).problems == (problem,)
