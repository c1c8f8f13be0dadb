# SPDX-License-Identifier: BSD-2-Clause
"""The report: one HTML file that needs no network; one page per circle, drawn in advance, so that a
script only finds.
"""
