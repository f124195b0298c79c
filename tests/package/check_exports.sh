#!/bin/sh
# The functions that the library exports are those that its header declares, no more and no fewer.
# usage: check_exports.sh LIBRARY HEADER
set -eu
. "$(dirname "$0")/../support/lib.sh"

# A declaration may span lines, so the header is read as one: RMCP_API … name(
tr '\n' ' ' <"$2" | grep -o 'RMCP_API [a-z][^(;#]*(' | sed 's/ *($//; s/.*[ *]//' |
    sort >"$work/declared"
nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' |
    grep -v -E '^(__|_init$|_fini$|_edata$|_end$)' | sort >"$work/exported"

n=$(wc -l <"$work/declared")
echo "$n functions declared in $2, $(wc -l <"$work/exported") symbols exported by $1"
[ "$n" -ge 10 ] || die "so few declarations cannot be right"
if ! diff "$work/declared" "$work/exported" >"$work/difference"; then
    sed -n 's/^< /declared but not exported: /p; s/^> /exported but not declared: /p' "$work/difference" >&2
    die "they are not the same"
fi
echo "they are the same"
