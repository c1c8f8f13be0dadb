# SPDX-License-Identifier: BSD-2-Clause
"""A latency laboratory for operating-system kernels."""

__version__ = "0.1.0"
