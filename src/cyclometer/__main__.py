# SPDX-License-Identifier: BSD-2-Clause
"""`python -m cyclometer` is `cyclometer`."""

from cyclometer.cli import main

main()
