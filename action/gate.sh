#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Judges the bundles, puts the table into the job's summary, and leaves the decision to the step that follows:
# what was measured is uploaded also if it fails.
set -u
code=0
cyclometer gate latency/bundles/before-* -- latency/bundles/after-* --margin "$MARGIN" --markdown \
    > latency/gate.md || code=$?
[ -s latency/gate.md ] || echo "\`cyclometer gate\` ended with $code and printed no table." > latency/gate.md
cat latency/gate.md >> "$GITHUB_STEP_SUMMARY"
echo "$NUMBER" > latency/number
echo "code=$code" >> "$GITHUB_OUTPUT"
