#!/bin/bash
# By hand: every code object of Debian's ROCm libraries, read, written in two ways (in place; with all functions
# moved apart) and read again; a part of them compared by LLVM's tools; ggml's and rocBLAS's own programs run with
# written libraries on the simulated card. Goes on where it was ended; prints a table (docs/codeobj.md).
#
# usage: write_debian.sh [OPTIONS] BUILD-FOLDER
#   --every N      LLVM's tools look at every N-th object for gfx10 (default 30)
#   --ops NAME,…   ggml's operators that are run (default ADD,SOFT_MAX,NORM,ROPE,GET_ROWS,ARGSORT)
#   --problems N   every N-th problem of tests/strangers/rocblas.txt is run (default 9)
#   --table        prints what was found, and runs nothing
# Needs root, debootstrap, a mirror, 12 GB, LLVM 19; half an hour. Exit status 77 (skip) without them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/lib.sh"
every=30 ops=ADD,SOFT_MAX,NORM,ROPE,GET_ROWS,ARGSORT problems=9 table=
while [ $# -gt 1 ]; do
    case $1 in
    --every) every=$2 && shift ;;
    --ops) ops=$2 && shift ;;
    --problems) problems=$2 && shift ;;
    --table) table=1 ;;
    *) break ;;
    esac
    shift
done
[ $# = 1 ] && [ -d "$1" ] || { sed -n '2,14s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
build=$(cd "$1" && pwd)
rewrite=$build/tests/codeobj/codeobj_rewrite
results=$build/write-debian
mkdir -p "$results"
names="rocblas ggml rocprim miopen"

# of NAME: where its code objects are, in the chroot.
of() {
    case $1 in
    rocblas) printf '%s\n' '/usr/lib/x86_64-linux-gnu/librocblas.so.*' /usr/lib/x86_64-linux-gnu/rocblas ;;
    ggml) echo /usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so ;;
    rocprim) echo /usr/libexec/rocm/librocprim-tests ;;
    miopen) echo /write-debian/miopen ;; # made at run time: kernel databases that were copied there
    esac
}

# paths NAME: the same outside of it, those that are there.
paths() {
    local pattern path
    while read -r pattern; do
        # shellcheck disable=SC2086 # a pattern
        for path in "$root"$pattern; do [ ! -e "$path" ] || [ -L "$path" ] || printf '%s\n' "$path"; done
    done < <(of "$1")
}

# step FILE COMMAND…: once; its output is kept when it ended well.
step() {
    local file=$results/$1
    shift
    [ ! -s "$file" ] || return 0
    echo "$(basename "$file") …" >&2
    if "$@" >"$file.new" 2>&1; then
        mv "$file.new" "$file"
    else
        fail "$(basename "$file"): $(tail -n 3 "$file.new")"
    fi
}

walk() {
    local found
    mapfile -t found < <(paths "$1")
    [ ${#found[@]} -gt 0 ] || { echo "not there" && return 0; }
    "$rewrite" --walk "${found[@]}"
}

compare() {
    local found folder status=0
    folder=$(mktemp -d)
    mapfile -t found < <(paths "$1")
    [ ${#found[@]} -gt 0 ] || { echo "not there" && return 0; }
    "$rewrite" --walk "${found[@]}" --out "$folder" --target gfx10 --every "$every" &&
        "$python" "$here/check_write.py" "$rewrite" --pairs "$folder" &&
        find "$folder" -name '*.old.co' | wc -l | sed 's/$/ objects/' || status=1
    rm -rf "$folder"
    return $status
}

# inside MOUNTS COMMAND…: in the chroot on the simulated card, with "NEW:OLD …" mounted over each other for it alone.
inside() {
    local mounts=$1
    shift
    # shellcheck disable=SC2016 # the inner shell's own
    unshare -m sh -c 'root=$1 mounts=$2 && shift 2
        for pair in $mounts; do mount --bind "$root${pair%%:*}" "$root${pair#*:}"; done
        exec chroot "$root" env -C /write-debian HOME=/write-debian/home TMPDIR=/write-debian/tmp \
            OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 ./rmcp sim --allow-reports -- "$@"' sh "$root" "$mounts" "$@"
}

run_ggml() {
    local library program op status=0
    library=$root$(of ggml)
    program=$(cd "$root" && echo usr/libexec/*/llama.cpp-tests/test-backend-ops)
    "$rewrite" file spread gfx1010 "$library" "$root/write-debian/libggml-hip.so"
    for op in ${ops//,/ }; do
        inside "/write-debian/libggml-hip.so:$(of ggml)" "/$program" test -b ROCm0 -o "$op" >"$work/log" 2>&1 ||
            status=1
        sed 's/\x1b\[[0-9;]*m//g' "$work/log" | grep -E '^ *[0-9]+/[0-9]+ tests passed' | sed "s/^/$op:/" || status=1
    done
    rm -f "$root/write-debian/libggml-hip.so"
    return $status
}

run_rocblas() {
    local library program tensile part line right=0 failing=0 n=0 folder=$root/write-debian/library mounts
    library=$(paths rocblas | head -n 1)
    program=/$(cd "$root" && echo usr/libexec/rocm/librocblas*-bench/rocblas-bench)
    tensile=$(cd "$root" && echo usr/lib/x86_64-linux-gnu/rocblas/*/library)
    mkdir -p "$folder"
    for part in "$root/$tensile"/*; do
        case $part in
        *gfx1010*.co | *gfx1010*.hsaco) "$rewrite" file spread gfx1010 "$part" "$folder/${part##*/}" >"$work/log" ;;
        *gfx1010* | *fallback*.dat | *Manifest*) cp "$part" "$folder/" ;;
        esac
    done
    "$rewrite" file spread gfx1010 "$library" "$root/write-debian/librocblas.so"
    mounts="/write-debian/librocblas.so:${library#"$root"} /write-debian/library:/$tensile"
    while read -r line; do
        n=$((n + 1))
        [ $((n % problems)) = 1 ] || continue
        # shellcheck disable=SC2086 # words are wanted
        inside "$mounts" "$program" $line >"$work/log" 2>&1 || true
        # The same verdict as with the library as it is: one of them fails with both.
        # shellcheck disable=SC2086
        inside "" "$program" $line >"$work/log.old" 2>&1 || true
        verdict "$work/log" >"$work/new" && verdict "$work/log.old" >"$work/old"
        cmp -s "$work/new" "$work/old" || { echo "differs: $line" && return 1; }
        if [ -s "$work/new" ]; then right=$((right + 1)); else failing=$((failing + 1)); fi
    done < <(grep '^-f' "$here/../strangers/rocblas.txt")
    [ "$right" -gt "$failing" ] || return 1
    echo "$right problems right as before, $failing that fail with both"
    rm -rf "$root/write-debian/librocblas.so" "$folder"
}
# Its errors against the host's BLAS: the last column of its table.
verdict() { awk -F , '/^[A-Za-z],/ || /,[0-9.e+-]+$/ { print $NF }' "$1"; }

print_table() {
    local name run llvm
    echo "| library | objects | kernels | code, MB | refused | differ | compared by LLVM | run |"
    echo "|---|---|---|---|---|---|---|---|"
    for name in $names; do
        run='' llvm=''
        [ -s "$results/$name.walk" ] || continue
        [ ! -s "$results/$name.llvm" ] || llvm=$(tail -n 1 "$results/$name.llvm")
        [ ! -s "$results/$name.run" ] || run=$(sed 1d "$results/$name.run" | tr '\n' ' ')
        awk -v name="$name" -v llvm="$llvm" -v run="$run" '/ objects, / {
            printf "| %s | %d | %d | %.0f | %d | %d | %s | %s |\n", name, $1, $3, $7 / 1e6, $11, $13, llvm, run }' \
            "$results/$name.walk"
    done
}

if [ -z "$table" ]; then
    need clang-19 llvm-objdump-19 llvm-readelf-19 unshare
    for file in rmcp sim/driver/librmcp-sim.so tests/codeobj/codeobj_rewrite; do
        [ -e "$build/$file" ] || die "$build/$file is not built"
    done
    root=$(sh "$here/../support/chroot.sh" sid librocblas4 librocblas4-bench libggml0-backend-hip llama.cpp-tests \
        librocprim-tests rocminfo libcjson1 libgomp1 libzstd1 zlib1g libbz2-1.0 libsqlite3-0 libdw1t64 libelf1t64) ||
        { echo "${root:-no chroot}" && exit 77; }
    mkdir -p "$root/write-debian/sim/driver" "$root/write-debian/home" "$root/write-debian/tmp" \
        "$root/write-debian/miopen"
    cp "$build/rmcp" "$root/write-debian/"
    cp "$build/sim/driver/librmcp-sim.so" "$root/write-debian/sim/driver/"
    # MIOpen of Debian has no code in it; what it compiled for any program here is in its databases.
    find "$root/tmp" "$root/root" "$root/home" -name '*.ukdb' -size +4k \
        -exec cp -n {} "$root/write-debian/miopen/" \; 2>/dev/null || true
    for name in $names; do
        step "$name.walk" walk "$name"
        step "$name.llvm" compare "$name"
    done
    step rocblas.run run_rocblas
    step ggml.run run_ggml
fi
print_table
[ "$n_failures" = 0 ]
