#!/bin/bash
# rmcp doctor on this machine: real libraries, a recording without secrets, hostile trees, wrong usage.
# usage: check_doctor_live.sh RMCP
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1
# ---- a home with private things, and a Python environment with libraries of every wrapping ----
home=$work/alice-s3cret
site=$home/thesis-s3cret/venv/lib/python3.12/site-packages
mkdir -p "$site/torch/lib/rocblas/library" "$home/.ssh" "$home/projects-s3cret/lib"
echo "unset X; export HSA_OVERRIDE_GFX_VERSION=10.3.0 TOKEN=s3cret # s3cret" >"$home/.bashrc"
printf "__version__ = '2.12.0+rocm7.14.0'\nhip = '7.14.60850'\ngit_version = '%s'\n" "$home" >"$site/torch/version.py"
: >"$home/projects-s3cret/lib/libhip_memory_intercept.so"
: >"$site/torch/lib/rocblas/library/TensileLibrary_lazy_gfx1030.dat"
ln -s TensileLibrary_lazy_gfx1030.dat "$site/torch/lib/rocblas/library/TensileLibrary_lazy_gfx1010.dat"
"$python" - "$work" <<'PY'
import hashlib, struct, sys, zlib
def bundle(chips):
    ids = [b"host-x86_64-unknown-linux--"] + [b"hipv4-amdgcn-amd-amdhsa--" + c for c in chips]
    start = 4096
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(ids))
    body = b""
    for i, name in enumerate(ids):
        data = b"" if not i else b"\x7fELF" * 100
        head += struct.pack("<QQQ", start + len(body), len(data), len(name)) + name
        body += data + bytes(-len(data) % 4096)
    return head + bytes(start - len(head)) + body
def zstd(data): # raw blocks
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", len(data))
    return frame + struct.pack("<I", 1 | len(data) << 3)[:3] + data
def ccob(version, method, data):
    packed = zstd(data) if method else zlib.compress(data)
    sizes = struct.pack("<II", 24 + len(packed), len(data)) if version == 2 else \
        struct.pack("<QQ", 32 + len(packed), len(data))
    whole = b"CCOB" + struct.pack("<HH", version, method) + sizes + hashlib.md5(data).digest()[:8] + packed
    return whole + bytes(-len(whole) % 4096)
plain = bundle([b"gfx900", b"gfx90a:xnack+"]) + bundle([b"gfx1010"])
open(sys.argv[1] + "/plain", "wb").write(plain)
open(sys.argv[1] + "/zlib", "wb").write(ccob(2, 0, bundle([b"gfx1011"])) + ccob(2, 0, bundle([b"gfx1012"])))
open(sys.argv[1] + "/zstd", "wb").write(ccob(3, 1, bundle([b"gfx1100"])) + bundle([b"gfx1200"]))
PY
echo "int f(void) { return 1; }" >"$work/f.c"
# library NAME SECTION: a real library with that GPU code in it.
library() {
    cc -shared -fPIC -Wl,-soname,"$(basename "$1")" -o "$work/bare.so" "$work/f.c" &&
        objcopy --add-section .hip_fatbin="$work/$2" "$work/bare.so" "$1"
}
library "$site/torch/lib/libtorch_hip.so" plain || fail "no library could be made"
library "$site/torch/lib/libamdhip64.so" zlib
library "$site/torch/lib/librocblas.so" zstd
echo "not a library" >"$site/torch/lib/libMIOpen.so"

live() {
    env -i PATH="$PATH" HOME="$home" VIRTUAL_ENV="$home/thesis-s3cret/venv" HSA_OVERRIDE_GFX_VERSION=10.1.0 \
        MIOPEN_USER_DB_PATH="$home/cache-s3cret" MIOPEN_API_KEY=s3cret LD_LIBRARY_PATH=/home/bob-s3cret/lib "$@"
}
live "$rmcp" doctor --json --record "$work/machine.tar" >"$work/json" 2>"$work/err"
status=$?
[ $status -le 1 ] || fail "exit status $status: $(cat "$work/err")"
"$python" - "$work/json" <<'PY' || fail "what was read of the libraries is wrong"
import json, sys
report = json.load(open(sys.argv[1]))
targets = {library["kind"]: library["targets"] for library in report["machine"]["pytorch_libraries"]}
assert targets["torch"] == "gfx900,gfx90a,gfx1010", targets
assert targets["hip"] == "gfx1011,gfx1012", targets
assert set(targets["rocblas"].split(",")) == {"gfx1100", "gfx1200", "gfx1010", "gfx1030"}, targets
ids = {finding["id"]: finding for finding in report["findings"]}
assert "ELF" in ids["library-broken"]["seen"], ids
assert "rocblas-disguised" in ids and "leftover-shim" in ids and "profile-sets" in ids, sorted(ids)
assert report["machine"]["environment"]["HSA_OVERRIDE_GFX_VERSION"] == "10.1.0"
assert "MIOPEN_API_KEY" not in report["machine"]["environment"]
PY

# ---- the recording: nothing private, and the same answer ----
strings -n 3 "$work/machine.tar" >"$work/strings"
host=$(hostname 2>/dev/null || cat /etc/hostname)
if grep -qF s3cret "$work/strings"; then fail "something private is in the recording"; fi
for secret in alice "$home" "$work" "$host"; do
    case $secret in localhost | '') continue ;; esac
    if grep -qwF -- "$secret" "$work/strings"; then fail "'$secret' is in the recording"; fi
done
[ "$(stat -c %a "$work/machine.tar")" = 600 ] || fail "others may read the recording"
"$rmcp" doctor --json --root "$work/machine.tar" >"$work/json2" 2>&1
"$python" - "$work/json" "$work/json2" <<'PY' || fail "the recording tells something else"
import json, sys
here, there = (json.load(open(name)) for name in sys.argv[1:])
skip = {"log-unreadable", "probe-late"} # of a live machine only
ids = [[f["id"] for f in report["findings"] if f["id"] not in skip] for report in (here, there)]
assert ids[0] == ids[1], ids
assert [o["id"] for o in here["options"]] == [o["id"] for o in there["options"]]
assert here["machine"]["gpus"] == there["machine"]["gpus"]
PY
live "$rmcp" doctor --record "$work/machine.tar" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q 'nothing is overwritten' "$work/err" || fail "a file was overwritten"
gzip -c "$work/machine.tar" >"$work/machine.tar.gz" # as it is attached to a report
"$rmcp" doctor --root "$work/machine.tar.gz" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && grep -q 'is compressed by gzip: unpack it first' "$work/err" || fail "no word of gzip"

# ---- another sysfs for this machine, as for the other commands ----
node=$work/sysfs/class/kfd/kfd/topology/nodes/1
mkdir -p "$node"
printf 'simd_count 72\nsimd_per_cu 2\ngfx_target_version 100100\nvendor_id 4098\ndevice_id 29471\n' >"$node/properties"
RMCP_SYSFS_ROOT=$work/sysfs "$rmcp" doctor >"$work/out" 2>&1
grep -q '^rmcp doctor: .*gfx1010' "$work/out" || fail "\$RMCP_SYSFS_ROOT is not looked at"

# ---- hostile trees: an answer within a minute and with little memory ----
tree=$work/hostile
nodes=$tree/sys/class/kfd/kfd/topology/nodes
mkdir -p "$nodes/0" "$nodes/1" "$tree/rmcp" "$tree/etc/modprobe.d" "$tree/opt/rocm/lib" \
    "$tree/home/user/env/lib/python3.9"
mkfifo "$nodes/0/properties" "$tree/rmcp/environment" "$tree/opt/rocm/lib/libamdhip64.so.6"
ln -s . "$tree/opt/rocm/again"
ln -s ../env "$tree/home/user/env/self"
ln -s / "$tree/home/user/env/lib/python3.9/site-packages"
ln -s /etc/shadow "$tree/etc/os-release"
ln -s ../../../../../../../../../dev/zero "$tree/etc/modprobe.d/zero.conf"
head -c 300000 /dev/urandom >"$nodes/1/properties"
truncate -s 1T "$tree/rmcp/kernel.log" "$tree/opt/rocm/lib/libMIOpen.so.1"
i=0
mkdir -p "$tree/sys/bus/pci/devices"
while [ $i -lt 300 ]; do
    mkdir -p "$tree/sys/bus/pci/devices/0000:$(printf %02x $((i % 256))):00.$((i / 256))"
    i=$((i + 1))
done
small() { if (ulimit -v 1500000 && "$rmcp" version) >/dev/null 2>&1; then (ulimit -v 1500000; "$@"); else "$@"; fi; }
small timeout 60 "$rmcp" doctor --json --root "$tree" >"$work/json" 2>"$work/err"
status=$?
[ $status -le 1 ] || fail "a hostile tree: exit status $status, $(head -n 1 "$work/err")"
"$python" -m json.tool "$work/json" >/dev/null || fail "a hostile tree: no JSON"
if grep -q 'root:' "$work/json"; then fail "a hostile tree made it read a file outside"; fi
(cd "$tree" && rm -f rmcp/kernel.log opt/rocm/lib/libMIOpen.so.1 && tar cf "$work/hostile.tar" .)
small timeout 60 "$rmcp" doctor --json --root "$work/hostile.tar" >"$work/json" 2>"$work/err"
[ $? -le 1 ] || fail "a hostile tar file: $(head -n 1 "$work/err")"
head -c 100000 /dev/urandom >"$work/random.tar"
for wrong in "$work/random.tar" "$work/gone" "$tree/rmcp/environment" /dev/null; do
    timeout 60 "$rmcp" doctor --root "$wrong" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ] || fail "--root $wrong is taken"
done

# ---- people ----
"$rmcp" doctor >"$work/out" 2>"$work/err"
[ $? -le 1 ] && [ ! -s "$work/err" ] || fail "on this machine: $(head -n 1 "$work/err")"
grep -q '^Recommended' "$work/out" || fail "no recommendation"
if LC_ALL=C grep -q "$(printf '\033')" "$work/out"; then fail "colour without a terminal"; fi
"$rmcp" doctor -v >"$work/out" 2>&1
grep -q '\[' "$work/out" || fail "-v does not name the rules"

finish doctor
