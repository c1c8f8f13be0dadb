# SPDX-License-Identifier: BSD-2-Clause
"""The same examples in every run, and no deadline: a test turns red with a change, not with the day
or the load.
"""

import os
import signal

from hypothesis import settings

from tests.pretend import pretend

__all__ = ["pretend"]  # a fixture

# A job in a shell's background begins with SIGINT ignored, and its children would inherit that:
# the tests that interrupt a command need the default, as a terminal gives it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What a pipe shows is as wide as $COLUMNS says, and that is set in workers of pytest-xdist.
os.environ.pop("COLUMNS", None)

settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")
