#!/bin/sh
# By hand, about six minutes of two cores the first time: the kernels of every target are compiled, proved
# and packed, and the tests that look at compiled kernels run on all of them. Changes are tested with the
# three targets that `./setup.sh test` compiles; a release wants this. usage: tests/kernels/all_targets.sh
set -eu
cd "$(dirname "$0")/../.."
./setup.sh release
meson test -C build-release --print-errorlogs 'kernels images' 'kernels families' \
    'kernels comgr takes our code objects' 'kernels prove' 'driver hip command'
