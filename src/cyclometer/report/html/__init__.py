# SPDX-License-Identifier: BSD-2-Clause
"""The report: one HTML file that needs no network; a page a circle, drawn in advance, so that a
script only finds.
"""
