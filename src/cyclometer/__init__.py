# SPDX-License-Identifier: BSD-2-Clause
"""Cyclometer, a latency laboratory for operating-system kernels."""

__version__ = "0.1.0"
