# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps: a plan names axes, their product are tasks, and any engine runs those that a store lacks.

`docs/sweep.md` describes plans and engines. A task is named by a digest of everything that decides
its result, so that nothing is measured twice, wherever and by whomever it was measured first.
"""
