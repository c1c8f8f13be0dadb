# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with the data of a bundle before anyone argues about it: `check` applies RULES to
rows and samples.
"""

from __future__ import annotations

from cyclometer.bundle.model import Bundle
from cyclometer.lint import claims, pairs, shape, values
from cyclometer.lint.view import Issue, Rule, View

__all__ = ["RULES", "Issue", "Rule", "View", "check"]

RULES: tuple[Rule, ...] = (*values.RULES, *shape.RULES, *pairs.RULES, *claims.RULES)


def check(bundle: Bundle, rules: tuple[Rule, ...] = RULES) -> list[Issue]:
    """Every finding of the rules, in the rules' order."""
    view = View(bundle)
    return [finding for rule in rules for finding in rule.check(rule, view)]
