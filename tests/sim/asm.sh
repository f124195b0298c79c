# asm.sh: for tests of planted faults: a few lines of assembly made a kernel, run, and judged by patterns.
# Sourced with the rmcp command in $1; leaves the current folder in a temporary one, $work.
# shellcheck shell=sh
set -eu
. "$(dirname "$0")/../support/lib.sh"
rmcp=$(realpath "$1")
clang=${CLANG:-clang-19}
need "$clang"
cd "$work"

# assemble NAME: the body of a kernel from stdin. s[0:1] are the arguments, s2 the workgroup, v0 the
# local id; s[4:5] is the first argument, a buffer.
# wave=64, cu_mode=1, vgprs and lds_bytes change the kernel, `block`, `grid` and `bytes` (of the buffer) how it is run.
wave=32 cu_mode=0 block=32 grid=32 bytes=128 lds_bytes=1024
assemble() {
    {
        cat <<'END'
.amdgcn_target "amdgcn-amd-amdhsa--gfx1010"
.text
.p2align 8
k:
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    s_waitcnt lgkmcnt(0)
END
        cat
        cat <<END
    s_endpgm
.p2align 8
.rodata
.p2align 6
.amdhsa_kernel k
    .amdhsa_group_segment_fixed_size $lds_bytes
    .amdhsa_private_segment_fixed_size 64
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr ${vgprs:-16}
    .amdhsa_next_free_sgpr 32
    .amdhsa_wavefront_size32 $((wave == 32))
    .amdhsa_workgroup_processor_mode $((!cu_mode))
    .amdhsa_kernarg_size 16
.end_amdhsa_kernel
END
    } >"$1.s"
    mode=$([ "$wave" = 32 ] || echo -mwavefrontsize64)
    # shellcheck disable=SC2086
    $clang -x assembler -g -target amdgcn-amd-amdhsa -mcpu=gfx1010 $mode -mcode-object-version=4 "$1.s" -o "$1.co"
}

# shows NAME PATTERN... -- OPTION...: all patterns in the output, and the exit status of findings;
# the pattern "clean" stands for a run without any.
shows() {
    name=$1
    shift
    patterns="$name.patterns"
    : >"$patterns"
    while [ "$1" != -- ]; do
        echo "$1" >>"$patterns"
        shift
    done
    shift
    status=0
    "$rmcp" sim --kernel "$name.co" k --block $block --grid $grid "$@" --args buf:$bytes >"$name.out" 2>&1 || status=$?
    wanted=1
    grep -qx clean "$patterns" && { wanted=0; echo 'completed, 0 reports' >"$patterns"; }
    n_checks=$((n_checks + 1))
    [ "$status" -eq "$wanted" ] || { cat "$name.out"; fail "$name: exit status $status"; }
    while read -r pattern; do
        grep -Eq -- "$pattern" "$name.out" || { cat "$name.out"; fail "$name: no '$pattern' in:"; }
    done <"$patterns"
}

