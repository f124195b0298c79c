#!/bin/sh
# The drop-in against the original's own packages, of two releases: its headers and what it exports.
# usage: check_headers.sh SOURCE-FOLDER COMPILER…
# Skipped where the packages cannot be downloaded.
set -eu
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
source=$1
shift
need apt-get dpkg nm
ours=$source/src/dropin/miopen
here=$source/tests/miopen
warnings="-Wall -Wextra -Werror -Wno-switch" # a switch may know an enumerator of the other release
flags="-std=c11 -D_POSIX_C_SOURCE=200809L -D__HIP_PLATFORM_AMD__"

# compiler ARGUMENTS…: with our folders.
compiler() { $command "$@" -I"$source/src" -I"$source/include" -I"$work"; }
command=$*
"$source/tools/miopen/generate.sh" slots "$ours/functions.txt" >"$work/slots.inc"

# prototypes FILE ARGUMENTS…: every function that a header declares, with its types; a const around a parameter
# itself is no part of them.
prototypes() {
    out=$1
    shift
    echo '#include "dropin/miopen/api.h"' >"$work/one.c"
    # shellcheck disable=SC2086 # a list of flags
    compiler $flags "$@" -aux-info "$work/all" -fsyntax-only "$work/one.c" || return 1
    sed -n 's|^/\*.*\*/ extern \(.*miopen.*\);.*|\1|p' "$work/all" |
        sed -E 's/const ([A-Za-z0-9_]+( int)?) ([,)])/\1\3/g; s/_Bool/bool/g' |
        grep -o '^.* \**miopen[A-Za-z0-9_]* (.*' | sort -u >"$out"
}
functions() { grep -o 'miopen[A-Za-z0-9_]* (' "$1" | sort -u; }

# Ours: prototypes, and the enumerators.
prototypes "$work/ours" || die "our own header does not compile"
[ "$(wc -l <"$work/ours")" -gt 90 ] || die "the compiler lists $(wc -l <"$work/ours") functions only"
grep -ohE '\b(miopen|MIOPEN_)[A-Za-z0-9_]+ *= *[^=]' "$ours"/api*.h | grep -oE '^[A-Za-z0-9_]+' | sort -u >"$work/names"
[ "$(wc -l <"$work/names")" -gt 80 ] || die "$(wc -l <"$work/names") enumerators only"

sed 's/.*/E(&)/' "$work/names" >"$work/enumerators"
# shellcheck disable=SC2086
compiler $flags -DENUMERATORS="\"$work/enumerators\"" "$here/header_layout.c" -o "$work/layout" ||
    die "header_layout.c does not compile"
"$work/layout" >"$work/ours.values"

check_functions() {
    functions "$work/ours" >"$work/ours.names"
    functions "$work/theirs" >"$work/theirs.names"
    comm -12 "$work/ours.names" "$work/theirs.names" >"$work/common"
    while read -r name; do
        n_checks=$((n_checks + 1))
        grep -F " $name" "$work/ours" >"$work/out" || grep -F "*$name" "$work/ours" >"$work/out"
        grep -F " $name" "$work/theirs" >"$work/err" || grep -F "*$name" "$work/theirs" >"$work/err"
        cmp -s "$work/out" "$work/err" || fail "$release: another type than the original's"
    done <"$work/common"
    comm -23 "$work/ours.names" "$work/theirs.names" >>"$work/missing.functions"
    say "$version: $(wc -l <"$work/common") functions' types compared"
}

# What a name means in both; those that this release does not have are left to the other one.
check_values() {
    echo '#include "dropin/miopen/api.h"' >"$work/one.c"
    # shellcheck disable=SC2086
    compiler $flags $theirs -E "$work/one.c" | grep -oE '[A-Za-z0-9_]+' | sort -u >"$work/words"
    comm -12 "$work/names" "$work/words" >"$work/known"
    comm -23 "$work/names" "$work/words" >>"$work/missing.names"
    sed 's/.*/E(&)/' "$work/known" >"$work/enumerators"
    for side in ours theirs; do
        extra=
        [ $side = ours ] || extra=$theirs
        # shellcheck disable=SC2086
        compiler $flags $extra -DENUMERATORS="\"$work/enumerators\"" "$here/header_layout.c" -o "$work/layout" ||
            die "$release: header_layout.c does not compile ($side)"
        "$work/layout" >"$work/$side.layout"
    done
    n_checks=$((n_checks + $(wc -l <"$work/ours.layout")))
    diff "$work/ours.layout" "$work/theirs.layout" >"$work/out" || fail "$release: other sizes or numbers"
    say "$version: $(wc -l <"$work/ours.layout") sizes, places and numbers compared"
}

# Every definition of ours, compiled after the original's declarations. What only the other release has is given as
# ours; enumerations are ints.
check_sources() {
    n=0
    for name in $(comm -23 "$work/names" "$work/words"); do
        echo "enum { $name = $(sed -n "s/^$name //p" "$work/ours.values") };"
    done >"$work/newer.h"
    grep -ohE '^} miopen[A-Za-z0-9_]+_t;' "$ours"/api*.h | grep -oE 'miopen[A-Za-z0-9_]+' | sort -u |
        comm -23 - "$work/words" |
        sed 's/.*/typedef unsigned &;/' >>"$work/newer.h"
    for file in "$ours"/*.c; do
        [ -e "$file" ] || continue
        n=$((n + 1))
        # shellcheck disable=SC2086
        expect 0 compiler $flags $warnings $theirs -include "$work/newer.h" -fsyntax-only "$file"
    done
    say "$version: $n files compiled with the original's header"
}

check_exports() {
    file=$debian/root/usr/lib/x86_64-linux-gnu/libMIOpen.so.1
    nm -D --defined-only "$file" | sed -n 's/.* T \(miopen[A-Za-z0-9_]*\)@@MIOPEN_HIP_1$/\1/p' |
        LC_ALL=C sort -u >"$work/exported"
    case $version in
    6.4.3*) awk '/^miopen/ && $2 == "6.4.3" { print $1 }' "$ours/functions.txt" ;;
    *) awk '/^miopen/ { print $1 }' "$ours/functions.txt" ;;
    esac | LC_ALL=C sort -u >"$work/listed"
    n_checks=$((n_checks + 1))
    diff "$work/listed" "$work/exported" >"$work/out" || case $version in
    6.4.3* | 7.2.4*) fail "$release: functions.txt (<) and what the original exports (>) differ" ;;
    *) say "$version has functions that nobody has looked at:" && grep '^>' "$work/out" ;;
    esac
    say "$version: $(wc -l <"$work/exported") exported functions"
}

: >"$work/missing.functions"
: >"$work/missing.names"
n_releases=0
for release in sid experimental; do
    mkdir "$work/$release"
    debian_open "$work/$release" "$release"
    hip=$([ $release = sid ] && echo libamdhip64-dev) || hip= # HIP's own headers, for both
    # shellcheck disable=SC2086
    debian_unpack libmiopen-dev libmiopen1 $hip
    version=$(basename "$work/$release"/debs/libmiopen-dev_*.deb | sed 's/.*dev_\([^_]*\)_.*/\1/')
    include=$work/$release/root/usr/include
    # The original's header is C++ in one respect: default arguments. Without them it is C as well.
    sed -i -E 's/ += (-1|0|false|nullptr)(,|\))/\2/' "$include/miopen/miopen.h"
    theirs="-DRMCP_MIOPEN_HEADER=<miopen/miopen.h> -isystem $include -isystem $work/sid/root/usr/include"
    # shellcheck disable=SC2086
    prototypes "$work/theirs" $theirs || die "$release: the original's header does not compile"
    check_functions
    check_values
    check_sources
    check_exports
    n_releases=$((n_releases + 1))
done

# What neither release has is ours alone, and should not be there; api.h declares three of them itself.
for list in functions names; do
    sort "$work/missing.$list" | uniq -c | awk -v n="$n_releases" '$1 == n { print $2 }' >"$work/out"
    [ ! -s "$work/out" ] || fail "no release has these $list"
done
finish "headers of $n_releases releases"
