#!/bin/sh
# LDS as the chip has it: check_lds.sh RMCP
# Granules, accesses past the end, and values that nothing wrote, which are followed through LDS and told where
# they matter. The small kernels stand for what rocFFT, rocPRIM, ggml, Winograd kernels and reductions do.
set -eu
. "$(dirname "$0")/asm.sh"

# gives NAME N VALUE...: what the kernel leaves in its buffer, from dword N on.
gives() {
    name=$1 skip=$2 n_checks=$((n_checks + 1))
    shift 2
    "$rmcp" sim --kernel "$name.co" k --block $block --grid $grid --args out:$bytes@"$name.bin" >"$name.out" 2>&1 || :
    found=$(od -An -v -tx4 -w4 -j $((4 * skip)) -N $((4 * $#)) "$name.bin" | tr -d ' ' | tr '\n' ' ')
    [ "$found" = "$* " ] || { cat "$name.out"; fail "$name: $found, not $*"; }
}

# Past the end: the load gives 0, the store and the atomic do nothing, the run goes on.
for wave in 32 64; do
    block=$wave grid=$wave bytes=$((12 * wave))
    vcc=$([ "$wave" = 64 ] && echo vcc || echo vcc_lo)
    assemble past.$wave <<END
    v_mov_b32 v2, 0x70
    v_mov_b32 v3, 1024
    v_cmp_eq_u32 $vcc, 3, v0
    v_lshl_add_u32 v2, v0, 2, v2
    v_mov_b32 v9, 7
    ds_write_b32 v2, v0
    s_waitcnt lgkmcnt(0)
    v_cndmask_b32 v2, v2, v3, $vcc ; lane 3 is outside
    ds_read_b32 v4, v2
    ds_write_b32 v2, v9
    ds_add_rtn_u32 v5, v2, v9
    v_mov_b32 v6, 0x7c
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v6, v6             ; what lane 3 had written
    v_mul_u32_u24 v1, 12, v0
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v4, s[4:5]
    global_store_dword v1, v5, s[4:5] offset:4
    global_store_dword v1, v6, s[4:5] offset:8
END
    shows past.$wave '^lds-fault: 4 bytes at 1024 of an LDS of 1024 bytes' 'lanes 0x8$' 'completed, 3 reports' --
    gives past.$wave 6 00000002 00000007 00000003 00000000 00000000 00000003 00000004 00000007 00000003
done
wave=32 block=32 grid=32 bytes=128

# FLAT does the same.
assemble flat <<'END'
    s_mov_b64 s[6:7], src_shared_base
    v_lshlrev_b32 v2, 6, v0
    v_mov_b32 v3, s7
    v_mov_b32 v4, 5
    flat_store_dword v[2:3], v4
    s_waitcnt lgkmcnt(0)
    s_waitcnt_vscnt null, 0x0
    flat_load_dword v5, v[2:3]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    global_store_dword v1, v5, s[4:5]
END
shows flat '^lds-fault: 4 bytes at 1024 of an LDS of 1024 bytes' 'lanes 0x10000$' 'completed, 2 reports' --
gives flat 14 00000005 00000005 00000000 00000000

# A kernel that asks for 100 bytes has 512.
lds_bytes=100
assemble granule <<'END'
    v_lshlrev_b32 v2, 4, v0
    ds_write_b32 v2, v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v3, s[4:5]
END
shows granule clean --
assemble granule_end <<'END'
    v_lshlrev_b32 v2, 5, v0
    ds_write_b32 v2, v0
END
shows granule_end '^lds-fault: 4 bytes at 512 of an LDS of 100 bytes and the rest of its granule' 'lanes 0xffff0000' --
lds_bytes=1024

# Padding and lanes that nothing wrote are stored, read back, selected away: no finding.
assemble dropped <<'END'
    v_cmp_gt_u32 vcc_lo, 16, v0
    s_and_saveexec_b32 s6, vcc_lo
    v_mov_b32 v2, v0                ; the upper lanes of v2 are not written
    s_mov_b32 exec_lo, s6
    v_lshlrev_b32 v3, 3, v0
    ds_write2_b32 v3, v2, v9 offset1:1
    s_waitcnt lgkmcnt(0)
    ds_read_b64 v[4:5], v3
    s_waitcnt lgkmcnt(0)
    v_add_nc_u32 v6, v4, v4
    v_cndmask_b32 v6, 0, v6, vcc_lo
    global_store_dword v1, v6, s[4:5]
END
shows dropped clean --
gives dropped 14 0000001c 0000001e 00000000 00000000
assemble kept <<'END'
    v_cmp_gt_u32 vcc_lo, 16, v0
    s_and_saveexec_b32 s6, vcc_lo
    v_mov_b32 v2, v0
    s_mov_b32 exec_lo, s6
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v4, v1
    s_waitcnt lgkmcnt(0)
    v_add_nc_u32 v6, v4, v4
    global_store_dword v1, v6, s[4:5]
END
shows kept '^undefined-register: v6 was never written and reaches memory, by way of LDS at ' 'lanes 0xffff0000' \
    'global_store_dword' '1 reports' --
shows kept '^undefined-register: v6' -- --checks registers
shows kept clean -- --checks lds
# LDS that was never written, in an address, in EXEC, in a scalar comparison.
assemble address <<'END'
    ds_read_b32 v4, v1
    s_waitcnt lgkmcnt(0)
    v_and_b32 v4, 4, v4
    global_load_dword v5, v4, s[4:5]
END
shows address '^undefined-lds: 4 bytes read at [0-9]+ of LDS.* v4, .* reaches an address' --
assemble mask <<'END'
    ds_read_b32 v4, v1
    s_waitcnt lgkmcnt(0)
    v_cmp_eq_u32 s8, 0, v4
    s_and_b32 exec_lo, exec_lo, s8
END
shows mask '^undefined-lds: 4 bytes read at [0-9]+ of LDS.* reaches EXEC' --
assemble scalar <<'END'
    ds_read_b32 v4, v1
    s_waitcnt lgkmcnt(0)
    v_readfirstlane_b32 s8, v4
    s_lshl_b32 s8, s8, 3
    s_cmp_eq_u32 s8, 1
END
shows scalar '^undefined-lds: 4 bytes read at [0-9]+ of LDS.* s8, .* reaches a comparison' --
assemble unused <<'END'
    v_lshlrev_b32 v2, 4, v0
    ds_read_b128 v[4:7], v2
    s_waitcnt lgkmcnt(0)
    v_add_nc_u32 v4, v5, v6
END
shows unused clean --
# Some bytes of a word were written: those may be used.
assemble bytes <<'END'
    ds_write_b8 v1, v0
    ds_write_b8_d16_hi v1, v1 offset:3
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v4, v1
    ds_read_u8 v5, v1
    s_waitcnt lgkmcnt(0)
    v_and_b32 v4, 0xff0000ff, v4
    v_add_nc_u32 v4, v4, v5
    global_store_dword v1, v4, s[4:5]
END
shows bytes clean --
assemble byte <<'END'
    ds_write_b8 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_read_i16 v4, v1
    s_waitcnt lgkmcnt(0)
    v_and_b32 v4, 0x1ff, v4
    global_store_dword v1, v4, s[4:5]
END
shows byte '^undefined-lds: 2 bytes read at [0-9]+ of LDS.* v4, .* reaches memory' 'lanes 0xffffffff' --
# Atomics: on what was written, exchanges, which need nothing, and on what was not written.
assemble atomics <<'END'
    ds_write_b32 v1, v0
    ds_wrxchg_rtn_b32 v4, v1, v0 offset:256
    s_waitcnt lgkmcnt(0)
    ds_add_u32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_read2st64_b32 v[4:5], v1 offset1:1
    s_waitcnt lgkmcnt(0)
    v_add_nc_u32 v4, v4, v5
    global_store_dword v1, v4, s[4:5]
END
shows atomics clean --
gives atomics 30 0000005a 0000005d
assemble counter <<'END'
    ds_add_u32 v1, v0
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v4, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v4, s[4:5]
END
shows counter '^undefined-(lds|register): .* reaches memory' 'lanes 0xffffffff' --

# Reductions by lanes: those past the end, or off, are read and dropped; a value that is kept is told.
reduction='    v_cmp_gt_u32 vcc_lo, 20, v0
    s_and_saveexec_b32 s6, vcc_lo
    v_mov_b32 v2, v0
    s_mov_b32 exec_lo, s6
    v_add_nc_u32 v3, 4, v1
    ds_bpermute_b32 v4, v3, v2
    s_waitcnt lgkmcnt(0)'
assemble shuffle <<END
$reduction
    v_add_nc_u32 v4, v2, v4
    v_cmp_gt_u32 vcc_lo, 19, v0
    v_cndmask_b32 v4, v2, v4, vcc_lo
    v_cmp_gt_u32 vcc_lo, 20, v0
    v_cndmask_b32 v4, -1, v4, vcc_lo
    global_store_dword v1, v4, s[4:5]
END
shows shuffle clean --
gives shuffle 17 00000023 00000025 00000013 ffffffff
assemble shuffle_kept <<END
$reduction
    v_add_nc_u32 v4, v2, v4
    v_cmp_gt_u32 vcc_lo, 20, v0
    v_cndmask_b32 v4, 0, v4, vcc_lo
    global_store_dword v1, v4, s[4:5]
END
shows shuffle_kept '^undefined-register: v4 was never written and reaches memory' 'lanes 0x80000$' --
assemble shuffle_off <<END
$reduction
    v_cmp_gt_u32 vcc_lo, 8, v0
    s_and_saveexec_b32 s6, vcc_lo
    ds_bpermute_b32 v4, v3, v9           ; nothing wrote v9
    ds_bpermute_b32 v5, v1, v2 offset:32 ; lanes 8 to 15, which are off
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v5, s[4:5]
END
shows shuffle_off clean --
gives shuffle_off 0 00000000 00000000
assemble dpp <<END
$reduction
    v_mov_b32_dpp v5, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0
    v_cmp_gt_u32 vcc_lo, 20, v0
    v_cndmask_b32 v5, 0, v5, vcc_lo
    global_store_dword v1, v5, s[4:5]
END
shows dpp clean --
assemble swizzled <<'END'
    ds_swizzle_b32 v2, v0 offset:swizzle(BITMASK_PERM, "pp01p")
    ds_swizzle_b32 v3, v0 offset:0xe003
    s_waitcnt lgkmcnt(0)
    v_lshl_or_b32 v2, v3, 8, v2
    global_store_dword v1, v2, s[4:5]
END
shows swizzled clean --
gives swizzled 1 00000503 00000202 00000703

# No buffer is bound where the format of the descriptor is 0.
assemble unbound <<'END'
    s_mov_b32 s8, s4
    s_mov_b32 s9, s5
    s_mov_b32 s10, 0x80
    s_mov_b32 s11, 0x31014fac
    s_mov_b64 s[12:13], s[8:9]
    s_mov_b32 s14, s10
    s_mov_b32 s15, 0x31000fac
    v_mov_b32 v5, -1
    buffer_store_dword v0, v1, s[8:11], 0 offen
    s_waitcnt_vscnt null, 0x0
    buffer_load_dword v2, v1, s[12:15], 0 offen
    buffer_store_dword v1, v1, s[12:15], 0 offen
    buffer_atomic_add v5, v1, s[12:15], 0 offen glc
    global_load_dword v4, v1, s[4:5]
    s_waitcnt vmcnt(0)
    v_lshl_or_b32 v4, v2, 16, v4
    v_lshl_or_b32 v4, v5, 24, v4
    global_store_dword v1, v4, s[4:5]
END
shows unbound clean --
gives unbound 5 00000005 00000006
# Dwords past the end of a buffer give 0 and are not stored; those before it are, in the same instruction.
assemble edge <<'END'
    s_mov_b32 s8, s4
    s_mov_b32 s9, s5
    s_mov_b32 s10, 72
    s_mov_b32 s11, 0x31014fac
    v_mov_b32 v4, 1
    v_mov_b32 v5, 2
    v_mov_b32 v6, 3
    v_mov_b32 v7, 4
    v_lshlrev_b32 v2, 4, v0
    buffer_store_dwordx4 v[4:7], v2, s[8:11], 0 offen ; lane 4: two of four
    s_waitcnt_vscnt null, 0x0
    buffer_load_dwordx4 v[8:11], v2, s[8:11], 0 offen
    v_mov_b32 v3, 0x50
    s_waitcnt vmcnt(0)
    v_cmp_eq_u32 vcc_lo, 4, v0
    s_and_saveexec_b32 s6, vcc_lo
    v_add_nc_u32 v10, 7, v10
    global_store_dwordx4 v3, v[8:11], s[4:5]
END
shows edge clean --
gives edge 15 00000004 00000001 00000002 00000000 00000000 00000001 00000002 00000007 00000000
# The base makes no difference.
assemble unbound_null <<'END'
    s_mov_b32 s8, 0
    s_mov_b32 s9, 0
    s_mov_b32 s10, -1
    s_mov_b32 s11, 0
    buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen
    s_waitcnt vmcnt(0)
    v_or_b32 v4, v4, v7
    global_store_dword v1, v4, s[4:5]
END
shows unbound_null clean --
gives unbound_null 0 00000000
# Waves go on from a barrier side by side: what one writes long after it, the others have read before, though a
# barrier is missing between (rocSOLVER's stebz and stein).
block=128 grid=128 bytes=512
assemble together <<'END'
    v_mov_b32 v2, 1
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_readfirstlane_b32 s6, v0
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 1f
    s_movk_i32 s7, 40
2:  s_sub_u32 s7, s7, 1
    s_cmp_lg_u32 s7, 0
    s_cbranch_scc1 2b
    v_mov_b32 v2, 7
    ds_write_b32 v1, v2
    s_branch 3f
1:  v_and_b32 v3, 31, v0
    v_lshlrev_b32 v3, 2, v3
    ds_read_b32 v2, v3
3:  s_waitcnt lgkmcnt(0)
    s_waitcnt_vscnt null, 0x0
    global_store_dword v1, v2, s[4:5]
END
shows together clean --
gives together 0 00000007
gives together 31 00000007 00000001 00000001
gives together 95 00000001 00000001
gives together 127 00000001
finish "LDS"
