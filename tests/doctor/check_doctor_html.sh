#!/bin/sh
# rmcp doctor --html: one well-formed page without anything from elsewhere, whatever a machine's files say.
# usage: check_doctor_html.sh RMCP TESTS-DIR
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 tests=$2

# page FILE [TEXT…]: looks at it as XML; the texts must be on it as text.
page() {
    n_checks=$((n_checks + 1))
    "$python" - "$@" <<'PY' || fail "$1 is not as it must be"
import sys
import xml.etree.ElementTree as xml
text = open(sys.argv[1], encoding="utf-8").read()
assert text.startswith("<!DOCTYPE html>\n")
root = xml.fromstring(text)
known = {"html", "head", "meta", "title", "style", "body", "main", "header", "div", "section", "details", "summary",
         "h1", "h2", "h3", "p", "b", "i", "span", "pre", "code", "dl", "dt", "dd", "svg", "g", "rect", "path", "text"}
names = {"class", "id", "lang", "charset", "name", "content", "http-equiv", "viewBox", "role", "aria-label", "d", "x",
         "y", "width", "height", "rx"}
for one in root.iter():
    assert one.tag.split("}")[-1] in known, one.tag
    for name, value in one.attrib.items():
        assert name in names, (one.tag, name)
        assert "//" not in value, value
style = next(root.iter("{http://www.w3.org/1999/xhtml}style")).text
assert "url(" not in style and "@import" not in style
whole = "".join(root.itertext())
for wanted in sys.argv[2:]:
    assert wanted in whole, wanted
assert not any(ord(c) < 32 and c not in "\n\t" for c in whole)
assert not any(c in whole for c in "\u202e\u2066\u200f")
# The path: from the root to the leaf of the first way, and nothing besides.
svg = "{http://www.w3.org/2000/svg}"
groups = [g for g in root.iter(svg + "g")]
on = [g for g in groups if g.get("class") == "on"]
assert on and on[0] is groups[0], "no path"
ways = [t.text for g in on for t in g.iter(svg + "text") if t.get("class") == "w"]
assert len(ways) == 1 and ways[0].split(",")[0] == "way 1", ways
assert len([p for p in root.iter(svg + "path") if p.get("class") == "on"]) == len(on) - 1
PY
}

# Every machine that is recorded.
for machine in "$tests"/machines/*.txt; do
    rm -rf "$work/tree"
    sh "$tests/machine_tree.sh" "$machine" "$work/tree"
    "$rmcp" doctor --root "$work/tree" --html >"$work/page.html" 2>"$work/err"
    [ -s "$work/err" ] && fail "$machine: $(head -n 1 "$work/err")"
    page "$work/page.html"
done

# A machine whose files mean ill.
tree=$work/hostile
sh "$tests/machine_tree.sh" "$tests/machines/rx5600xt-override.txt" "$tree"
printf 'ID=<script>alert(1)</script>\nVERSION_ID="</title><b onclick=x>"\n' >"$tree/etc/os-release"
printf '6.1 \342\200\256<!--]]>\377\300\257&amp;\001' >"$tree/proc/sys/kernel/osrelease"
site="$tree/home/user/x\"><img src=a onerror=b>/lib/python3.10/site-packages/torch"
mkdir -p "$site/lib"
cat >"$site/version.py" <<'PY'
__version__ = "2.0'\"><script src=//e.example/x.js></script>"
hip = '5.7.&lt;'
PY
printf 'rmcp-library 1\nsize 1\nsoname libtorch_hip.so\ntargets gfx900,"><svg/onload=c>\n' >"$site/lib/libtorch_hip.so"
{
    echo "HSA_OVERRIDE_GFX_VERSION=</pre><script>alert('2')</script>"
    echo 'LD_PRELOAD=</style><img src=x>intercept.so'
    echo 'HOME=/home/user'
} >"$tree/rmcp/environment"
expect 1 "$rmcp" doctor --root "$tree" --html "$work/hostile.html"
quiet
page "$work/hostile.html" "<script>alert(1)</script>" "<script>alert('2')</script>" "</style><img src=x>intercept.so" \
    "</title><b onclick=x>"
if grep -Eq '<(script|img)|onerror=b>/lib.*<img' "$work/hostile.html"; then fail "markup from outside"; fi

# Where the page goes.
expect 1 "$rmcp" doctor --root "$tree" --html="$work/hostile.html" # an older page is replaced
echo mine >"$work/mine"
expect 2 "$rmcp" doctor --root "$tree" --html "$work/mine"
one_line
[ "$(cat "$work/mine")" = mine ] || fail "a file of somebody else is overwritten"
expect 2 "$rmcp" doctor --root "$tree" --html "$work/no/such/folder.html"
expect 2 "$rmcp" doctor --root "$tree" --html --json
expect 2 "$rmcp" doctor --root "$tree" --html=
expect 2 "$rmcp" doctor --root "$tree" page.html
expect 2 "$rmcp" doctor --root "$tree" --html one two

finish pages
