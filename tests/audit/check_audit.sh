#!/bin/sh
# rmcp audit on small kernels in every wrapping: counts, JSON, CSV, marks, wrong input. Exit status 77
# (skip) without clang-19.
# usage: check_audit.sh RMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1
need clang-19 ld.lld-19
unset RMCP_SYSFS_ROOT
# run STATUS ARGUMENT…
run() {
    wanted=$1
    shift
    expect "$wanted" "$rmcp" audit "$@"
}

# bad STATUS PATTERN ARGUMENT…: one line on stderr with the pattern, nothing on stdout.
bad() {
    wanted=$1 message=$2
    shift 2
    run "$wanted" "$@"
    one_line
    grep -q -- "^rmcp audit: .*$message" "$work/err" || fail "rmcp audit $*: no '$message' in its message"
}

# ---- what to look at: the patterns are written by hand, so that no compiler changes the counts ----
mkdir -p "$work/src" "$work/co" "$work/tree/rocblas/library" "$work/tree/lib"
# kernel FILE: the head and the tail of a kernel NAME around what is on stdin.
kernel() {
    printf '.text\n.globl %s\n.p2align 8\n.type %s,@function\n%s:\n' "$1" "$1" "$1"
    cat
    printf 's_endpgm\n.L%s_end:\n.size %s, .L%s_end-%s\n' "$1" "$1" "$1" "$1"
    printf '.rodata\n.p2align 6\n.amdhsa_kernel %s\n.amdhsa_next_free_vgpr 8\n' "$1"
    printf '.amdhsa_next_free_sgpr 8\n.end_amdhsa_kernel\n'
}
{
    kernel clean <<'ASM'
v_mov_b32 v0, 0
ASM
    kernel prefetch <<'ASM'
s_inst_prefetch 0x1
v_mov_b32 v0, 0
s_inst_prefetch 0x2
ASM
    kernel cmpx <<'ASM'
s_mov_b32 s0, exec_lo
v_cmpx_lt_f32 v0, v1
flat_load_dword v2, v[3:4] offset:16
ASM
    kernel dots <<'ASM'
v_dot2c_f32_f16 v0, v1, v2
v_dot2c_f32_f16 v0, v1, v2
v_fmac_legacy_f32 v0, v1, v2
ASM
    cat <<'ASM'
.text
.p2align 8
.type helper,@function
helper:
s_inst_prefetch 0x3
s_setpc_b64 s[30:31]
.Lhelper_end:
.size helper, .Lhelper_end-helper
ASM
} >"$work/src/gfx1030.s"
kernel clean >"$work/src/gfx1010.s" <<'ASM'
v_mov_b32 v0, 0
ASM
kernel clean >"$work/src/gfx906.s" <<'ASM'
v_mov_b32 v0, 0
ASM
for chip in gfx1030 gfx1010 gfx906; do
    clang-19 -target amdgcn-amd-amdhsa -mcpu=$chip "$work/src/$chip.s" -o "$work/co/$chip.co" || exit 1
done

# ---- single objects ----
run 1 "$work/co/gfx1030.co"
quiet
has 'code for gfx1010: none' '^  gfx1030 +1 +4 +1 +2  runs there only' \
    '^  lacking in the chip +0 +0 +3 +1$' '^  any pattern +0 +0 +5 +2$' \
    '^  vcmpx-exec-war +0 +0 +1 +1$' '^  inst-prefetch +0 +0 +3 +1$' '^  flat-offset +0 +0 +1 +1$' \
    'v_dot2c_f32_f16 +2 in 1 kernels$' 'v_fmac_legacy_f32 +1 in 1 kernels; there it means v_mac_legacy_f32' \
    'helper \(device function\)' '1 of 1 libraries have no code for gfx1010' 'nothing was run on silicon'
if grep -qi 'will crash' "$work/out"; then fail "it promises a crash"; fi
run 0 "$work/co/gfx1010.co"
quiet
has 'code for gfx1010: yes' '^  gfx1010 +1 +1 +0 +0  code for the chip' '0 of 1 libraries'
clang-19 -target amdgcn-amd-amdhsa -mcpu=gfx10-1-generic -mcode-object-version=6 "$work/src/gfx1010.s" \
    -o "$work/generic.co" 2>/dev/null || exit 1
run 0 "$work/generic.co"
has '^  gfx10-1-generic +1 +1 +0 +0  code for the chip'
clang-19 -target amdgcn-amd-amdhsa -mcpu=gfx1010:xnack+ "$work/src/gfx1010.s" -o "$work/xnack.co" || exit 1
run 1 "$work/xnack.co" # no RDNA1 driver loads it
has 'code for gfx1010: none' 'needs XNACK'
run 1 "$work/co/gfx906.co"
has 'code for gfx1010: none' '^  gfx906 +1 +1 +- +-  not gfx10: not decoded'
run 0 --target gfx1030 "$work/co/gfx1030.co" # which has none of these bugs
run 1 --target gfx1012 "$work/co/gfx1030.co" # which has the dot instructions
has '^  lacking in the chip +0 +0 +1 +1$'

# ---- wrapped: a bundle, a library, a wheel, folders ----
clang-offload-bundler-19 -type=o -bundle-align=4096 \
    -targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx1030,hipv4-amdgcn-amd-amdhsa--gfx906 \
    -input=/dev/null -input="$work/co/gfx1030.co" -input="$work/co/gfx906.co" \
    -output="$work/bundle.hipfb" || exit 1
printf '.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "%s"\n' "$work/bundle.hipfb" >"$work/fat.s"
clang-19 -shared -nostdlib "$work/fat.s" -o "$work/tree/lib/libfat.so" || exit 1
for file in "$work/bundle.hipfb" "$work/tree/lib/libfat.so"; do
    run 1 "$file"
    quiet
    has '^  gfx1030 +1 +4 +1 +2 ' '^  gfx906 +1 +1 ' '1 of 1 libraries have no code'
done
(cd "$work/tree/lib" && "$python" -m zipfile -c ../../a.whl libfat.so) || exit 1
run 1 "$work/a.whl"
has '^/.*a.whl: libfat.so$' '^  gfx1030 +1 +4 +1 +2 '
# As Python's zipapp makes them: offsets count the first line, too.
"$python" -c 'import sys, zipfile
file = open(sys.argv[1], "wb")
file.write(b"#!/usr/bin/env python3\n")
zipfile.ZipFile(file, "w").write(sys.argv[2], "libfat.so")' "$work/a.pyz" "$work/tree/lib/libfat.so" || exit 1
run 1 "$work/a.pyz"
has '^/.*a.pyz: libfat.so$' '^  gfx1030 +1 +4 +1 +2 '
echo '#!/bin/sh' >"$work/script"
bad 1 'no GPU code in it' "$work/script"
# Files for one target each are one library: the folder has code for the chip.
cp "$work"/co/*.co "$work/tree/rocblas/library"
ln -s .. "$work/tree/loop"
run 1 "$work/tree"
quiet
has '^/.*/tree/lib/libfat.so$' '^/.*/tree/rocblas/library/$' '^  all +2 +1 +[0-9]+ +8$' \
    '^  any pattern +0 +0 +10 +4$' '1 of 2 libraries have no code for gfx1010'
cp "$work/out" "$work/once"
for threads in 1 2 7; do
    run 1 --threads $threads "$work/tree"
    cmp -s "$work/once" "$work/out" || fail "another report with $threads threads"
done
run 1 --worst 1 "$work/tree"
[ "$(grep -c '^ .* dots$' "$work/out")" -eq 1 ] || fail "--worst 1 does not name one kernel, the worst"

# ---- JSON and CSV ----
run 1 --json "$work/tree"
"$python" -m json.tool "$work/out" >/dev/null || fail "no JSON"
"$python" - "$work/out" <<'PYTHON' || fail "JSON with other contents"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["schema"] == "rmcp.audit/1" and r["target"] == "gfx1010" and r["run_on_silicon"] is False
assert [l["has_code_for_target"] for l in r["libraries"]] == [False, True]
t = {row["target"]: row for row in r["totals"]}
assert sorted(t) == ["gfx1010", "gfx1030", "gfx906"], t
assert [t[k]["kind"] for k in sorted(t)] == ["native", "foreign", "other"]
assert t["gfx1030"]["lacking"] == {"instructions": 6, "kernels": 2, "functions": 0}
assert t["gfx1030"]["patterns"]["inst-prefetch"] == {"instructions": 6, "kernels": 2, "functions": 2}
assert t["gfx1030"]["unknown_words"] == 0 and t["gfx1030"]["functions"] == 2
assert {o["instruction"] for o in r["lacking_instructions"]} == {"v_dot2c_f32_f16", "v_fmac_legacy_f32"}
assert all(x["pattern"] and x["silicon"] and x["llvm_feature"] for x in r["rules"])
PYTHON
odd=$work/$(printf 'gr\303\274n \377"\355\240\200')
mkdir "$odd"
cp "$work/co/gfx1010.co" "$odd/lib\"x.so"
run 0 --json "$work/gr"*
"$python" - "$work/out" <<'PYTHON' || fail "JSON of odd names"
import json, sys
name = json.loads(open(sys.argv[1], "rb").read().decode())["libraries"][0]["library"]
assert name.endswith('/gr\u00fcn ?"???/'), name
PYTHON
run 1 --csv "$work/tree"
"$python" - "$work/out" <<'PYTHON' || fail "CSV with other contents"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert [r["target"] for r in rows] == ["gfx1030", "gfx906", "gfx1010", "gfx1030", "gfx906"], rows
for name in ("library", "kind", "objects", "kernels", "lacking_kernels", "any_pattern_kernels",
             "vcmpx-exec-war_instructions", "branch-3f_kernels"):
    assert name in rows[0], name
assert all(None not in r and None not in r.values() for r in rows)
assert rows[0]["inst-prefetch_instructions"] == "3" and rows[0]["inst-prefetch_functions"] == "1"
PYTHON

# ---- one kernel ----
run 1 --kernel cmpx "$work/tree/lib/libfat.so"
has '^ c 000000  s_mov_b32 s0, exec_lo' '^>  000004  v_cmpx_lt_f32' \
    'has the pattern vcmpx-exec-war, cause at 000000' '^>  000008  flat_load_dword' \
    'has the pattern flat-offset: inst_offset' '^2 findings in 1 functions'
run 1 --kernel dots "$work/co/gfx1030.co"
has '^>  000000  v_dot2c_f32_f16' 'gfx1010 lacks this instruction$' 'there it means v_mac_legacy_f32'
run 1 --kernel helper "$work/co/gfx1030.co"
has 's_inst_prefetch 0x3'
run 0 --kernel clean "$work/co/gfx1030.co"
has '^0 findings in 1 functions'
bad 1 "no gfx10 code of a kernel 'nosuch'" --kernel nosuch "$work/co/gfx1030.co"

# ---- wrong input ----
: >"$work/empty"
echo 'no code here' >"$work/text"
mkdir "$work/nothing"
ln -s . "$work/nothing/loop"
size=$(wc -c <"$work/co/gfx1030.co")
head -c $((size / 2)) "$work/co/gfx1030.co" >"$work/cut.co"
bad 2 'No such file or directory' "$work/missing"
bad 2 'No such file or directory' "$work/co/gfx1010.co" "$work/missing"
bad 2 'no file given'
bad 2 "target is 'gfx906'" --target gfx906 "$work/co/gfx1010.co"
bad 2 'exclude each other' --json --csv "$work/co/gfx1010.co"
bad 2 'at most 1024' --threads 5000 "$work/co/gfx1010.co"
bad 2 'no option' --frobnicate "$work/co/gfx1010.co"
bad 1 'no GPU code in it' "$work/empty"
bad 1 'no GPU code in it' "$work/text"
bad 1 'no GPU code in it' "$work/nothing"
gzip -c "$work/co/gfx1010.co" >"$work/co.gz"
bad 1 'compressed by gzip, which is not looked into' "$work/co.gz"
# Another file's name may begin with its own.
cp "$work/text" "$work/co/gfx1010"
run 1 "$work/co/gfx1010" "$work/co/gfx1010.co"
grep -q 'gfx1010: no GPU code in it' "$work/err" || fail "a file without code beside its namesake"
rm "$work/co/gfx1010"
bad 1 'cut off' "$work/cut.co"
run 1 "$work/cut.co" "$work/co/gfx1010.co" # the rest is still read
has 'code for gfx1010: yes'
# Symbols that all claim the same code: each instruction is still read once.
awk 'BEGIN {
    print ".text\n.p2align 8"
    for (i = 0; i < 1000; i++) print ".type f" i ",@function\nf" i ":\ns_nop 0\n.size f" i ", .Lend-f" i
    for (i = 0; i < 90000; i++) print "s_nop 0"
    print ".Lend:" }' >"$work/src/overlap.s"
clang-19 -target amdgcn-amd-amdhsa -mcpu=gfx1030 "$work/src/overlap.s" -o "$work/overlap.co" || exit 1
run 1 "$work/overlap.co"
has '^  all +0 +0 +91000 +0$'
# Any byte may be wrong: no crash, one report or one message.
for at in 16 40 48 64 100 200 400 800 1200 1600; do
    { head -c $at "$work/co/gfx1030.co"; printf '\377\377\377\377'; tail -c +$((at + 5)) "$work/co/gfx1030.co"; } \
        >"$work/damaged.co"
    "$rmcp" audit "$work/damaged.co" >"$work/out" 2>"$work/err"
    [ $? -eq 1 ] || fail "damaged at $at: not exit status 1"
done

# ---- names of kernels: the middle is left out where a line would be too long ----
name=Cijk_begin_$(printf 'x%.0s' $(seq 500))_end
kernel "$name" <<'ASM' >"$work/src/long.s"
s_inst_prefetch 0x1
ASM
clang-19 -target amdgcn-amd-amdhsa -mcpu=gfx1030 "$work/src/long.s" -o "$work/long.co" || exit 1
run 1 "$work/long.co"
has ' Cijk_begin_x*\.\.\.x*_end$' 'names were shortened: --full'
for columns in 60 80 132; do
    expect 1 env COLUMNS=$columns "$rmcp" audit "$work/long.co"
    [ "$(grep ' Cijk_begin' "$work/out" | awk '{ print length }')" -eq $columns ] ||
        fail "COLUMNS=$columns: the name does not fill the line"
done
expect 1 env COLUMNS=10 "$rmcp" audit "$work/long.co"
has ' Cijk_begi?n?.*_end$'
run 1 --full "$work/long.co"
has " $name\$"
if grep -q 'were shortened' "$work/out"; then fail '--full shortens'; fi
run 1 --json "$work/long.co"
has "\"$name\""

# ---- the machine's own chip ----
nodes=$work/sys/class/kfd/kfd/topology/nodes
RMCP_SYSFS_ROOT=$work/sys
export RMCP_SYSFS_ROOT
bad 1 'no chip to detect: .*--target gfx1010' --target auto "$work/co/gfx1010.co"
mkdir -p "$nodes/0" "$nodes/1"
printf 'cpu_cores_count 16\ngfx_target_version 0\n' >"$nodes/0/properties"
bad 1 'no GPU at all' --target auto "$work/co/gfx1010.co"
printf 'gfx_target_version 110001\n' >"$nodes/1/properties"
bad 1 'gfx1101' --target auto "$work/co/gfx1010.co"
printf 'simd_count 80\ngfx_target_version 100102\n' >"$nodes/1/properties"
run 1 --target auto "$work/co/gfx1010.co"
has '^target +gfx1012'
printf 'gfx_target_version 100100\n' >"$nodes/1/properties"
run 0 --target auto "$work/co/gfx1010.co"
has '^target +gfx1010'

finish audit
