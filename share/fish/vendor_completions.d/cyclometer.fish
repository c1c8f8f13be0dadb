# SPDX-License-Identifier: BSD-2-Clause
_CYCLOMETER_COMPLETE=fish_source cyclometer | source
