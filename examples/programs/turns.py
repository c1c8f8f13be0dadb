#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A program that runs turns on request: cyclometer run --exec ./turns.py

It says that it is ready. Then each line that it reads asks for a number of turns, which may be 0,
and each line that it prints says that they are done.
"""

import os
import sys

print("cyclometer ready", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        os.stat("/")
    print("done", flush=True)
