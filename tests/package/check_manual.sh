#!/bin/sh
# Manual pages and completions have every command and every option, and their readers take them.
# usage: check_manual.sh RMCP FOLDER (of the pages)
set -eu
rmcp=$1 folder=$2
. "$(dirname "$0")/../support/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commands=$("$rmcp" --help | awk '/^commands:/ { on = 1; next } !NF { on = 0 } on { print $1 }')
[ "$(echo "$commands" | wc -l)" -ge 11 ] || die "few commands: $commands"
count=0
for command in $commands; do
    page=$folder/rmcp-$command.1
    [ -s "$page" ] || die "$command has no page"
    grep -q "^\.BR rmcp..$command" "$folder/rmcp.1" || die "rmcp.1 does not name rmcp-$command"
    for option in $("$rmcp" "$command" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p'); do
        count=$((count + 1))
        grep -qF -e "$(printf '%s' "$option" | sed 's/-/\\-/g')" "$page" || die "rmcp-$command.1 lacks $option"
        grep -q "^    $command) words='.*$option " "$folder/rmcp.bash" || die "bash: $command lacks $option"
        grep -q "from $command' -l ${option#--} " "$folder/rmcp.fish" || die "fish: $command lacks $option"
        awk -v c="    $command)" 'index($0, "    ") == 1 && /\)/ && !/^        / { on = index($0, c) == 1 } on' \
            "$folder/_rmcp" | grep -qF -e "'${option}[" || die "zsh: $command lacks $option"
    done
done
[ "$count" -ge 80 ] || die "only $count options"
bash -n "$folder/rmcp.bash"
offered=$(bash -c '. "$1"; COMP_WORDS=(rmcp doctor --ht); COMP_CWORD=2; _rmcp; echo "${COMPREPLY[@]}"' bash \
    "$folder/rmcp.bash")
[ "$offered" = --html ] || die "bash offers: $offered"
tried=bash
if command -v zsh >/dev/null; then zsh -n "$folder/_rmcp" && tried="$tried zsh"; fi
if command -v fish >/dev/null; then
    fish -n "$folder/rmcp.fish"
    fish --no-config -c "source '$folder/rmcp.fish'; complete -C 'rmcp doctor --ht'" | grep -q -- --html ||
        die "fish offers nothing"
    tried="$tried fish"
fi
if command -v groff >/dev/null; then
    for page in "$folder"/*.1; do
        groff -man -Tutf8 -P-cbou -ww "$page" 2>"$work/warnings" >"$work/text" || true
        [ ! -s "$work/warnings" ] || { cat "$work/warnings"; die "$page"; }
        grep -q 'NAME' "$work/text" || die "$page is empty"
    done
    tried="$tried groff"
fi
echo "$(echo "$commands" | wc -l) commands, $count options; read by $tried"
