# SPDX-License-Identifier: BSD-2-Clause
"""A store: many bundles under one URL, with their rows as Parquet tables that anyone reads.

`docs/store.md` describes what lies where. Nothing in a store changes after it was written, so
writers need no lock and readers may keep what they have read (`index`).
"""
