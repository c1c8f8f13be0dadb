#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs the command MEASURE in the checkout of each side, ROUNDS times, each time for a bundle of its own. Rounds
# begin with either side in turn, so that a machine that becomes slower does not do so to one side.
set -eu
mkdir -p latency/bundles
ROUND=1
while [ "$ROUND" -le "$ROUNDS" ]; do
    order='before after'
    [ $((ROUND % 2)) = 1 ] || order='after before'
    for SIDE in $order; do
        BUNDLE=$PWD/latency/bundles/$SIDE-$ROUND
        export SIDE ROUND BUNDLE
        echo "::group::$SIDE, round $ROUND"
        (cd "$SIDE" && sh -e -c "$MEASURE")
        echo "::endgroup::"
    done
    ROUND=$((ROUND + 1))
done
