#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs the command BUILD in the checkout of each side.
set -eu
for SIDE in before after; do
    export SIDE
    echo "::group::build $SIDE"
    (cd "$SIDE" && sh -e -c "$BUILD")
    echo "::endgroup::"
done
