# SPDX-License-Identifier: BSD-2-Clause
"""Estimates in other tools' formats: one exporter a file, found by entry point (group `cyclometer.exporters`).

An exporter is a function from a Request to text or bytes; the first sentence of its docstring describes it.
"""
