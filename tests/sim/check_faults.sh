#!/bin/sh
# Planted faults on the executor, each in a few lines of assembly: check_faults.sh RMCP
# Every one must be reported as what it is, at its instruction; the repaired program must not be.
set -eu
. "$(dirname "$0")/asm.sh"

assemble wait <<'END'
    global_load_dword v2, v1, s[4:5]
    v_add_nc_u32 v3, 1, v2
    global_store_dword v1, v3, s[4:5]
END
shows wait '^waitcnt: v2 is read before' 'v_add_nc_u32' 'lanes 0xffffffff' --
shows wait clean -- --checks=-waitcnt
assemble waited <<'END'
    global_load_dword v2, v1, s[4:5]
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v3, 1, v2
    global_store_dword v1, v3, s[4:5]
END
shows waited clean --
assemble one_too_few <<'END'
    global_load_dword v2, v1, s[4:5]
    global_load_dword v3, v1, s[4:5]
    s_waitcnt vmcnt(1)
    v_add_nc_u32 v4, v2, v2
    v_add_nc_u32 v4, v3, v3
END
shows one_too_few '^waitcnt: v3 is read before' 'completed, 1 reports' --
assemble scalar_wait <<'END'
    s_load_dword s6, s[4:5], 0x0
    s_load_dword s7, s[4:5], 0x4
    s_waitcnt lgkmcnt(1)
    s_add_u32 s8, s6, 1
END
shows scalar_wait '^waitcnt: s6 is read before' --

assemble outside <<'END'
    v_lshlrev_b32 v1, 3, v0
    global_store_dword v1, v0, s[4:5]
END
shows outside '^memory-fault: store of 4 bytes at 0x[0-9a-f]+: 0 bytes past the end of buffer 0 \(128 bytes\)' \
    'lanes 0xffff0000' 'memory-fault, 1 reports' --
assemble readonly <<'END'
    s_mov_b64 s[6:7], s[0:1]
    v_mov_b32 v2, 0
    global_store_dword v2, v0, s[6:7]
END
shows readonly 'memory-fault: store .*the kernel arguments may not be written' --

assemble endless <<'END'
again:
    s_branch again
END
shows endless '^runaway: more than 10000 instructions' 's_branch' -- --limit 10000

assemble cmpx <<'END'
    s_mov_b32 s6, exec_lo
    v_cmpx_gt_u32 16, v0
    s_mov_b32 exec_lo, -1
    v_mov_b32 v2, s6
    global_store_dword v1, v2, s[4:5]
END
shows cmpx '^pattern: vcmpx-exec-war' 'v_cmpx_gt_u32' 'pattern vcmpx-exec-war executed 1 times' --
shows cmpx clean -- --chip gfx1030
"$rmcp" sim --kernel cmpx.co k --block 32 --grid 32 --args out:128@right.bin >/dev/null || :
"$rmcp" sim --kernel cmpx.co k --block 32 --grid 32 --act-out data --args out:128@wrong.bin >/dev/null || :
[ "$(od -An -tx4 -N4 right.bin)" = " ffffffff" ] || fail "cmpx: the right EXEC is not read"
[ "$(od -An -tx4 -N4 wrong.bin)" = " 0000ffff" ] || fail "cmpx: the effect is not acted out"
assemble cmpx_cured <<'END'
    s_mov_b32 s6, exec_lo
    s_waitcnt_depctr 0xfffe
    v_cmpx_gt_u32 16, v0
END
shows cmpx_cured clean --

assemble overwritten <<'END'
    s_mov_b64 s[6:7], s[4:5]
    s_mov_b32 s8, 0
    global_store_dword v1, v0, s[6:7]
    s_mov_b32 s6, s8
END
shows overwritten '^pattern: vmem-scalar-write' 's_mov_b32 s6' --
shows overwritten '^memory-fault' 'global_store_dword' -- --act-out data
assemble overwritten_cured <<'END'
    s_mov_b64 s[6:7], s[4:5]
    global_store_dword v1, v0, s[6:7]
    s_waitcnt_depctr 0xffe3
    s_mov_b32 s6, 0
END
shows overwritten_cured clean -- --act-out data

# Memory instructions stay in order when only some of them are delayed: nothing is overwritten here, so nothing happens.
assemble in_order <<'END'
    ds_write_b32 v1, v0
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v2, s[4:5]
    s_waitcnt_vscnt null, 0x0
    global_load_dword v3, v1, s[4:5]
    global_load_dword v4, v1, s[4:5]
    s_waitcnt vmcnt(1)
    v_mov_b32 v5, v3
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v5, v5, v4
    global_store_dword v1, v5, s[4:5]
END
for seed in 1 2 3 4 5 6 7 8; do
    shows in_order clean -- --act-out data:p=0.5:seed=$seed
done

# A delayed store stores what its register held: what is written there next, from a register that nobody wrote, comes
# too late.
assemble kept_apart <<'END'
    v_mov_b32 v2, v0
    ds_write_b32 v1, v2
    v_mov_b32 v2, v9
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v3, s[4:5]
END
shows kept_apart clean --
shows kept_apart clean -- --act-out data

assemble smem <<'END'
    s_mov_b64 s[6:7], s[4:5]
    s_load_dword s9, s[6:7], 0x0
    v_cmp_eq_u32 s6, 0, v0
END
shows smem '^pattern: smem-vector-write' -- --checks patterns
shows smem '^memory-fault: scalar load' -- --checks patterns --act-out smem-vector-write

assemble flat <<'END'
    v_add_co_u32 v2, s6, s4, v1
    v_add_co_ci_u32 v3, s6, s5, 0, s6
    flat_load_dword v4, v[2:3] offset:128
    s_waitcnt vmcnt(0) lgkmcnt(0)
END
shows flat '^pattern: flat-offset' '^memory-fault: load .* past the end of buffer 0' --
shows flat '^pattern: flat-offset' '^acted out flat-offset 1 times' 'completed' -- --act-out data
shows flat '^acted out flat-offset 1 times' 'completed' -- --act-out flat-offset:p=1:seed=3 --checks patterns
shows flat '^acted out flat-offset 0 times' '^memory-fault' -- --act-out vmem-scalar-write,flat-offset:p=1e-9

assemble prefetch <<'END'
    s_inst_prefetch 0x1
END
shows prefetch '^pattern: inst-prefetch' 'completed' -- --act-out data
shows prefetch '^runaway: acted out' -- --act-out all

assemble lds_undefined <<'END'
    ds_write_b32 v1, v0
    v_add_nc_u32 v2, 4, v1
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v3, s[4:5]
END
shows lds_undefined '^undefined-lds: 4 bytes read at 128 of LDS.* v3, .* reaches memory' 'global_store_dword' \
    'lanes 0x80000000' '\(goes back to \+0x1c\)' 'completed, 1 reports' --
shows lds_undefined '^undefined-lds: 4 bytes read at 128 of LDS' -- --checks lds
assemble lds_outside <<'END'
    v_lshlrev_b32 v2, 6, v0
    ds_write_b32 v2, v0
END
shows lds_outside '^lds-fault: 4 bytes at 1024 of an LDS of 1024 bytes' 'lanes 0xffff0000' 'completed, 1 reports' --
assemble lds_wraps <<'END'
    v_add_nc_u32 v2, 0xfffffe00, v1
    ds_write_b32 v2, v0 offset:512
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v3, s[4:5]
END
shows lds_wraps clean --
assemble lds_misaligned <<'END'
    v_mov_b32 v2, 0
    v_mov_b32 v3, 0
    v_mov_b32 v4, 8
    v_mov_b32 v5, 0
    ds_write_b128 v4, v[2:5]
END
shows lds_misaligned '^pattern: lds-misaligned' --

assemble barrier <<'END'
    v_readfirstlane_b32 s6, v0
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc1 out
    s_barrier
out:
END
# A wave that has ended counts no longer: the others go on.
block=64 grid=64
shows barrier '^barrier: 1 waves wait at a barrier, 1 of the workgroup have ended' 's_barrier' \
    'completed, 1 reports' --
block=32 grid=32
assemble two_barriers <<'END'
    v_readfirstlane_b32 s6, v0
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc1 other
    s_barrier
    s_branch out
other:
    s_barrier
out:
END
block=64 grid=64
shows two_barriers '^barrier: 2 waves wait at different barriers' --
block=32 grid=32

assemble undefined <<'END'
    global_load_dword v2, v9, s[4:5]
    s_waitcnt vmcnt(0)
END
shows undefined '^undefined-register: v9 was never written and reaches an address' -- --checks registers
assemble undefined_copy <<'END'
    v_mov_b32 v3, v9
    s_and_b32 s6, s20, exec_lo
    s_andn2_b32 s6, s6, exec_lo
    v_cndmask_b32 v4, v0, v9, s6
    global_store_dword v1, v4, s[4:5]
END
shows undefined_copy clean --
assemble undefined_store <<'END'
    v_mov_b32 v3, v9
    global_store_dword v1, v3, s[4:5]
END
shows undefined_store '^undefined-register: v3 was never written and reaches memory' --
# Only the high half of the addend is undefined, and only the low half of the sum is stored.
assemble undefined_high <<'END'
    s_mov_b32 s6, 5
    v_mad_u64_u32 v[2:3], s8, v0, 3, s[6:7]
    global_store_dword v1, v2, s[4:5]
END
shows undefined_high clean --
assemble undefined_bits <<'END'
    v_lshl_or_b32 v3, v9, 16, v0
    v_perm_b32 v3, v9, v3, 0x01000504
    v_lshrrev_b64 v[4:5], 16, v[3:4]
    v_and_b32 v4, 0xffff, v4
    global_store_dword v1, v4, s[4:5]
    global_store_short v1, v4, s[4:5]
    s_mov_b32 s12, 5
    s_bfe_i64 s[14:15], s[12:13], 0x100000
    v_mov_b32 v6, s15
    global_store_dword v1, v6, s[4:5]
END
shows undefined_bits clean --
assemble undefined_bit <<'END'
    v_lshl_or_b32 v3, v9, 16, v0
    v_and_b32 v3, 0x1ffff, v3
    global_store_dword v1, v3, s[4:5]
END
shows undefined_bit '^undefined-register: v3 was never written and reaches memory' --
assemble undefined_exec <<'END'
    v_cmp_eq_u32 vcc_lo, v9, v0
    s_and_saveexec_b32 s6, vcc_lo
END
shows undefined_exec '^undefined-register: s106 was never written and reaches EXEC' 's_and_saveexec' --

assemble illegal <<'END'
    .long 0x04040501 ; v_dot2c_f32_f16 v2, v1, v2: gfx1011 and newer
END
has_it='gfx1011, gfx1012, gfx1030'
shows illegal "^illegal-instruction: gfx1010 has no such instruction \(word 0x04040501\); it is one of $has_it" \
    '^  v_dot2c_f32_f16' --
shows illegal clean -- --chip gfx1011 --checks=-registers
assemble illegal_everywhere <<'END'
    .long 0xdfffffff
END
shows illegal_everywhere '^illegal-instruction: gfx1010 has no such instruction \(word 0xdfffffff\)$' --
# What ended the run is shown, whatever came before it.
assemble late <<'END'
    v_lshlrev_b32 v2, 6, v0
    ds_write_b32 v2, v0
    ds_write_b32 v2, v0 offset:4
    ds_write_b32 v2, v0 offset:8
    s_trap 2
END
shows late '^lds-fault' '^trap: trap 2' '^and 2 more reports' -- --reports 1
assemble illegal_result <<'END'
    .long 0xd4c200fc, 0x00020300 ; v_cmp_eq_u32 with execz as its result
END
shows illegal_result '^illegal-instruction: no semantics' --
assemble illegal_source <<'END'
    .long 0xd575000b, 0x01f40101 ; v_mqsad_u32_u8 v[11:14], v[1:2], s0, null: only VGPRs have four words there
END
shows illegal_source '^illegal-instruction: no semantics' --
assemble illegal_swap <<'END'
    .long 0x7e04ca7d ; v_swap_b32 v2, null
END
shows illegal_swap '^illegal-instruction: no semantics' --
assemble special_mask <<'END'
    .long 0xd5010002, 0x03ee0300 ; v_cndmask_b32 v2, v0, v1, vccz
    global_store_dword v1, v2, s[4:5]
END
shows special_mask clean --
assemble range <<'END'
    v_mov_b32 v100, v0
END
shows range '^register-range: v100 of a kernel that was given 16' --
assemble scratch <<'END'
    v_mov_b32 v2, 64
    s_mov_b32 s8, 0
    s_getreg_b32 s9, hwreg(HW_REG_FLAT_SCR_LO)
    scratch_store_dword v2, v0, off
END
shows scratch '^scratch-fault: 4 bytes at offset 64 of a scratch of 64 bytes' --
assemble atomic <<'END'
    v_mov_b32 v2, 2
    global_atomic_add v2, v0, s[4:5]
END
shows atomic '^misaligned: atomic of 4 bytes' --
assemble fetch <<'END'
    s_mov_b64 s[6:7], 0
    s_setpc_b64 s[6:7]
END
shows fetch '^bad-fetch: the program counter is 0x0' --
assemble trap <<'END'
    s_trap 2
END
shows trap '^trap: trap 2' --

# The source line, where the executor was built with libdw.
if grep -q '(outside.s:' outside.out; then
    grep -q '(outside.s:9)' outside.out || { cat outside.out; fail "wrong source line"; }
fi
# JSON says the same.
"$rmcp" sim --kernel outside.co k --block 32 --grid 32 --json --args buf:128 >json.out || :
grep -q '"kind":.*"memory-fault"' json.out || { cat json.out; fail "no JSON report"; }
# The trace has every instruction of the wave, the statistics count them.
"$rmcp" sim --kernel waited.co k --block 32 --grid 32 --trace --stats --args buf:128 >trace.out
[ "$(grep -c '^0,0,0.0 .* exec ffffffff' trace.out)" -eq 8 ] || { cat trace.out; fail "not 8 lines of trace"; }
grep -q '^1 workgroups, 1 waves, 8 instructions' trace.out || { cat trace.out; fail "wrong statistics"; }
grep -q 'vmem-load *1  100.0 % of lanes' trace.out || { cat trace.out; fail "wrong classes"; }
# What makes no sense is refused in one line.
for wrong in '--grid 0' '--block x' '--checks sometimes' '--act-out branch-3f' '--chip gfx900' '--wave 64'; do
    status=0
    # shellcheck disable=SC2086
    "$rmcp" sim --kernel waited.co k $wrong --args buf:128 >wrong.out 2>&1 || status=$?
    [ $status -eq 2 ] && [ "$(wc -l <wrong.out)" -eq 1 ] || { cat wrong.out; fail "$wrong: status $status"; }
done
finish "planted faults"
