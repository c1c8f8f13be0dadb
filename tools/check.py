# SPDX-License-Identifier: BSD-2-Clause
"""Runs every one-rule check of this folder in one process; 0 if none finds anything.

`check_catalogue.py` needs compilers and emulators, so `make test` runs it, not `make lint`.
"""

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
from findings import run

CHECKS = (
    check_spdx.check,
    check_version.check,
    check_dependencies.check,
    check_core_freestanding.check,
    check_comments.check,
    check_units.check,
    check_functions.check,
    check_names.check,
    check_kernel_figures.check,
    check_commands.check,
)

if __name__ == "__main__":
    run(*CHECKS)
