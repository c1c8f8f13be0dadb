# SPDX-License-Identifier: BSD-2-Clause
"""Every error this program raises on purpose, each with the exit code the user is promised.

CyclometerError
├── UsageError              2  the command line or its files cannot mean anything
│   └── BadFile             2  a file is not what it was taken for
├── NotComparable           4  the two sides, or the environment, do not allow the answer
│   └── BrokenPlugin        4  an installed package cannot provide the part that it declares
├── MeasurementFailed       5  the target, its transport or a circle broke down
└── NothingMeasured         6  everything ran and nothing was measured

Any other exception is a defect of this program and exits with 70 (EX_SOFTWARE of sysexits.h), an
OSError that nobody expected, such as a full disk, with 5. `cli.main` does both.

A message is one sentence: what is wrong, where, and what to do.
"""

PASS = 0
REGRESSED = 1
USAGE = 2
UNDECIDED = 3
NOT_COMPARABLE = 4
FAILED = 5
NOTHING = 6
DEFECT = 70


class CyclometerError(Exception):
    """Base of all; `exit_code` is what the process ends with."""

    exit_code = FAILED


class UsageError(CyclometerError):
    exit_code = USAGE


class BadFile(UsageError):
    pass


class NotComparable(CyclometerError):
    exit_code = NOT_COMPARABLE


class BrokenPlugin(NotComparable):
    pass


class MeasurementFailed(CyclometerError):
    exit_code = FAILED


class NothingMeasured(CyclometerError):
    exit_code = NOTHING
