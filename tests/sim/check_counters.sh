#!/bin/sh
# Stores that a wave takes through a barrier without waiting for them: check_counters.sh RMCP
# Another wave that reads them must be reported; everything that is legal must not be.
set -eu
. "$(dirname "$0")/asm.sh"
# two waves
block=64 grid=64 bytes=256

# Each wave stores words of its own and reads those of the other: v2 is the address of the other's.
other='v_xor_b32 v2, 0x80, v1'

# crosses NAME PATTERN STORE WAIT READ: reported without the wait, clean with it.
crosses() {
    printf '%s\n' "$other" "$3" s_barrier "$5" 's_waitcnt vmcnt(0) lgkmcnt(0)' | assemble "$1"
    shows "$1" "^waitcnt: $2" 'lanes 0xffffffff' 'completed, 1 reports' --
    shows "$1" clean -- --checks=-waitcnt
    printf '%s\n' "$other" "$3" "$4" s_barrier "$5" 's_waitcnt vmcnt(0) lgkmcnt(0)' | assemble "$1_waited"
    shows "$1_waited" clean --
    # Waiting behind the barrier is too late, whichever wave runs first.
    printf '%s\n' "$other" "$3" s_barrier "$4" "$5" 's_waitcnt vmcnt(0) lgkmcnt(0)' | assemble "$1_late"
    shows "$1_late" "^waitcnt: $2" 'completed, 1 reports' --
    # Waited for and another barrier: all is well again.
    printf '%s\n' "$other" "$3" s_barrier "$4" s_barrier "$5" 's_waitcnt vmcnt(0) lgkmcnt(0)' | assemble "$1_next"
    shows "$1_next" clean --
    # Nobody but the wave itself reads it.
    printf '%s\n' 'v_mov_b32 v2, v1' "$3" s_barrier "$5" 's_waitcnt vmcnt(0) lgkmcnt(0)' | assemble "$1_own"
    shows "$1_own" clean --
}

stored='which wave [01] stored at 0x[0-9a-f]+ and took through a barrier without'
lds="4 bytes at 0x[0-9a-f]+ of LDS, $stored s_waitcnt lgkmcnt\(0\)"
memory="4 bytes at 0x[0-9a-f]+, $stored s_waitcnt_vscnt null, 0"
global_address='v_add_co_u32 v4, s6, s4, v1
v_add_co_ci_u32 v5, s6, s5, 0, s6
v_add_co_u32 v6, s6, s4, v2
v_add_co_ci_u32 v7, s6, s5, 0, s6'
lds_address='s_mov_b64 s[6:7], src_shared_base
v_mov_b32 v4, v1
v_mov_b32 v5, s7
v_mov_b32 v6, v2
v_mov_b32 v7, s7'
buffer='s_mov_b32 s8, s4
s_mov_b32 s9, s5
s_mov_b32 s10, 256
s_mov_b32 s11, 0x31014fac'

crosses lds "$lds" 'ds_write_b32 v1, v0' 's_waitcnt lgkmcnt(0)' 'ds_read_b32 v3, v2'
crosses lds_atomic "$lds" 'ds_write_b32 v1, v0' 's_waitcnt lgkmcnt(0)' 'ds_add_u32 v2, v0'
crosses global "$memory" 'global_store_dword v1, v0, s[4:5]' 's_waitcnt_vscnt null, 0x0' \
    'global_load_dword v3, v2, s[4:5]'
crosses global_atomic "$memory" 'global_store_dword v1, v0, s[4:5]' 's_waitcnt_vscnt null, 0x0' \
    'global_atomic_add v3, v2, v0, s[4:5] glc'
crosses buffer "$memory" "$buffer
buffer_store_dword v1, v1, s[8:11], 0 offen" 's_waitcnt_vscnt null, 0x0' \
    'buffer_load_dword v3, v2, s[8:11], 0 offen'
crosses flat "$memory" "$global_address
flat_store_dword v[4:5], v0" 's_waitcnt_vscnt null, 0x0' 'flat_load_dword v3, v[6:7]'
crosses flat_lds "$lds" "$lds_address
flat_store_dword v[4:5], v0" 's_waitcnt lgkmcnt(0)' 'ds_read_b32 v3, v2'
# Atomics count in vscnt when they return nothing, else in vmcnt.
crosses atomic "$(echo "$memory" | sed s/stored/changed/)" 'global_atomic_add v1, v0, s[4:5]' \
    's_waitcnt_vscnt null, 0x0' 'global_load_dword v3, v2, s[4:5]'
crosses returns "$(echo "$memory" | sed 's/stored/changed/; s/s_waitcnt_vscnt null, 0/s_waitcnt vmcnt\\(0\\)/')" \
    'global_atomic_add v3, v1, v0, s[4:5] glc' 's_waitcnt vmcnt(0)' 'global_load_dword v4, v2, s[4:5]'

# The wrong counter does not help.
assemble wrong_counter <<END
    $other
    global_store_dword v1, v0, s[4:5]
    s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)
    s_waitcnt_expcnt null, 0x0
    s_barrier
    global_load_dword v3, v2, s[4:5]
END
shows wrong_counter "^waitcnt: $memory" --
# Two of three were waited for.
assemble one_left <<END
    $other
    v_add_nc_u32 v3, 0x100, v1
    v_add_nc_u32 v4, 0x200, v1
    ds_write_b32 v1, v0
    ds_write_b32 v3, v0
    ds_write_b32 v4, v0
    s_waitcnt lgkmcnt(1)
    s_barrier
    ds_read_b32 v5, v2
    ds_read_b32 v5, v2 offset:256
    ds_read_b32 v5, v2 offset:512
    s_waitcnt lgkmcnt(0)
END
shows one_left "^waitcnt: $lds" 'offset:512' 'completed, 1 reports' --
# A scalar load sees the stores of others, too.
assemble scalar <<'END'
    global_store_dword v1, v0, s[4:5]
    s_barrier
    s_load_dwordx2 s[6:7], s[4:5], 0x0
    s_waitcnt lgkmcnt(0)
END
shows scalar '^waitcnt: 8 bytes at 0x[0-9a-f]+, which wave 0 stored' 's_load_dwordx2' --
# A counter that all waves change needs no waits; nor do bytes that nobody reads.
assemble counters <<'END'
    v_mov_b32 v3, 0
    v_mov_b32 v4, 1
    ds_write_b32 v1, v3
    global_store_dword v1, v3, s[4:5]
    s_waitcnt lgkmcnt(0)
    s_waitcnt_vscnt null, 0x0
    s_barrier
    ds_add_u32 v3, v4
    global_atomic_add v3, v4, s[4:5]
    s_barrier
    ds_add_u32 v3, v4
    ds_add_rtn_u32 v5, v3, v4
    global_atomic_add v3, v4, s[4:5]
    s_waitcnt lgkmcnt(0)
END
shows counters clean --
# A wave that spins on a word of another reads it without a barrier between: legal.
assemble spins <<'END'
    v_readfirstlane_b32 s6, v0
    v_mov_b32 v3, 0
    v_mov_b32 v4, 1
    s_cmp_eq_u32 s6, 0
    s_cbranch_scc0 stores
again:
    global_load_dword v5, v3, s[4:5] glc dlc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s7, v5
    s_cmp_eq_u32 s7, 1
    s_cbranch_scc0 again
    s_branch out
stores:
    global_store_dword v3, v4, s[4:5]
out:
END
shows spins clean --
# Other workgroups have barriers of their own.
assemble groups <<'END'
    s_lshl_b32 s6, s2, 8
    v_add_nc_u32 v2, s6, v1
    global_store_dword v2, v0, s[4:5]
    s_barrier
    s_xor_b32 s6, s6, 0x100
    v_add_nc_u32 v2, s6, v1
    global_load_dword v3, v2, s[4:5]
    s_waitcnt vmcnt(0)
END
grid=128 bytes=512
shows groups clean --
grid=64 bytes=256

# In CU mode all waves share one cache, which keeps the order of memory, but not that of LDS.
cu_mode=1
printf '%s\n' "$other" 'global_store_dword v1, v0, s[4:5]' s_barrier 'global_load_dword v3, v2, s[4:5]' | assemble cu
shows cu clean --
printf '%s\n' "$other" 'ds_write_b32 v1, v0' s_barrier 'ds_read_b32 v3, v2' | assemble cu_lds
shows cu_lds "^waitcnt: $lds" --
cu_mode=0

# Wave64: 64 lanes of each of the two waves.
wave=64 block=128 grid=128
printf '%s\n' 'v_xor_b32 v2, 0x100, v1' 'ds_write_b32 v1, v0' s_barrier 'ds_read_b32 v3, v2' | assemble wide
shows wide "^waitcnt: $lds" 'lanes 0xffffffffffffffff' --
finish "counters"
