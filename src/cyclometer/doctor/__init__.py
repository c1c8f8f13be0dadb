# SPDX-License-Identifier: BSD-2-Clause
"""Says what the machine does to measurements, and changes what can be changed, reversibly."""
