#!/bin/sh
# Every shell script of the project under shellcheck. Exit status 77 (skip) without it.
# usage: check_shell.sh SOURCE-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
need shellcheck
cd "$1"
# By name, or by the first line; build folders and what git ignores are not ours.
find . -name '.?*' -prune -o -name 'build*' -type d -prune -o -type f -size -200k -print |
    while IFS= read -r file; do
        case $file in
        *.sh) echo "$file" ;;
        *.*) ;;
        *) head -n 1 "$file" | LC_ALL=C grep -q -a '^#!/bin/\(ba\)\{0,1\}sh' && echo "$file" ;;
        esac
    done >"$work/scripts"
[ "$(wc -l <"$work/scripts")" -ge 20 ] || die "so few scripts cannot be right"
while IFS= read -r file; do
    # A file to be sourced sets variables for others.
    set -- -S warning
    head -n 1 "$file" | grep -q '^#!' || set -- "$@" -e SC2034
    expect 0 shellcheck "$@" "$file"
done <"$work/scripts"
finish shellcheck
