# SPDX-License-Identifier: BSD-2-Clause
"""Estimators: pure functions from numpy arrays to frozen dataclasses, one file each."""
