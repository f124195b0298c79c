#!/bin/sh
# The files run with glibc 2.34 (RHEL 9; Ubuntu 22.04 has 2.35), or GLIBC_NEWEST: none needs a symbol of a later
# version.
# usage: check_glibc.sh FILE…
set -eu
. "$(dirname "$0")/../support/lib.sh"
newest=${GLIBC_NEWEST:-2.34}
for file; do
    versions=$(objdump -T "$file" | grep -o 'GLIBC_[0-9][0-9.]*' | sed 's/GLIBC_//' | sort -uV)
    [ -n "$versions" ] || die "$file names no version of glibc at all"
    needs=$(echo "$versions" | tail -n 1)
    echo "$file needs glibc $needs, allowed is $newest"
    if [ "$(printf '%s\n%s\n' "$needs" "$newest" | sort -V | tail -n 1)" != "$newest" ]; then
        objdump -T "$file" | grep "GLIBC_$needs)" >&2
        die "these are too new"
    fi
done
