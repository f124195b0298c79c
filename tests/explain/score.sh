#!/bin/bash
# Scores rmcp explain on the public reports: tests/explain/score.sh [--blind] [BUILD-FOLDER]
# The blind half is for the end, once: who tunes the rules with it makes it worthless.
set -eu
half=open
[ "${1-}" = --blind ] && half=blind && shift
here=$(cd "$(dirname "$0")" && pwd)
exec "${1-$here/../../build}/tests/explain/test_corpus" "$here/corpus" "$half"
