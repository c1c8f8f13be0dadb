#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Writes the comment. The code of the pull request wrote what the artifact holds, so nothing in it is believed: the
# number has to name a pull request whose head was measured, and the text mentions nobody.
set -eu
number=$(head -c 20 latency/number)
case $number in
    '' | *[!0-9]*) echo "::error::the artifact names no pull request"; exit 1 ;;
esac
head=$(gh api "repos/$GITHUB_REPOSITORY/pulls/$number" --jq .head.sha)
if [ "$head" != "$HEAD_SHA" ]; then
    echo "pull request $number has another head than the one that was measured; no comment"
    exit 0
fi
head -c 60000 latency/gate.md | iconv -c -f UTF-8 -t UTF-8 | sed 's/@/\&#64;/g' > comment.md
gh pr comment "$number" --repo "$GITHUB_REPOSITORY" --body-file comment.md --edit-last --create-if-none
