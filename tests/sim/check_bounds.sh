#!/bin/sh
# Accesses past the end of LDS, scratch and buffers: check_bounds.sh RMCP
# Loads, stores and atomics of both wave sizes, directly and by FLAT; the last bytes inside are fine.
set -eu
. "$(dirname "$0")/asm.sh"

# bounds NAME SETUP ACCESS INSIDE OUTSIDE PATTERN: SETUP makes an address of v2, which is OUTSIDE for
# lane 5 and INSIDE for all others: that lane only must be reported. Undefined LDS is another test's.
bounds() {
    vcc=$([ "$wave" = 64 ] && echo vcc || echo vcc_lo)
    printf '%s\n' "v_mov_b32 v2, $4" "v_mov_b32 v3, $5" "v_cmp_eq_u32 $vcc, 5, v0" \
        "v_cndmask_b32 v2, v2, v3, $vcc" "$2" "$3" | assemble "$1.$wave"
    shows "$1.$wave" "^$6" 'lanes 0x20$' ', 1 reports' -- --checks=-lds
}

# Addresses for FLAT from an offset in v2.
flat_lds='s_mov_b64 s[6:7], src_shared_base
v_mov_b32 v4, v2
v_mov_b32 v5, s7'
flat_scratch='s_mov_b64 s[6:7], src_private_base
v_mov_b32 v4, v2
v_mov_b32 v5, s7'
v_sum() { # 64-bit sum of s[4:5] and the signed v2
    carry=$([ "$wave" = 64 ] && echo 's[6:7]' || echo s6)
    echo "v_ashrrev_i32 v6, 31, v2
v_add_co_u32 v4, $carry, s4, v2
v_add_co_ci_u32 v5, $carry, s5, v6, $carry"
}
buffer='s_mov_b32 s8, s4
s_mov_b32 s9, s5
s_mov_b32 s10, 0x1000
s_mov_b32 s11, 0x31014fac'
values='v_mov_b32 v8, 1
v_mov_b32 v9, 2
v_mov_b32 v10, 3
v_mov_b32 v11, 4'

for wave in 32 64; do
    block=$wave grid=$wave
    lds='lds-fault: 4 bytes at 1024 of an LDS of 1024 bytes'
    bounds lds_load "$values" 'ds_read_b32 v7, v2' 1020 1024 "$lds"
    bounds lds_store "$values" 'ds_write_b32 v2, v8' 1020 1024 "$lds"
    bounds lds_atomic "$values" 'ds_add_u32 v2, v8' 1020 1024 "$lds"
    bounds lds_wide "$values" 'ds_write_b128 v2, v[8:11]' 1008 1012 'lds-fault: 16 bytes at 1012'
    bounds lds_offset "$values" 'ds_read2_b32 v[6:7], v2 offset1:3' 1008 1012 'lds-fault: 4 bytes at 1024'
    bounds lds_negative "$values" 'ds_read_b32 v7, v2 offset:4' 0 -8 'lds-fault: 4 bytes at 4294967292'
    bounds flat_lds_load "$flat_lds" 'flat_load_dword v7, v[4:5]' 1020 1024 "$lds"
    bounds flat_lds_store "$flat_lds
$values" 'flat_store_dword v[4:5], v8' 1020 1024 "$lds"
    bounds flat_lds_atomic "$flat_lds
$values" 'flat_atomic_add v7, v[4:5], v8 glc' 1020 1024 "$lds"

    scratch='scratch-fault: 4 bytes at offset 64 of a scratch of 64 bytes'
    bounds scratch_load "$values" 'scratch_load_dword v7, v2, off' 60 64 "$scratch"
    bounds scratch_store "$values" 'scratch_store_dword v2, v8, off' 60 64 "$scratch"
    bounds scratch_wide "$values" 'scratch_store_dwordx4 v2, v[8:11], off' 48 52 'scratch-fault: 16 bytes at offset 52'
    bounds flat_scratch_load "$flat_scratch" 'flat_load_dword v7, v[4:5]' 60 64 "$scratch"
    bounds flat_scratch_store "$flat_scratch
$values" 'flat_store_dwordx2 v[4:5], v[8:9]' 56 60 'scratch-fault: 8 bytes at offset 60'
    bounds flat_scratch_atomic "$flat_scratch
$values" 'flat_atomic_add_x2 v[6:7], v[4:5], v[8:9] glc' 56 64 'scratch-fault: 8 bytes at offset 64'

    memory='0 bytes past the end of buffer 0 \(128 bytes\)'
    bounds global_load "$values" 'global_load_dword v7, v2, s[4:5]' 124 128 "memory-fault: load of 4 bytes at .*$memory"
    bounds global_store "$values" 'global_store_dwordx4 v2, v[8:11], s[4:5]' 112 124 \
        "memory-fault: store of 16 bytes at .*$memory"
    bounds global_byte "$values" 'global_store_byte v2, v8, s[4:5]' 127 128 \
        "memory-fault: store of 1 bytes at .*$memory"
    bounds global_atomic "$values" 'global_atomic_add_x2 v2, v[8:9], s[4:5]' 120 128 \
        "memory-fault: atomic of 8 bytes at .*$memory"
    bounds global_before "$(v_sum)
$values" 'global_store_dword v[4:5], v8, off' 0 -4 'memory-fault: store of 4 bytes at .*4 bytes before'
    bounds flat_load "$(v_sum)" 'flat_load_dword v7, v[4:5]' 124 128 "memory-fault: load of 4 bytes at .*$memory"
    bounds flat_store "$(v_sum)
$values" 'flat_store_dword v[4:5], v8' 124 128 "memory-fault: store of 4 bytes at .*$memory"
    bounds flat_atomic "$(v_sum)
$values" 'flat_atomic_swap v7, v[4:5], v8 glc' 124 128 "memory-fault: atomic of 4 bytes at .*$memory"
    # A descriptor that promises more than there is.
    bounds buffer_load "$buffer" 'buffer_load_dword v7, v2, s[8:11], 0 offen' 124 128 \
        "memory-fault: load of 4 bytes at .*$memory"
    bounds buffer_store "$buffer
$values" 'buffer_store_dword v8, v2, s[8:11], 0 offen' 124 128 "memory-fault: store of 4 bytes at .*$memory"
    bounds buffer_atomic "$buffer
$values" 'buffer_atomic_add v8, v2, s[8:11], 0 offen' 124 128 "memory-fault: atomic of 4 bytes at .*$memory"
done

# The two dwords of a work-item's scratch lie apart; an atomic of 8 bytes finds both.
wave=32 block=32 grid=32
assemble apart <<END
    v_mov_b32 v2, 8
$flat_scratch
    v_mov_b32 v8, v0
    v_mov_b32 v9, -1
    v_mov_b32 v10, 3
    v_mov_b32 v11, 1
    scratch_store_dwordx2 v2, v[8:9], off
    flat_atomic_add_x2 v[4:5], v[10:11]
    s_waitcnt lgkmcnt(0)
    s_waitcnt_vscnt null, 0x0
    scratch_load_dwordx2 v[12:13], v2, off
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v12, v12, v13
    global_store_dword v1, v12, s[4:5]
END
"$rmcp" sim --kernel apart.co k --block 32 --grid 32 --args out:128@apart.bin >apart.out ||
    { cat apart.out; fail "rmcp sim"; }
sums=$(od -An -v -tu4 -w4 apart.bin | tr -d ' \n')
[ "$sums" = "$(seq 3 34 | tr -d '\n')" ] || fail "sums $sums"
finish "bounds"
