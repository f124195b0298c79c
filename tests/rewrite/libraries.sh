#!/bin/sh
# By hand: rewrites all kernels of libraries that others built, as they are and with s_nop before a tenth and before
# each of the instructions; every rewritten object is written, read and lifted again. Goes on where it was ended.
# usage: libraries.sh SCAN RESULTS PATH…
#   SCAN     build/tests/rewrite/rewrite_scan
#   RESULTS  a folder for one file a path and number of s_nop; delete a file to repeat it
#   PATH     a library, or a folder of them; TARGET=gfx10-3-generic for those without gfx1030 (rocSOLVER)
# tests/strangers/run makes a chroot with Debian's: ~/.cache/rmcp/chroots/sid/usr/lib/x86_64-linux-gnu/librocblas.so.4 …
set -eu
[ $# -ge 3 ] || { sed -n '2,/^set/s/^# //p' "$0"; exit 2; }
scan=$1 results=$2 failed=0
shift 2
mkdir -p "$results"
for path; do
    for nops in 0 10 100; do
        file=$results/$(basename "$path").$nops
        if [ ! -e "$file" ]; then
            status=0
            "$scan" --target "${TARGET:-gfx1030}" --list --write --avoid-3f --nops $nops "$path" >"$file.part" ||
                status=$?
            [ $status -le 1 ] || { cat "$file.part"; exit $status; }
            [ $status = 0 ] || failed=1
            mv "$file.part" "$file"
        fi
        printf '%s, %s s_nop in 100: ' "$(basename "$path")" $nops
        grep -e '^refused' -e ' objects, ' -e ' MB became ' "$file" | tr '\n' ' '
        echo
    done
done
exit $failed
