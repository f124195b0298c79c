#!/bin/sh
# Installs the library into a folder, compiles the program of docs/api.md with pkg-config, runs it.
# usage: check_docs.sh SOURCE-DIR BUILD-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
source=$1 build=$2
DESTDIR=$work/root meson install -C "$build" --no-rebuild >"$work/log" 2>&1 ||
    { cat "$work/log"; die "it cannot be installed"; }
pc=$(find "$work/root" -name rmcp.pc)
[ -n "$pc" ] || die "no rmcp.pc was installed"
# shellcheck disable=SC2016 # backquotes of Markdown
sed -n '/^```c$/,/^```$/{/^```/d;p}' "$source/docs/api.md" >"$work/program.c"
[ "$(wc -l <"$work/program.c")" -ge 25 ] || die "docs/api.md has no program"
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$work/root"
# Word splitting is wanted: compiler flags.
# shellcheck disable=SC2046
cc -std=c11 -Wall -Wextra -Wpedantic -Werror "$work/program.c" -o "$work/program" \
    $(pkg-config --cflags --libs rmcp)
library=$(dirname "$(find "$work/root" -name librmcp.so)")
printed=$(LD_LIBRARY_PATH=$library RMCP_DEVICE=cpu "$work/program")
echo "$printed"
case $printed in
*"the middle is 108") ;;
*) die "expected 108" ;;
esac
