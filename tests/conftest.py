# SPDX-License-Identifier: BSD-2-Clause
"""The same examples in every run, and no deadline: a test turns red with a change, not with the day or the load."""

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")
