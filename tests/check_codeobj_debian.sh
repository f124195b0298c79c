#!/bin/sh
# By hand: walks Debian's own ROCm libraries and compares the kernels of a few objects with LLVM's
# tools. Downloads some hundred megabytes; exit status 77 (skip) when they cannot be had.
# usage: check_codeobj_debian.sh DUMP [RELEASE [PACKAGE…]]     e.g. build/tests/codeobj_dump sid librocblas5
set -eu
skip() { echo "skipped: $*"; exit 77; }
[ -x "${1-}" ] || { echo "usage: $0 DUMP [RELEASE [PACKAGE…]]" >&2; exit 2; }
dump=$1 release=${2:-sid}
[ $# -lt 2 ] && shift || shift 2
work=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

# The mirror is the one that apt uses here.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep '/debian/*$' | head -n 1) || true
[ -n "$mirror" ] || skip "apt has no Debian mirror"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$work/sources.list"
apt() {
    "$@" -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root
}
apt apt-get update >"$work/log" 2>&1 || skip "no package lists of $release"
[ $# -gt 0 ] || set -- $(apt apt-cache pkgnames librocblas | grep -v -e dev -e doc -e tests -e bench)
[ $# -gt 0 ] || skip "$release has no librocblas"
(cd "$work/debs" && apt apt-get download "$@") >"$work/log" 2>&1 || skip "cannot download $*"
for deb in "$work"/debs/*.deb; do dpkg -x "$deb" "$work/root"; done

"$dump" --walk "$work/root" >"$work/items"
python3 - "$work" <<'EOF'
import collections, json, sys
work = sys.argv[1]
items = [json.loads(line) for line in open(work + "/items")]
kernels, objects, code, missing = (collections.Counter() for _ in range(4))
for item in items:
    if item["kind"] == "trouble" or item["error"]:
        sys.exit(f"{item['path']}: {item['message']}{item['error']}")
    objects[item["target"]] += 1
    kernels[item["target"]] += item["kernels"]
    code[item["target"]] += item["code_bytes"]
    missing[item["target"]] += item["kernels"] - item["with_code"]
for target in sorted(objects):
    print(f"{target}: {objects[target]} objects, {kernels[target]} kernels, "
          f"{code[target]} bytes of code, {missing[target]} kernels without code")
print(f"{len(items)} items")
EOF
python3 "$(dirname "$0")/check_codeobj.py" "$dump" --items "$work/items"
