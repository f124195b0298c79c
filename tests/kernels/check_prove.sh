#!/bin/sh
# The proof of tools/kernels/prove.c on objects in which one thing is wrong, each planted by hand.
# usage: check_prove.sh PROVE
# Exit status 77 (skip) without clang 19.
set -eu
. "$(dirname "$0")/../support/lib.sh"
prove=$1
clang=${CLANG:-clang-19}
need "$clang"

# object CHIP NAME CODE ARGUMENT SPILLS SCRATCH: an object of one kernel with these in it
object() {
    cat >"$work/k.s" <<EOF
.text
.globl $2
.p2align 8
.type $2,@function
$2:
    s_load_dwordx2 s[0:1], s[4:5], 0x0
    s_waitcnt lgkmcnt(0)
    $3
    s_endpgm
.Lend:
.size $2, .Lend-$2
.rodata
.p2align 6
.amdhsa_kernel $2
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr 16
    .amdhsa_next_free_sgpr 16
    .amdhsa_wavefront_size32 1
    .amdhsa_private_segment_fixed_size $6
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: amdgcn-amd-amdhsa--$1
amdhsa.kernels:
  - .name: $2
    .symbol: $2.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: $6
    .wavefront_size: 32
    .sgpr_count: 16
    .vgpr_count: 16
    .sgpr_spill_count: 0
    .vgpr_spill_count: $5
    .max_flat_workgroup_size: 256
    .args:
      - .offset: 0
        .size: 8
        .value_kind: $4
        .address_space: global
...
.end_amdgpu_metadata
EOF
    "$clang" -target amdgcn-amd-amdhsa -mcpu="$1" -mcode-object-version=4 -o "$work/k.co" \
        "$work/k.s"
}

# refused REASON CHIP NAME CODE ...: must be refused, and the line name the kernel and the reason
refused() {
    reason=$1
    shift
    object "$@"
    status=0
    "$prove" gfx1010 "$work/k.co" >"$work/out" || status=$?
    if [ $status != 1 ] || ! grep -q "k.co: .*: $reason" "$work/out"; then
        die "'$reason' was to be refused, status $status"
    fi
    [ "$1" != gfx1010 ] || grep -q "k.co: $2: $reason" "$work/out" ||
        die "no kernel named"
    sed -n 's/.*k.co: /refused: /p' "$work/out"
}

plain=global_buffer
object gfx1010 gemm_x "v_mov_b32 v0, 0" $plain 0 0
"$prove" gfx1010 "$work/k.co"
object gfx1010 other "s_barrier
    buffer_gl0_inv" $plain 3 16
"$prove" gfx1010 "$work/k.co"

refused "no instruction of the chip" gfx1010 k ".long 0x04000501 ; v_dot2c_f32_f16" $plain 0 0
refused "no instruction of the chip" gfx1010 k ".long 0xffffffff" $plain 0 0
refused "operand that cannot be" gfx1010 k ".long 0x7e000402" $plain 0 0
refused "not for gfx1010" gfx1030 k "v_mov_b32 v0, 0" $plain 0 0
refused "has the pattern vcmpx-exec-war" gfx1010 k "s_mov_b32 s2, exec_lo
    v_cmpx_gt_u32 v0, v1" $plain 0 0
refused "has the pattern vcmpx-permlane" gfx1010 k "v_cmpx_gt_u32 v0, v1
    v_permlane16_b32 v0, v1, s2, s3" $plain 0 0
refused "has the pattern vmem-scalar-write" gfx1010 k "global_load_dword v0, v1, s[0:1]
    s_mov_b32 s0, 0" $plain 0 0
refused "has the pattern smem-vector-write" gfx1010 k "s_load_dword s2, s[0:1], 0x0
    v_cmp_gt_u32 s0, v0, v1" $plain 0 0
refused "has the pattern inst-prefetch" gfx1010 k "s_inst_prefetch 0x1" $plain 0 0
refused "has the pattern lds-branch-vmem" gfx1010 k "ds_read_b32 v0, v1
    s_cbranch_scc1 .Lon
.Lon:
    global_load_dword v0, v1, s[0:1]" $plain 0 0
refused "has the pattern flat-offset" gfx1010 k ".long 0xdc300004
    .long 0x007d0000 ; flat_load_dword v0, v[0:1] offset:4" $plain 0 0
refused "has the pattern branch-3f" gfx1010 k ".long 0xbf85003f" $plain 0 0
refused "has the pattern lds-misaligned" gfx1010 k "ds_read_b64 v[0:1], v2 offset:4" $plain 0 0
refused "has the pattern scratch-offset" gfx1010 k \
    "scratch_load_dword v0, v1, off offset:-3" $plain 0 0
refused "device or system scope" gfx1010 k "global_atomic_add v0, v1, s[0:1]" $plain 0 0
refused "device or system scope" gfx1010 k "global_load_dword v0, v1, s[0:1] glc dlc" $plain 0 0
refused "device or system scope" gfx1010 k "buffer_gl1_inv" $plain 0 0
refused "hidden argument hidden_block_count_x" gfx1010 k "s_nop 0" hidden_block_count_x 0 0
refused "spills 0 SGPRs, 2 VGPRs" gfx1010 gemm_x "s_nop 0" $plain 2 0
refused "spills .* 16 bytes of scratch" gfx1010 gemm_x "s_nop 0" $plain 0 16

printf 'no object' >"$work/k.co"
"$prove" gfx1010 "$work/k.co" 2>/dev/null && die "took any file"
[ $? != 1 ] || die "a broken file is not a violation"
echo "all planted violations were refused"
