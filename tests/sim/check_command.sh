#!/bin/sh
# rmcp sim --kernel as a command: its arguments, where kernels are found, and what it says of wrong use:
# check_command.sh RMCP
set -eu
. "$(dirname "$0")/asm.sh"

cat >k.cl <<'END'
#define ID (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())
__kernel void turn(__global uint *a, __local uint *l, __local ulong *m, uint n)
{
    uint i = __builtin_amdgcn_workitem_id_x();
    l[i] = a[ID];
    m[63 - i] = n;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    a[ID] = l[63 - i] + (uint)m[i];
}
__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void sized(__global uint *o) { o[ID] = ID; }
__kernel void values(__global ulong *o, char a, short b, ulong c, float d, double e, int2 f)
{
    o[0] = a, o[1] = (ulong)b, o[2] = c, o[3] = (ulong)d, o[4] = (ulong)e, o[5] = f.y;
}
/* Lanes in global memory and in scratch, four words at a time. */
__kernel void mixed(__global uint4 *a, uint n)
{
    uint4 own[2] = { (uint4)(1, 2, 3, 4) * ID, (uint4)(5) };
    uint4 *p = ID & 1 ? (uint4 *)&own[n] : (uint4 *)&a[ID];
    *(volatile uint4 *)p += (uint4)(n);
    a[ID] = *p;
}
__kernel void pair(__global uint *a, __global uint *b) { a[0] = b[0]; }
__attribute__((noinline)) uint deep(uint x) { return *(volatile __global uint *)(ulong)(x & ~3u); }
__kernel void called(__global uint *a) { a[ID] = deep(a[ID]); }
END
for chip in gfx1010 gfx1030 gfx906; do
    "$clang" -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=$chip -O2 -g -nogpulib -w k.cl -o $chip.co
done
"$clang" -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx1010 -O2 -nogpulib -w -c k.cl -o unlinked.o
cat gfx906.co gfx1030.co gfx1010.co >several.bin

# tells STATUS PATTERN ARGUMENT...: the exit status, and one line that has the pattern.
tells() {
    wanted=$1 pattern=$2 status=0 n_checks=$((n_checks + 1))
    shift 2
    "$rmcp" sim --kernel "$@" >out 2>&1 || status=$?
    [ "$status" = "$wanted" ] && grep -Eq -- "$pattern" out ||
        { cat out; fail "rmcp sim --kernel $*: exit status $status, not $wanted with '$pattern':"; }
    [ "$wanted" != 2 ] || [ "$(wc -l <out)" = 1 ] || { cat out; fail "rmcp sim --kernel $*: not one line"; }
}
same() { [ "$(od -An -v -t"$1" "$2" | tr -s ' \n' ' ')" = " $3 " ] || fail "$2: $(od -An -t"$1" "$2")"; }

# What there is to give.
i=0
while [ $i -lt 128 ]; do printf "\\$(printf %o $i)\0\0\0"; i=$((i + 1)); done >a.bin
tells 0 'completed, 0 reports \(simulated gfx1010\)' gfx1010.co turn --grid 128 --block 64 --args \
    inout:a.bin@b.bin local:256 local:512 u32:1000
same d4 b.bin "$(i=64; while [ $i -gt 0 ]; do i=$((i - 1)); printf '%d ' $((i + 1000)); done
    i=128; while [ $i -gt 64 ]; do i=$((i - 1)); printf '%d ' $((i + 1000)); done | sed 's/ $//')"
tells 0 completed gfx1010.co values --args out:48@v.bin i8:-1 i16:-300 u64:0x123456789a f32:7.9 f64:1e3 \
    hex:0100000009000000
same d8 v.bin "-1 -300 78187493530 7 1000 9"
tells 0 completed gfx1010.co sized --grid 64 out:256@s.bin
tells 0 completed gfx1010.co mixed --grid 64 --block 64 --args buf:1024=0 u32:0
tells 0 completed gfx1010.co turn --grid 64 --block 64 --args buf:256=1@v.bin local:256 local:512 u32:0

# Where it is found: the object for the chip, whatever lies before it.
tells 0 'simulated gfx1010' several.bin sized --grid 64 buf:256
tells 0 'simulated gfx1030' several.bin sized --grid 64 --chip gfx1030 buf:256
tells 1 'kernel called in deep\+0x[0-9a-f]+ \(k.cl:[0-9]+\)' gfx1010.co called --grid 64 --block 64 --args buf:256
tells 1 'at 0x0: a null pointer' gfx1010.co called --grid 64 --block 64 --args buf:256

# Wrong use: one line each, before anything was run.
tells 2 'No such file' missing.co turn
tells 2 'no kernel named' gfx1010.co
tells 2 "no kernel 'spin'; it has turn, sized, values, mixed, pair, called" gfx1010.co spin
tells 2 'has no code for AMD GPUs' k.cl turn
tells 2 'is code for gfx906; only' gfx906.co turn
tells 2 'not linked' unlinked.o turn
head -c 3000 gfx1010.co >cut.co
tells 2 'cut off' cut.co turn
tells 2 '1 arguments; argument 1 \(dynamic_shared_pointer of 4 bytes\) is missing' gfx1010.co turn buf:4
tells 2 '2 arguments; the kernel takes 1' gfx1010.co sized buf:4 i32:1
tells 2 "'i32:1' has 4 bytes; the kernel takes a global_buffer of 8" gfx1010.co sized i32:1
tells 2 'requires 64,1,1' gfx1010.co sized --block 32 buf:4
tells 2 "i8 goes from -128 to 127" gfx1010.co values buf:48 i8:128
tells 2 'u16 goes from 0 to 65535' gfx1010.co values buf:48 u16:-1
tells 2 'too large for f32' gfx1010.co values buf:48 f32:1e40
tells 2 'has 48 bytes; buf:64=0@FILE fills up' gfx1010.co sized buf:64@v.bin
tells 2 'has 48 bytes, more than the buffer' gfx1010.co sized buf:40@v.bin
tells 2 'no/such/file' gfx1010.co sized --grid 64 out:256@no/such/file
tells 2 'two buffers would be written to x.bin' gfx1010.co pair out:4@x.bin inout:a.bin@x.bin
tells 2 'each at least 1' gfx1010.co sized --grid 0 buf:4
tells 2 'too many workgroups' gfx1010.co values --grid 4294967295,4294967295,4294967295 \
    buf:48 i8:1 i16:1 u64:1 f32:1 f64:1 i64:1

# The dynamic linker takes no blank in what is to be loaded first; programs get the simulated driver all the same.
mkdir -p "a folder/sim/driver"
cp "$rmcp" "a folder/"
cp "${rmcp%/*}/sim/driver/librmcp-sim.so" "a folder/sim/driver/"
# (A library with a sanitizer in it cannot be loaded into a program without.)
ldd "$rmcp" | grep -q 'lib[at]san' || expect 0 "a folder/rmcp" sim -- grep -q librmcp-sim /proc/self/maps
mkdir "a tmp"
expect 2 env TMPDIR="$work/a tmp" "a folder/rmcp" sim -- true
grep -q 'for a blank or a colon in it' "$work/err" || fail "no reason is given"
[ -z "$(ls "a tmp")" ] || fail "something is left"
finish "the command"
