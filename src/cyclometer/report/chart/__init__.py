# SPDX-License-Identifier: BSD-2-Clause
"""Charts of circles as SVG: one file a chart, from samples already reduced to what a reader can
see.
"""
