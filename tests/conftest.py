# SPDX-License-Identifier: BSD-2-Clause
"""The same examples in every run: a test turns red with a change, not with the day."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None)
settings.load_profile("repeatable")
