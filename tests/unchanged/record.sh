#!/bin/bash
# Records what must not change when code is only moved and divided: plans, launches, compiled kernels, tests,
# instructions of the host. compare.sh says what differs between two records.
# usage: record.sh BUILD OUT
# BUILD is the build folder of any checkout, whose binaries alone are used, with the lists and the programs that
# stand beside this script; records are comparable when they were made on one machine by one version of these.
# OUT gets a file for each part; a part that is there is not recorded again, so that a run that was ended goes on.
#   plans-DEVICE-LIST.tsv  rmcp plan --explain of the cases-*.txt: every algorithm, its cost or why it refuses
#   launches-LIST.tsv      every launch of every algorithm that applies on CUDA, with grid and arguments; "??" is a
#                          byte of an argument that nobody wrote (padding), as valgrind's memcheck sees it
#   kernels.tsv            each variant of each target: its row in the table of kernels, sha256 of the compiled code
#   tests.tsv              names and suites
#   version.tsv            what rmcp version says: algorithms with their versions
#   exports.tsv            symbols of the library
#   simulated.tsv          a kernel on the runner of single kernels: what it executed, sha256 of its results
#   instructions.tsv       of the host, by callgrind: opening, planning, executing; the runner of single kernels
#   about.txt              the machine and the checkout, which are not compared
# CUDA is null_cuda.c, a driver without a GPU that has the figures of an H200. Needs PoCL, AMD's HIP runtime (for
# the simulated card) and valgrind with its headers; takes two minutes of a core. Exit status 1 when a part is missing.
set -euo pipefail
[ $# = 2 ] || { sed -n '2,19s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/lib.sh"
[ -x "$1/rmcp" ] || die "$1 has no rmcp; it is to be a build folder"
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
rmcp=$build/rmcp
lists='networks deepbench conv other'

# Nothing of the caller's settings, nothing that was remembered or measured; PoCL's memory is else what is free.
for name in $(compgen -e); do
    case $name in
    RMCP_* | OMP_* | POCL_* | OCL_* | OPENCL_* | HSA_* | HIP_* | ROC* | CUDA_* | ONEDNN_* | DNNL_*) unset "$name" ;;
    esac
done
export RMCP_GUARD=0 XDG_CACHE_HOME=$work/cache OMP_NUM_THREADS=1 POCL_MEMORY_LIMIT=2 LC_ALL=C

# part NAME COMMAND…: its output becomes the file NAME, once.
part() {
    local name=$1
    shift
    [ ! -e "$out/$name" ] || return 0
    local start=$SECONDS
    n_checks=$((n_checks + 1))
    if "$@" >"$out/$name.part" 2>"$work/err" && [ -s "$out/$name.part" ]; then
        mv "$out/$name.part" "$out/$name"
        say "$name: $(grep -vc '^#' "$out/$name") lines, $((SECONDS - start)) seconds" >&2
    else
        rm -f "$out/$name.part"
        fail "$name cannot be recorded"
    fi
}

cases() { grep -v '^#' "$here/cases-$1.txt"; }

# ---- programs ----

programs() {
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -shared -fPIC -o "$work/libnull_cuda.so" "$here/null_cuda.c"
    for name in launches host_work; do
        ${CC:-cc} -std=c11 -D_GNU_SOURCE -O2 -I "$here/../../include" -o "$work/$name" "$here/$name.c" \
            "$build/librmcp.so" -ldl "-Wl,-rpath,$build"
    done
}

# ---- plans and launches ----

# plans DEVICE LIST [OPTION…]: status 1 is a case that no algorithm can do.
plans() {
    local device=$1 list=$2 status=0 before=() texts
    shift 2
    case $device in
    cpu) set -- --threads 2 "$@" ;;
    hip) before=("$rmcp" sim --) ;;
    esac
    mapfile -t texts < <(cases "$list")
    "${before[@]}" "$rmcp" plan --device "$device" --explain --json "$@" "${texts[@]}" >"$work/json" || status=$?
    [ $status -lt 2 ] || return 1
    "$python" "$here/table.py" <"$work/json"
}

launches() {
    printf '# 3\tcase\talgorithm\tlaunch\tkernel\tgrid\tblock\targuments\n'
    awk -F '\t' '!/^#/ && $2 != "-" && $8 == "" { print $1 "\t" $2 }' "$out/plans-cuda-$1.tsv" |
        NULL_CUDA_KERNELS=$(dirname "$(kernel_lists | grep '/nvptx/')") valgrind -q "$work/launches"
}

# ---- kernels ----

# The lists of variants in the folders of compiled kernels.
kernel_lists() { find "$build" \( -path '*/nvptx/list' -o -path '*/gfx[0-9]*/list' \) -type f | sort; }

# Code objects and PTX hold no name of a source or a folder; where they do, that is said here.
kernels() {
    printf '# 2\ttarget\tvariant\toperation\tfile\tentry\tblock\toptions\tsha256\n'
    local list folder target suffix
    kernel_lists >"$work/lists"
    while IFS= read -r list; do
        folder=$(dirname "$list") target=$(basename "$(dirname "$list")") suffix=co
        [ "$target" != nvptx ] || suffix=ptx
        cut -d ' ' -f 1 "$list" | sed "s/\$/.$suffix/" >"$work/files"
        (cd "$folder" && xargs sha256sum <"$work/files") >"$work/sums"
        if (cd "$folder" && xargs grep -l '[a-z0-9_]\.cl\b' <"$work/files") >&2; then return 1; fi
        awk -v target="$target" -v OFS='\t' '
            NR == FNR { sub(/\.[a-z]*$/, "", $2); sum[$2] = $1; next }
            {
                file = $3
                sub(/.*\//, "", file)
                options = ""
                for (i = 6; i <= NF; i++) options = options (i > 6 ? " " : "") $i
                print target, $1, $2, file, $4, $5, options, sum[$1]
            }' "$work/sums" "$list"
    done <"$work/lists"
}

# ---- what the build has ----

tests() {
    printf '# 1\ttest\tsuites\n'
    meson test -C "$build" --no-rebuild --list | sed -n 's|^\([^/]*\) / \(.*\)|\2\t\1|p' | sort
}

version() {
    printf '# 1\tline\ttext\n'
    # All but the sizes of kernels, whose texts are compared.
    "$rmcp" version | awk -v OFS='\t' '{ name = $1; $1 = ""; if ($0 !~ /KiB/) print name, $0 }'
}

exports() {
    printf '# 1\tsymbol\tkind\n'
    nm -D --defined-only "$build/librmcp.so" | awk -v OFS='\t' '{ print $3, $2 }' | sort
}

# ---- the runner of single kernels ----

# A Winograd product of 36 matrices of 64 x 64, as launches-*.tsv have it. "value" is its struct of 56 bytes.
# shellcheck disable=SC2054
product=("$rmcp" sim --kernel '' product --chip gfx1010 --grid 64,36 --threads 1 --stats --json --args
    buf:589824=63 u64:0 buf:589824=63 u64:0 "out:589824@$work/result" u64:0
    hex:0100000001000000000000004000000040000000400000004000000040000000001000000010000000100000004002000000000000000000
)
find_product() { product[3]=$(dirname "$(kernel_lists | grep '/gfx1010/')")/product_f32_64x64_row_col.co; }

simulated() {
    find_product && "${product[@]}" >"$work/json" || return 1
    printf '# 1\twhat\tvalue\n'
    sed -n '/"seconds"/d; s/^\t*"\([^"]*\)":\t\([^{]*[^{,]\),*$/\1\t\2/p' "$work/json"
    printf 'result\t%s\n' "$(sha256sum <"$work/result" | cut -d ' ' -f 1)"
}

# ---- instructions ----

# counted NAME COMMAND…: a line for each part that the program dumps, else one of NAME for all of it.
counted() {
    local name=$1
    shift
    rm -f "$work"/callgrind.*
    valgrind --tool=callgrind --callgrind-out-file="$work/callgrind" "$@" >"$work/printed" 2>"$work/valgrind" ||
        { cat "$work/valgrind" >&2; return 1; }
    if [ -e "$work/callgrind.1" ]; then
        # In the order of the dumps.
        find "$work" -name 'callgrind.*' | sort -t . -k 3n | xargs awk -v OFS='\t' '
            sub(/^desc: Trigger: Client Request: /, "") { what = $0 }
            /^totals:/ && what != "" { gsub("\t", ", ", what); print what, $2; what = "" }'
    else
        awk -v name="$name" -v OFS='\t' '/^totals:/ { print name, $2 }' "$work/callgrind"
    fi
}

instructions() {
    local layers texts threads
    mapfile -t texts < <(cases host-cuda)
    layers=("${texts[@]:0:10}")
    printf '# 1\twhat\tinstructions\n'
    for device in cuda cpu; do
        threads=()
        [ $device = cuda ] || threads=(--threads 1)
        cases host-$device | counted '' "$work/host_work" $device || return 1
        counted "rmcp plan, $device" "$rmcp" plan --device $device "${threads[@]}" --explain "${layers[@]}" || return 1
    done
    find_product && counted 'rmcp sim --kernel' "${product[@]}"
}

# ---- all parts ----

about() {
    say "checkout: $(git -C "$build" log -1 --format='%h %s' 2>/dev/null || say unknown)"
    say "machine: $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1), $(getconf _NPROCESSORS_ONLN) cores"
    "$rmcp" devices 2>&1 | grep -v untried
    ${CC:-cc} --version | head -n 1
    valgrind --version
}

programs || die "the programs of $here cannot be compiled"
export RMCP_CUDA_LIBRARY=$work/libnull_cuda.so
part about.txt about
for list in $lists; do
    for device in cpu opencl:0 hip cuda; do part "plans-${device%:0}-$list.tsv" plans $device "$list"; done
    part "plans-cuda-strict-$list.tsv" plans cuda "$list" --strict
    part "plans-cuda-no-workspace-$list.tsv" plans cuda "$list" --max-workspace 0
    part "plans-cuda-plain-sums-$list.tsv" plans cuda "$list" --max-error 1
    part "launches-$list.tsv" launches "$list"
done
part kernels.tsv kernels
part tests.tsv tests
part version.tsv version
part exports.tsv exports
part simulated.tsv simulated
part instructions.tsv instructions
finish "$out"
