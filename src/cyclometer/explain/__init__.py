# SPDX-License-Identifier: BSD-2-Clause
"""Where one turn of a circle spent its time: every step of the clock belongs to one instruction and
one cause.
"""
