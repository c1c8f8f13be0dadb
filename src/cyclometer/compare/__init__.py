# SPDX-License-Identifier: BSD-2-Clause
"""Comparisons: what changed between two measurements, and how sure that is."""
