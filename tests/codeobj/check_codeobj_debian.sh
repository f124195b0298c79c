#!/bin/sh
# By hand: walks Debian's own ROCm libraries and compares the kernels of a few objects with LLVM's
# tools. Downloads some hundred megabytes; exit status 77 (skip) when they cannot be had.
# usage: check_codeobj_debian.sh DUMP [RELEASE [PACKAGE…]]     e.g. build/tests/codeobj/codeobj_dump sid librocblas5
set -eu
TMPDIR=${TMPDIR:-/var/tmp} # much is unpacked
export TMPDIR
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
[ -x "${1-}" ] || { echo "usage: $0 DUMP [RELEASE [PACKAGE…]]" >&2; exit 2; }
dump=$1 release=${2:-sid}
[ $# -lt 2 ] || shift
shift
debian_open "$work" "$release"
# Word splitting is wanted: names of packages.
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(debian_apt apt-cache pkgnames librocblas | grep -v -e dev -e doc -e tests -e bench)
[ $# -gt 0 ] || skip "$release has no librocblas"
debian_unpack "$@"

"$dump" --walk "$work/root" >"$work/items"
"$python" - "$work" <<'EOF'
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
"$python" "$(dirname "$0")/check_codeobj.py" "$dump" --items "$work/items"
