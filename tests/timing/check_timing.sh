#!/bin/sh
# The model of time on kernels whose clocks can be computed by hand: check_timing.sh RMCP
# Each is a loop; what is compared is what ten more rounds of it cost, so that start and end do not matter.
# By the parameters in data/cards/rdna1.timing: results after 5 clocks, scalar ones after 2, a taken branch 16, LDS 40.
set -eu
# shellcheck source=tests/sim/asm.sh
. "$(dirname "$0")/../sim/asm.sh"

# value NAME KEY…: from the JSON of a run.
value() {
    file=$1
    shift
    "$python" -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]: value = value[key]
print(int(value) if isinstance(value, float) and value == int(value) else value)' "$file.json" "$@"
}

# model NAME OPTION…: run it on the model.
model() {
    name=$1
    shift
    "$rmcp" sim --timing --json --kernel "$name.co" k --block $block --grid $grid "$@" \
        --args "out:$bytes=0@$name.bin" >"$name.json" || { cat "$name.json"; fail "$name $*: exit status $?"; }
}

# The end of a loop: s6 counts. The last instruction of a round is issued at a clock t, the subtraction at t + 1,
# the comparison at t + 3, the branch at t + 5, and the next round begins at t + 21.
round_end='
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 again'

# costs NAME CLOCKS < BODY: a round of the loop takes so long; BODY is made twice, with 10 rounds and with 20.
costs() {
    what=$1 wanted=$2
    cat >"$what.body"
    for rounds in 10 20; do
        { cat "$what.before" 2>/dev/null || :
          printf 's_movk_i32 s6, %s\nagain:\n' $rounds
          cat "$what.body"
          printf '%s\n' "$round_end"; } | assemble "$what.$rounds"
        model "$what.$rounds"
    done
    found=$(($(value "$what.20" timing clocks) - $(value "$what.10" timing clocks)))
    n_checks=$((n_checks + 1))
    [ "$found" -eq $((10 * wanted)) ] || fail "$what: ten rounds take $found clocks, not $((10 * wanted))"
}

# ---- the vector unit ----
costs dependent $((63 * 5 + 21)) <<'END'
    .rept 64
    v_fmac_f32 v2, v3, v3
    .endr
END
costs independent $((63 + 21)) <<'END'
    .rept 8
    v_fmac_f32 v2, v10, v10
    v_fmac_f32 v3, v10, v10
    v_fmac_f32 v4, v10, v10
    v_fmac_f32 v5, v10, v10
    v_fmac_f32 v6, v10, v10
    v_fmac_f32 v7, v10, v10
    v_fmac_f32 v8, v10, v10
    v_fmac_f32 v9, v10, v10
    .endr
END
costs transcendental $((63 * 4 + 21)) <<'END'
    .rept 64
    v_exp_f32 v2, v3
    .endr
END
# Others go on beside the transcendental unit: four clocks for a v_exp, in which three more find room.
costs beside $((63 * 4 + 21 + 3)) <<'END'
    .rept 64
    v_exp_f32 v2, v3
    v_mov_b32 v4, v3
    v_mov_b32 v5, v3
    v_mov_b32 v6, v3
    .endr
END
costs multiply $((63 * 4 + 21)) <<'END'
    .rept 64
    v_mul_lo_u32 v2, v3, v4
    .endr
END
costs double $((63 * 16 + 21)) <<'END'
    .rept 64
    v_fma_f64 v[2:3], v[4:5], v[4:5], v[4:5]
    .endr
END
costs scalar $((63 * 2 + 21)) <<'END'
    .rept 64
    s_add_u32 s7, s7, 1
    .endr
END
wave=64 block=64 grid=64 bytes=256
costs dependent64 $((63 * 5 + 21)) <<'END'
    .rept 64
    v_fmac_f32 v2, v3, v3
    .endr
END
costs independent64 $((63 * 2 + 21)) <<'END'
    .rept 64
    v_mul_f32 v2, v3, v3
    .endr
END
# A half of the wave that is off takes no time.
echo 's_mov_b64 exec, 0xffff' >half64.before
costs half64 $((63 + 21)) <<'END'
    .rept 64
    v_mul_f32 v2, v3, v3
    .endr
END
wave=32 block=32 grid=32 bytes=128

# ---- LDS: each of 32 loads takes as long as its worst bank; the last one's result comes 40 clocks after. ----
# Load k is issued at clock k and begins when those before are done; s_waitcnt goes at the last one's end.
lds_bytes=16384
for ways in 1 2 4 32; do
    { printf 'v_mul_u32_u24 v2, %s, v0\n' $((4 * ways)); } >conflict$ways.before
    costs conflict$ways $((32 * ways - 1 + 40 + 21)) <<'END'
    .rept 32
    ds_read_b32 v3, v2
    .endr
    s_waitcnt lgkmcnt(0)
END
done
echo 'v_mov_b32 v2, 64' >broadcast.before
costs broadcast $((32 - 1 + 40 + 21)) <<'END'
    .rept 32
    ds_read_b32 v3, v2
    .endr
    s_waitcnt lgkmcnt(0)
END
echo 'v_lshlrev_b32 v2, 4, v0' >wide.before
costs wide $((32 * 4 - 1 + 40 + 21)) <<'END'
    .rept 32
    ds_read_b128 v[4:7], v2
    .endr
    s_waitcnt lgkmcnt(0)
END

# ---- global memory ----
# Hits in L0, each waited for: 110 clocks to the wait, which takes one itself.
bytes=65536
costs latency $((32 * 111 - 1 + 21)) <<'END'
    .rept 32
    global_load_dword v2, v1, s[4:5]
    s_waitcnt vmcnt(0)
    .endr
END
# counts NAME BYTES HITS MISSES: two rounds over so many bytes, a line of 128 in each load.
counts() {
    lines=$(($2 / 128))
    { printf 's_movk_i32 s7, 2\nouter:\nv_mov_b32 v2, v1\ns_movk_i32 s6, %s\nagain:\n' $lines
      printf 'global_load_dword v3, v2, s[4:5]\nv_add_nc_u32 v2, 0x80, v2\n%s\n' "$round_end"
      printf 's_waitcnt vmcnt(0)\ns_sub_u32 s7, s7, 1\ns_cmp_lg_u32 s7, 0\ns_cbranch_scc1 outer\n'; } | assemble "$1"
    model "$1"
    n_checks=$((n_checks + 1))
    found="$(value "$1" timing l0_hits) $(value "$1" timing l0_misses)"
    [ "$found" = "$3 $4" ] || fail "$1: hits and misses are $found, not $3 $4"
}
counts fits 8192 64 64
counts overflows 32768 0 512
# Each line comes from memory once, then from L1 of 128 KB; kernel arguments (a line of 128) besides.
[ "$(value overflows timing bytes_read DRAM)" -eq $((32768 + 128)) ] || fail 'bytes from DRAM'
[ "$(value overflows timing bytes_read L1)" -eq 32768 ] || fail 'bytes from L1'
bytes=128 lds_bytes=1024

# ---- how many are on a WGP ----
# places VGPRS LDS CU_MODE GROUPS LIMIT
places() {
    vgprs=$1 lds_bytes=$2 cu_mode=$3 block=256 grid=256
    echo 's_nop 0' | assemble places
    model places
    n_checks=$((n_checks + 1))
    found="$(value places timing workgroups_per_wgp) $(value places timing occupancy_limit)"
    [ "$found" = "$4 $5" ] || fail "$1 VGPRs, $2 bytes of LDS, cu_mode $3: $found, not $4 $5"
}
places 16 1024 0 10 waves
places 128 1024 0 4 vgprs
places 129 1024 0 3 vgprs # 136 in whole granules: 7 waves on a SIMD, 28 in all
places 16 40000 0 3 lds
places 16 40000 1 2 lds
places 16 65536 0 2 lds
vgprs=16 lds_bytes=1024 cu_mode=0 block=32 grid=32

# ---- barriers, samples, ranges, equal results ----
# Eight waves, two on a SIMD; all pass a barrier 20 clocks after the last one came.
block=256 grid=256 bytes=1024
for n in 10 20; do
    printf '.rept %s\ns_barrier\n.endr\n' $n | assemble barrier.$n
    model barrier.$n
done
# Two lines of instructions more, of which each may cost a miss of 150.
found=$(($(value barrier.20 timing clocks) - $(value barrier.10 timing clocks)))
n_checks=$((n_checks + 1))
{ [ $found -ge 200 ] && [ $found -le 520 ]; } || fail "ten barriers take $found clocks"

block=256 grid=$((256 * 1800)) bytes=$((1024 * 1800))
cat <<'END' | assemble many
    s_lshl_b32 s7, s2, 10
    v_add_nc_u32 v1, s7, v1
    global_load_dword v2, v1, s[4:5]
    s_movk_i32 s6, 20
again:
    v_fmac_f32 v3, v0, v0
    v_fmac_f32 v4, v0, v0
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 again
    s_waitcnt vmcnt(0)
    v_add_nc_u32 v2, v2, v0
    global_store_dword v1, v2, s[4:5]
END
model many --ranges
cp many.bin whole.bin
cp many.json whole.json
"$rmcp" sim --kernel many.co k --block $block --grid $grid --args "out:$bytes=0@plain.bin" >plain.out ||
    fail 'the kernel without a model'
n_checks=$((n_checks + 1))
cmp plain.bin whole.bin || fail 'results differ with the model'
"$python" - <<'END' || fail 'ranges'
import json
t = json.load(open("whole.json"))["timing"]
assert not t["sampled"] and t["sampling_spread"] == 0 and t["workgroups_replayed"] == 1800
assert 0 < t["fast_seconds"] <= t["seconds"] <= t["slow_seconds"], t
assert abs(sum(t["wave_time"].values()) - 1) < 1e-6
assert t["bytes_written"] == 1800 * 1024
END
model many --sample 700000
n_checks=$((n_checks + 1))
cmp plain.bin many.bin || fail 'results differ with a sample'
"$python" - <<'END' || fail 'the time of a sample'
import json
whole, part = (json.load(open(name + ".json"))["timing"] for name in ("whole", "many"))
assert part["sampled"] and part["workgroups_replayed"] < 1000, part
ratio = part["seconds"] / whole["seconds"]
assert 0.9 < ratio < 1.1, (ratio, part["sampling_spread"])
END
model many --sample 700000 --sample-only
[ "$(value many timing sampled)" = True ] || fail "JSON of --sample-only"

# 20 workgroups that fill a WGP's SIMDs: two of 18 WGPs have two of them, and all are done when these are.
grid=$((256 * 20)) bytes=1024
{ printf 's_movk_i32 s6, 100\nagain:\n.rept 8\n'
  for i in 2 3 4 5 6 7 8 9; do printf 'v_fmac_f32 v%s, v0, v0\n' $i; done
  printf '.endr\n%s\n' "$round_end"; } | assemble round
model round
cp round.json round_whole.json
model round --sample 200000
"$python" - <<'END' || fail 'the time of a sample of one round'
import json
whole, part = (json.load(open(name + ".json"))["timing"] for name in ("round_whole", "round"))
assert not whole["sampled"] and part["sampled"] and part["workgroups_replayed"] < 10, part
assert 0.95 < part["clocks"] / whole["clocks"] < 1.05, (part["clocks"], whole["clocks"])
END
block=256 grid=$((256 * 1800)) bytes=$((1024 * 1800))

# ---- the table, the picture, what is refused ----
expect 0 "$rmcp" sim --timing --picture many.svg --kernel many.co k --block $block --grid 2560 --args buf:$bytes
has 'modelled on rx5600xt at 1560 MHz' 'workgroups on a WGP \(waves\)' 'of the peak: multiply-adds' \
    'time of waves: issue'
"$python" -c 'import sys, xml.etree.ElementTree as tree; assert len(tree.parse("many.svg").getroot()) > 30' ||
    fail 'the picture is not one'
expect 2 "$rmcp" sim --picture x.svg --kernel many.co k --block 256 --grid 256 --args buf:$bytes
says '--picture says how --timing'
expect 2 "$rmcp" sim --timing --card rx6800 --kernel many.co k --block 256 --grid 256 --args buf:$bytes
says 'gfx101x only'
expect 2 "$rmcp" sim --timing --card nonsense --kernel many.co k --block 256 --grid 256 --args buf:$bytes
says 'known are'
expect 2 "$rmcp" sim --timing --act-out --kernel many.co k --block 256 --grid 256 --args buf:$bytes
says 'not with --act-out'
finish
