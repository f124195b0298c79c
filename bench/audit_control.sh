#!/bin/sh
# By hand: compiles kernel variants with several clang releases for gfx1030 and gfx1010 and
# audits the objects, rule by rule. What a compiler whose gfx1030 code is reported to work leaves in
# it says which patterns alone explain nothing.
# LIST has lines as build/tools/kernels/kernel-list prints them; all of them take an hour.
# usage: audit_control.sh RMCP LIST CLANG…
set -eu
[ $# -ge 3 ] || { echo "usage: $0 RMCP LIST CLANG…" >&2; exit 2; }
if [ "$1" = one ]; then # one CLANG TARGET SOURCES OUT NAME OPERATION FILE ENTRY BLOCK OPTIONS…
    clang=$2 target=$3 sources=$4 out=$5/$6.o file=$8
    shift 10
    exec $clang -x cl -cl-std=CL1.2 -DBARE -O3 -w -target amdgcn-amd-amdhsa -mcpu="$target" \
        -mcode-object-version=4 -nogpulib -I "$sources" "$@" -c -o "$out" "$sources/$file"
fi
rmcp=$1 list=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Older releases know neither a fence of one address space nor sched_barrier; all get the same text.
sources=$work/sources
cp -r "$(dirname "$0")/../src" "$sources"
sed -i -e 's/"workgroup", "local"/"workgroup"/' -e 's/__builtin_amdgcn_sched_barrier(0)/(void)0/' \
    "$sources/kernels/target.h"
for clang; do
    for target in gfx1030 gfx1010; do
        out=$work/$(basename "$clang")/$target
        mkdir -p "$out"
        xargs <"$list" -P "$(getconf _NPROCESSORS_ONLN)" -L 1 sh "$0" one "$clang" "$target" \
            "$sources" "$out"
    done
    "$rmcp" audit --csv "$work/$(basename "$clang")" >"$work/$(basename "$clang").csv" || [ $? -eq 1 ]
done
python3 - "$work"/*.csv <<'PYTHON'
import csv, os, sys
columns = []
for path in sys.argv[1:]:
    for row in csv.DictReader(open(path)):
        columns.append((os.path.basename(path)[:-4], row))
columns.sort(key=lambda c: c[1]["target"], reverse=True)
names = ["kernels", "instructions", "lacking", "any_pattern"]
first = columns[0][1]
names += [k[:-13] for k in first if k.endswith("_instructions") and k[:-13] not in names]
print("| |" + "|".join(f" {row['target']}, {clang} " for clang, row in columns) + "|")
print("|---|" + "---:|" * len(columns))
for name in names:
    key = name if name in first else name + "_instructions"
    if not any(int(row[key]) for _, row in columns):
        continue
    cells = []
    for _, row in columns:
        cells.append(f" {int(row[key]):,}" + (f" in {int(row[name + '_kernels']):,}" if key != name else ""))
    print(f"| {name} |" + " |".join(cells) + " |")
PYTHON
