#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Installs the Cyclometer that this action is part of, for the steps that follow.
set -eu
python3 -m venv "$RUNNER_TEMP/cyclometer"
"$RUNNER_TEMP/cyclometer/bin/pip" install --quiet "$ACTION/.."
echo "$RUNNER_TEMP/cyclometer/bin" >> "$GITHUB_PATH"
