#!/bin/sh
# The functions that the library exports are those that its header declares, no more and no fewer.
# usage: check_exports.sh LIBRARY HEADER
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A declaration may span lines, so the header is read as one: RMCP_API … name(
tr '\n' ' ' <"$2" | grep -o 'RMCP_API [a-z][^(;#]*(' | sed 's/ *($//; s/.*[ *]//' |
    sort >"$folder/declared"
nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' |
    grep -v -E '^(__|_init$|_fini$|_edata$|_end$)' | sort >"$folder/exported"

n=$(wc -l <"$folder/declared")
echo "$n functions declared in $2, $(wc -l <"$folder/exported") symbols exported by $1"
if [ "$n" -lt 10 ]; then
    echo "FAIL: so few declarations cannot be right" >&2
    exit 1
fi
if ! diff "$folder/declared" "$folder/exported" >"$folder/difference"; then
    sed -n 's/^< /FAIL: declared but not exported: /p; s/^> /FAIL: exported but not declared: /p' \
        "$folder/difference" >&2
    exit 1
fi
echo "they are the same"
