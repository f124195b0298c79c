#!/bin/sh
# Builds all packages twice, from copies of the last commit in two folders of different names, and compares them byte by
# byte; by hand: minutes of compiling for each kernel target.
# usage: reproducible.sh [FOLDER]   where to build; kept and reused (default: ~/.cache/rmcp/reproducible)
# RMCP_KERNEL_TARGETS=gfx1010 compiles kernels for some targets only.
set -eu
. "$(dirname "$0")/../support/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/rmcp/reproducible}
need git
commit=$(git -C "$source" rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
export SOURCE_DATE_EPOCH
for place in "$folder/one" "$folder/another place/two"; do
    if [ "$(cat "$place/built" 2>/dev/null)" != "$commit ${RMCP_KERNEL_TARGETS-all}" ]; then
        say "building in $place"
        mkdir -p "$place"
        find "$place" -mindepth 1 -maxdepth 1 ! -name build ! -name build-release ! -name build-debian -exec rm -rf {} +
        rm -rf "$place/build-package"
        git -C "$source" archive "$commit" | tar -C "$place" -xf -
        # Other clocks, users' rights and places of temporary files, too.
        mkdir -p "$place/build-tmp"
        (umask "$([ "${place##*/}" = one ] && echo 022 || echo 077)" && cd "$place" &&
            TMPDIR=$PWD/build-tmp ./setup.sh package)
        echo "$commit ${RMCP_KERNEL_TARGETS-all}" >"$place/built"
    fi
done
for file in "$folder/one/build-package"/*; do
    n_checks=$((n_checks + 1))
    if cmp "$file" "$folder/another place/two/build-package/${file##*/}"; then
        say "the same: $(sha256sum <"$file" | cut -c 1-16) ${file##*/}"
    else
        fail "${file##*/} is not the same"
    fi
done
[ "$n_checks" -ge 9 ] || die "so few packages cannot be right"
finish "two builds"
