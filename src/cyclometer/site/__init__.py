# SPDX-License-Identifier: BSD-2-Clause
"""A store as static pages: what changed, each circle's history, and any two bundles side by side.

`docs/site.md` describes them. Pages load nothing but files of the site itself.
"""
