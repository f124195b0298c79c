#!/bin/sh
# What both files of the drop-in export, need and are called.
# usage: check_exports.sh functions.txt libMIOpen.so.1 wheel/libMIOpen.so
# check_headers.sh compares functions.txt with the original's files.
set -eu
. "$(dirname "$0")/../support/lib.sh"
need nm readelf sha256sum
list=$1
shift
export LC_ALL=C

awk '/^miopen/ { print $1 }' "$list" | sort >"$work/names"
[ "$(uniq -d "$work/names" | wc -l)" = 0 ] || fail "a name is listed twice"
implemented=$(awk '/^miopen/ && $3 == "yes"' "$list" | wc -l)
expect 0 awk '/^#/ { next }
    NF != 3 || $1 !~ /^miopen[A-Za-z0-9_]+$/ || ($2 != "6.4.3" && $2 != "7.2.4") || $3 !~ /^(yes|no)$/ {
        print; bad = 1
    }
    END { exit bad }' "$list"

# The names that 6.4.3 and 7.2.4 export, as a sum: nothing is forgotten, nothing is made up.
sum() { sort | sha256sum | cut -c1-64; }
n_checks=$((n_checks + 2))
[ "$(awk '/^miopen/ && $2 == "6.4.3" { print $1 }' "$list" | sum)" = \
    52e77625638beb0deb8543e50cb7622501baa03e05406fee7f4ad0cdf84763f5 ] ||
    fail "these are not the 263 functions of 6.4.3"
[ "$(sum <"$work/names")" = 15b7fcc407ac2a137c7dcd4221123fdb27d55bbb58a46a942cb7d52c99312c53 ] ||
    fail "these are not the 271 functions of 7.2.4"

for file; do
    # Every function, under the one version node, and nothing else.
    nm -D --defined-only "$file" >"$work/symbols"
    sed -n 's/^[0-9a-f]* T \(.*\)@@MIOPEN_HIP_1$/\1/p' "$work/symbols" | sort >"$work/exported"
    n_checks=$((n_checks + 1))
    diff "$work/names" "$work/exported" >"$work/out" || fail "$file: listed (<) and exported (>)"
    grep -Ev ' T miopen.*@@MIOPEN_HIP_1$| A MIOPEN_HIP_1(@@MIOPEN_HIP_1)?$' "$work/symbols" >"$work/out" &&
        fail "$file exports more"
    readelf -W --version-info "$file" | sed -n '/^Version definition/,/^Version needs/s/.*Name: //p' >"$work/out"
    [ "$(tail -n 1 "$work/out")" = MIOPEN_HIP_1 ] && [ "$(wc -l <"$work/out")" = 2 ] || fail "$file: its version nodes"

    # The name that programs know it by.
    readelf -W -d "$file" >"$work/out"
    case $file in
    */wheel/*) name=libMIOpen.so ;;
    *) name=libMIOpen.so.1 ;;
    esac
    has "SONAME.*\[$name\]"
    # Needed in every process that preloads it: nothing but the C library. No search path that a move would break.
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/out" |
        grep -Evx 'lib(c|dl|pthread|m)\.so\.[0-9]+|ld-linux-x86-64\.so\.2' >"$work/err" &&
        fail "$file needs more than the C library"
    grep -E '\((RPATH|RUNPATH)\)' "$work/out" | grep -v 'ORIGIN' >"$work/err" &&
        fail "$file has a search path of its own"
    grep -q TEXTREL "$work/out" && fail "$file has text relocations"
    n_checks=$((n_checks + 5))
    say "$file: $(wc -l <"$work/exported") functions"
done
say "$implemented of $(wc -l <"$work/names") functions are implemented"
[ "$implemented" -ge 100 ] || fail "that few?"
finish exports
