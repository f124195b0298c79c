#!/bin/sh
# rmcp bench --html: one well-formed page without anything from elsewhere, whatever names and files say.
# usage: check_bench_html.sh RMCP SOURCE-DIR
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 source=$2

# page FILE DOTS [TEXT…]: looks at it as XML; the texts must be on it as text.
page() {
    n_checks=$((n_checks + 1))
    "$python" - "$@" <<'PY' || fail "$1 is not as it must be"
import re
import sys
import xml.etree.ElementTree as xml
text = open(sys.argv[1], encoding="utf-8").read()
assert text.startswith("<!DOCTYPE html>\n")
root = xml.fromstring(text)
known = set("html head meta title style body main header div section details summary h1 h2 h3 p b i span code table "
            "thead tbody tr td th svg path circle text".split())
names = set("class lang charset name content http-equiv viewBox role aria-label d x y cx cy r open style "
            "transform".split())
dots = 0
for one in root.iter():
    tag = one.tag.split("}")[-1]
    assert tag in known, one.tag
    dots += tag == "circle"
    for name, value in one.attrib.items():
        assert name in names, (one.tag, name)
        assert "//" not in value and "nan" not in value and "inf" not in value, value
        assert name != "style" or re.fullmatch(r"width:\d+\.\d%", value), value
    if tag in ("circle", "path", "text"):
        for number in re.findall(r"-?\d+\.?\d*", " ".join(one.get(n, "") for n in ("cx", "cy", "x", "y"))):
            assert -20 <= float(number) <= 900, (tag, one.attrib)
style = next(root.iter("{http://www.w3.org/1999/xhtml}style")).text
assert "url(" not in style and "@import" not in style and "prefers-color-scheme:dark" in style
whole = "".join(root.itertext())
assert dots == int(sys.argv[2]), dots
for wanted in sys.argv[3:]:
    assert wanted in whole, wanted
assert not any(ord(c) < 32 and c not in "\n\t" for c in whole)
assert not re.search(r"\b(nan|inf)\b", whole)
PY
}

# What was timed just now, with the text beside it; then another run beside it, as JSON.
case=n1c8h8w8k8r3s3p1:f32:nchw:fwd
expect 0 "$rmcp" bench --device cpu --repeats 2 --html "$work/one.html" "$case"
has "$case"
quiet
page "$work/one.html" 1 "$case" "1" "forward"
"$rmcp" bench --device cpu --repeats 2 --json "$case" n1c8h8w8k8r1s1:f32:nchw:fwd >"$work/other.json"
expect 0 "$rmcp" bench --device cpu --repeats 2 --html "$work/one.html" --against "$work/other.json" "$case"
page "$work/one.html" 3 "another run of rmcp bench (other.json)" # ours and theirs among the rates, one ratio
expect 0 "$rmcp" bench --device cpu --repeats 2 --html "$work/other.html" --json \
    n1c8h8w8k8r1s1:f32:nchw:fwd act:4x8x16:fwd:relu
page "$work/other.html" 2 "act:4x8x16" "Every case"
"$python" -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/out" || fail "--json and --html together"

# Times that were measured elsewhere: CSV as compare_cudnn.py writes it, JSON as compare_cpu.py does.
cat >"$work/cudnn.csv" <<'CSV'
case,class,status,ours_us,cudnn_us,algorithm,note
n1c8h8w8k8r3s3p1:f32:nchw:fwd,3x3,ok,10.5,21,implicit_gemm,"a, ""b"""
n2c3h32w32k8r7s7p3u2:f32:nchw:bwd_data,first layer,ok,8,4,strided,
n1c8h8w8k8r1s1:f32:nchw:bwd_weights,1x1,ok,,7,direct,
n1c8w64k8s3p1:f32:nchw:fwd,1-D,ok,5,0,direct,
no case at all,1x1,ok,1,1,direct,
n1c8h8w8k8r1s1:f32:nchw:fwd,1x1,ok,nan,-1,<script>,
n1c8h8w8k8r1s1u2:f32:nchw:fwd,1x1,ok,1e-3,1e9,"<script>alert(1)</script>",last
CSV
expect 0 "$rmcp" bench --from "$work/cudnn.csv" --html "$work/from.html" --limit 7188,288
quiet
page "$work/from.html" 10 "2.00" "0.50" "PyTorch with cuDNN" "<script>alert(1)</script>" "7188 GFLOP/s" \
    "first layer" "1-D"
if grep -q '<script' "$work/from.html"; then fail "markup from outside"; fi
expect 0 "$rmcp" bench --from "$work/cudnn.csv" --html "$work/from.html" \
    --title "$(printf '</title><img src=x>\342\200\256 \377')"
page "$work/from.html" 10 '</title><img src=x>'
{
    printf '{"version":1,"tables":[{"layers":['
    printf '{"case":"%s","our_seconds":1e-3,"pytorch_seconds":2e-3,"algorithm":"onednn"}' "$case"
    printf ']}]}'
} >"$work/cpu.json"
expect 0 "$rmcp" bench --from "$work/cpu.json" --html "$work/from.html"
page "$work/from.html" 3 "PyTorch on the CPU" "2.00"
expect 0 "$rmcp" bench --device cpu --repeats 1 --html "$work/one.html" --against "$work/cudnn.csv" "$case"
page "$work/one.html" 3 "PyTorch with cuDNN (cudnn.csv)"

# The results that the project keeps.
expect 0 "$rmcp" bench --from "$source/data/results/h200-cudnn.csv" --html "$work/h200.html" --limit 66900,4800
[ "$(tail -n +2 "$source/data/results/h200-cudnn.csv" | wc -l)" -ge 500 ] || fail "few results"
page "$work/h200.html" $((3 * $(tail -n +2 "$source/data/results/h200-cudnn.csv" | wc -l))) \
    "PyTorch with cuDNN" "66900 GFLOP/s"

# Files that are not what they should be, and wrong usage.
echo mine >"$work/mine"
for words in "--html $work/mine $case" "--html $work/no/folder.html --from $work/mine" \
    "--html $work/x.html --from $work/none" \
    "--html $work/x.html --from $work/mine" "--against $work/cudnn.csv $case" "--limit 1,2 $case" "--title x $case" \
    "--html $work/x.html --limit 1 $case" "--html $work/x.html --limit 1,nan $case" \
    "--html $work/x.html --limit 0,1 $case" \
    "--html $work/x.html --from $work/cudnn.csv $case" "--html $work/x.html --from $work/cudnn.csv --device cpu" \
    "--device cpu --repeats 1 --html $work/x.html --against $work/cpu.json n1c8h8w8k8r1s1:f32:nchw:fwd"; do
    # Several words are wanted.
    # shellcheck disable=SC2086
    expect 2 "$rmcp" bench $words
    says '^rmcp bench: '
done
[ "$(cat "$work/mine")" = mine ] || fail "a file of somebody else was overwritten"
printf 'case,ours_us\n' >"$work/empty.csv"
head -c 3000 /dev/urandom >"$work/random"
printf '{"results":[{"case":1},{"case":"x"},[],null,{"case":"%s","seconds_best":-1}]}' "$case" >"$work/odd.json"
for file in empty.csv random odd.json mine; do
    expect 2 "$rmcp" bench --html "$work/x.html" --from "$work/$file"
    one_line
done
[ ! -e "$work/x.html" ] || fail "a page of nothing"
# Said before anything is measured.
expect 2 "$rmcp" bench --html "$work/no/folder.html" --from "$work/cudnn.csv"
expect 2 "$rmcp" bench --html "$work/no/folder.html" --device cpu --repeats 1 $case
one_line
says 'cannot write .*/no/folder.html: No such file'
if [ -w /dev/full ]; then
    ln -s /dev/full "$work/full.html"
    expect 2 "$rmcp" bench --html "$work/full.html" --from "$work/cudnn.csv"
fi
finish "bench page"
