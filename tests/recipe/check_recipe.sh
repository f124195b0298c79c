#!/bin/sh
# rmcp recipe: lists, prints for many machines, refuses; every printed script is one that sh and shellcheck take.
# usage: check_recipe.sh RMCP SOURCE-DIR
set -u
. "$(dirname "$0")/../support/lib.sh"
rmcp=$1 source=$2
names="torch-therock torch-repaired torch-source docker rocm-5.2 comfyui uninstall"

# The list, and what is asked wrongly.
expect 0 "$rmcp" recipe
for name in $names; do has "^$name +[A-Z]"; done
[ "$(sed '/^$/,$d' "$work/out" | wc -l)" -eq 7 ] || fail "another number of recipes"
for pair in torch-sorce:torch-source dokcer:docker rocm5.2:rocm-5.2 confyui:comfyui therock:torch-therock \
    source:torch-source repaired:torch-repaired; do
    expect 2 "$rmcp" recipe "${pair%:*}"
    one_line
    says "no recipe '${pair%:*}'; did you mean ${pair#*:}\?"
done
for word in x zzzzzzzz '' 'a;b' "$(printf '%01000d' 0)"; do
    expect 2 "$rmcp" recipe "$word"
    one_line
    says 'rmcp recipe lists them'
done
expect 2 "$rmcp" recipe docker comfyui
expect 2 "$rmcp" recipe --run
expect 2 "$rmcp" recipe docker --run --plan
expect 2 "$rmcp" recipe docker --yes
expect 2 "$rmcp" recipe docker --root / --run
expect 2 "$rmcp" recipe docker --wheel "$work/none.whl"
says 'cannot be read'

# script NAME FILE: its form.
script() {
    n_checks=$((n_checks + 1))
    head -n 1 "$2" | grep -q '^#!/bin/sh$' || fail "$1: no first line"
    if grep -nE '@[a-z_]+@|^ *#: ' "$2"; then fail "$1: something of the template is left"; fi
    grep -q '^# Tried: ' "$2" && grep -q '^# Not tried: ' "$2" || fail "$1 does not say what was tried"
    sh -n "$2" || fail "$1: sh does not take it"
    if [ -n "$bash" ]; then bash --posix -n "$2" || fail "$1: bash does not take it"; fi
}
bash=$(command -v bash) || bash=''
shellcheck=$(command -v shellcheck) || shellcheck=''

# Machines of all kinds; all recipes and shellcheck, which is slow, where scripts differ.
for machine in "$source"/tests/doctor/machines/*.txt; do
    kind=$(basename "$machine" .txt)
    rm -rf "$work/tree"
    sh "$source/tests/doctor/machine_tree.sh" "$machine" "$work/tree"
    case $kind in
    rx5600xt-override | rx5700xt-groups | two-rocms | vmware-no-gpu | rx5500m-renoir) some=$names ;;
    *) some=torch-therock ;;
    esac
    for name in $some; do
        expect 0 "$rmcp" recipe "$name" --root "$work/tree"
        quiet
        script "$name on $kind" "$work/out"
        [ "$some" = torch-therock ] || cp "$work/out" "$work/$kind-$name.sh"
    done
done
if [ -n "$shellcheck" ]; then expect 0 shellcheck -S style "$work"/*-*.sh; fi

# What the machine is, is in the script.
card() { grep -q "$2" "$work/$1.sh" || fail "$1 has no '$2'"; }
card rx5600xt-override-torch-therock '^chip=gfx1010 '
card rx5600xt-override-torch-therock "^card='Radeon RX 5600 XT'"
card rx5600xt-override-torch-therock '^foreign=HSA_OVERRIDE_GFX_VERSION '
card rx5700xt-groups-torch-therock '^step_access()'
card two-rocms-torch-source '^# On this machine, and out of sight for the build: .*/opt/rocm'
card vmware-no-gpu-torch-therock '^# No AMD GPU was found'
card rx5500m-renoir-torch-therock '^visible=[0-9]'
if grep -q step_access "$work/rx5600xt-override-torch-therock.sh"; then fail "a step for groups where access is"; fi
expect 0 "$rmcp" recipe torch-therock --chip gfx1012
has '^chip=gfx1012 '
expect 0 "$rmcp" recipe torch-therock --chip gfx1013
has '^chip=gfx1010 ' '^override=10.1.0'
expect 0 "$rmcp" recipe torch-repaired --chip gfx1030
has 'nothing is to be repaired' 'cannot be repaired for it'
expect 0 "$rmcp" recipe torch-source --folder "it's \$(here)"
has "^folder='.*/it'.''s \\\$\(here\)'\$"

# A machine whose files mean ill: whatever they say is a word of the shell, or a comment.
tree=$work/hostile
sh "$source/tests/doctor/machine_tree.sh" "$source/tests/doctor/machines/two-rocms.txt" "$tree"
# shellcheck disable=SC2016
printf 'ID=$(touch %s/owned)\nVERSION_ID="`touch %s/owned`\047;touch %s/owned;\047"\n' "$work" "$work" "$work" \
    >"$tree/etc/os-release"
printf '6.1\ntouch %s/owned\n' "$work" >"$tree/proc/sys/kernel/osrelease"
printf "HOME=/home/u'\$(touch %s/owned)\nHSA_OVERRIDE_GFX_VERSION=';touch %s/owned;'\n" "$work" "$work" \
    >"$tree/rmcp/environment"
for name in $names; do
    expect 0 "$rmcp" recipe "$name" --root "$tree"
    script "$name on a hostile machine" "$work/out"
    # Everything above the steps is executed, nothing of them.
    sed '/^# 1\. /,$d' "$work/out" >"$work/top.sh"
    (cd "$work" && sh ./top.sh) >/dev/null 2>&1
    [ ! -e "$work/owned" ] || die "$name executes what a machine's file says"
done

# Templates that are wrong are said to be, with the line.
n_template=0
for line in '#: if nothing' '#: if' '#: else' '#: end' '#: if chip' '#: what' '#: step' '#: step x' '#: step x 1 1' \
    '#: step X 1 1 A' 'x=@nothing@' "$(printf '%09000d' 0)"; do
    n_template=$((n_template + 1))
    printf '#!/bin/sh\n%s\n' "$line" >"$work/template"
    expect 3 "$rmcp" recipe toy --template "$work/template"
    one_line
done
printf 'a@chip@b @ @x @@ x@y.z @Chip@\n  #: if chip\n#: if !chip\nno\n#: else\nyes\n#: end\n#: end\n' >"$work/template"
expect 0 "$rmcp" recipe toy --template "$work/template" --chip gfx1011
printf 'agfx1011b @ @x @@ x@y.z @Chip@\nyes\n' | cmp -s - "$work/out" || fail "the template is filled in otherwise"
expect 2 "$rmcp" recipe toy --template "$work/none"

# All packages and versions that a script names are written once; steps have unique names.
for name in $names; do
    "$rmcp" recipe "$name" >"$work/out"
    n_checks=$((n_checks + 1))
    doubled=$(sed -n 's/^[0-9a-f]\{16\} \([a-z_]*\) .*/\1/p' "$work/out" | sort | uniq -d)
    [ -z "$doubled" ] || fail "$name: two steps are called $doubled"
    sed -n 's/^[0-9a-f]\{16\} \([a-z_]*\) .*/\1/p' "$work/out" | while read -r step; do
        grep -q "^step_$step()" "$work/out" || echo "$step"
    done >"$work/missing"
    [ ! -s "$work/missing" ] || fail "$name: steps without a function: $(cat "$work/missing")"
done
# Documented one by one.
for name in $names; do
    grep -q "^| \`$name\` |" "$source/docs/recipes.md" || fail "docs/recipes.md has no row for $name"
done
finish recipe
