#!/bin/sh
# The drop-in takes its engine's tensors by name, whatever their order, and refuses an engine of another version in one
# line.
# usage: check_engine.sh CLIENT FAKE ALONE LIBRMCP, where FAKE and ALONE are made from fake_engine.c
set -u
client=$1 fake=$2 alone=$3 librmcp=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
export RMCP_DEVICE=cpu
unset RMCP_LOG MIOPEN_LOG_LEVEL MIOPEN_ENABLE_LOGGING

# The version that the drop-in needs: the one of the library that is built with it.
header=$(dirname "$0")/../../include/rmcp.h
part() { sed -n "s/^#define RMCP_VERSION_$1 //p" "$header"; }
version=$(part MAJOR).$(part MINOR).$(part PATCH)

# expect WHAT STATUS... of the handle, forward, backward; leaves what was said in $folder/said.
expect() {
    what=$1
    shift
    printf 'handle: %s\nforward: %s\nbackward: %s\n' "$@" >"$folder/wanted"
    "$client" >"$folder/got" 2>"$folder/said"
    if ! cmp -s "$folder/wanted" "$folder/got"; then
        echo "$what: expected"
        cat "$folder/wanted"
        echo "got"
        cat "$folder/got" "$folder/said"
        failed=1
    fi
}

# said N WORD...: so many lines, with all of the words.
said() {
    lines=$1
    shift
    if [ "$(wc -l <"$folder/said")" != "$lines" ]; then
        echo "$what: $lines lines expected, not"
        cat "$folder/said"
        failed=1
    fi
    for word in "$@"; do
        grep -qF -- "$word" "$folder/said" && continue
        echo "$what: nothing of '$word' in"
        cat "$folder/said"
        failed=1
    done
}

well="miopenStatusSuccess miopenStatusSuccess miopenStatusSuccess"
refused="miopenStatusVersionMismatch miopenStatusBadParm miopenStatusBadParm"
misfit="miopenStatusSuccess miopenStatusVersionMismatch miopenStatusVersionMismatch"

# shellcheck disable=SC2086 # the statuses are words
{
    RMCP_LIBRARY=$librmcp expect "the engine itself" $well
    said 0

    export RMCP_LIBRARY="$fake"
    FAKE_VERSION=$version expect "the same version" $well
    said 0
    FAKE_VERSION=${version%.*}.999 expect "a later patch" $well
    said 0
    for other in 9.9.9 "${version%%.*}.999.0" 0.0.1 later; do
        FAKE_VERSION=$other expect "version $other" $refused
        said 1 "$fake" "version $other" "needs version $version" RMCP_LIBRARY
    done
    FAKE_VERSION=9.9.9 RMCP_LOG=0 expect "version 9.9.9, not a word wanted" $refused
    said 0

    export FAKE_VERSION="$version"
    FAKE_SLOTS=turned expect "tensors in another order" $well
    said 0
    FAKE_SLOTS=renamed expect "tensors of other names" $misfit
    said 1 "$fake" "version $version" "has no tensor 'x' in act:4" RMCP_LIBRARY

    RMCP_LIBRARY=$alone expect "an engine that lacks functions" $refused
    said 1 "$alone" "has no rmcp_" "needs version $version"
}
[ $failed = 0 ] && echo "ok: by name, and of one version"
exit $failed
