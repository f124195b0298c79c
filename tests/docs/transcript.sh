#!/bin/bash
# Follows docs/guide on a bare Debian 12, from nothing to a network trained on the simulated card, and writes the
# transcript with times; by hand, as root, with a network.
# usage: transcript.sh PACKAGES [FOLDER] >docs/guide/transcript.md
#   PACKAGES  the .debs that ./setup.sh package made
#   FOLDER    the chroot, kept (default: ~/.cache/rmcp/transcript). What was done there is not done again, and its part
#             of the transcript is that of the time when it was done; --again begins with an untouched system.
# The commands are those of the pages: one that no page has is refused. Exit status 77 (skip) when there is no chroot.
set -eu
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
again=
[ "${1-}" != --again ] || { again=1; shift; }
[ $# -ge 1 ] || die "usage: transcript.sh [--again] PACKAGES [FOLDER]"
packages=$(cd "$1" && pwd)
cache=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/rmcp/transcript}
root=$cache/root
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
need debootstrap mount
mkdir -p "$cache"
trap 'umount "$root/proc" "$root/sys" 2>/dev/null || true; rm -rf "$work"' EXIT

# ---- the bare system ----

[ -z "$again" ] || { rm -rf "${cache:?}/parts" "$root"; }
if [ ! -e "$cache/bare" ] || [ ! -d "$root" ]; then
    say "making a bare Debian 12" >&2
    rm -rf "$root" "$cache/parts"
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || skip "apt has no Debian mirror"
    if [ ! -e "$cache/bookworm.tar" ]; then
        debootstrap --variant=minbase bookworm "$root" "$mirror" >"$cache/log" 2>&1 ||
            { tail -n 5 "$cache/log" >&2; skip "debootstrap failed"; }
        tar -C "$root" -cf "$cache/bookworm.tar.new" . && mv "$cache/bookworm.tar.new" "$cache/bookworm.tar"
    else
        mkdir -p "$root" && tar -C "$root" -xf "$cache/bookworm.tar"
    fi
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # A mirror may be older than its own signatures allow.
    # The reader says yes to apt's question.
    printf '%s\n' 'Acquire::Check-Valid-Until "false";' 'APT::Get::Assume-Yes "true";' \
        >"$root/etc/apt/apt.conf.d/99test"
    : >"$cache/bare"
fi
mkdir -p "$root/root/build-package" "$cache/parts"
cp "$packages"/*.deb "$root/root/build-package/"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/sys" || mount -t sysfs -o ro sysfs "$root/sys" # ROCm's runtime asks it for the processors

# ---- steps ----

number=0
# step PAGE COMMAND [SHOWN]: one command of a page; its output, or the lines of it that match SHOWN, goes into the
# transcript. The reader is root here, and a bare system has no sudo.
step() {
    page=$1 command=$2 shown=${3:-.}
    number=$((number + 1))
    part=$cache/parts/$(printf %02d $number)
    grep -qF -e "$command" "$source/$page" || die "$page does not say: $command"
    n_checks=$((n_checks + 1))
    if [ "$(cat "$part.command" 2>/dev/null)" != "$command" ]; then
        say "  $command" >&2
        rm -f "$cache/parts"/*"$number".command
        began=$(date +%s.%N)
        status=0
        env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \
            DEBIAN_FRONTEND=noninteractive chroot "$root" /bin/sh -c "cd && ${command#sudo }" >"$part.out" 2>&1 ||
            status=$?
        case $status:$command in
        0:* | 1:"rmcp doctor") ;; # which has findings on a machine without a card
        *) tail -n 20 "$part.out" >&2; die "it failed, exit status $status: $command" ;;
        esac
        date +%s.%N | awk -v began="$began" '{ printf "%.1f\n", $1 - began }' >"$part.seconds"
        printf '%s' "$command" >"$part.command"
    fi
    total=$(awk -v a="${total:-0}" '{ printf "%.1f", a + $1 }' "$part.seconds")
    {
        echo
        # shellcheck disable=SC2016 # backquotes of Markdown
        printf '```console\n$ %s\n' "${command#sudo }"
        grep -E -e "$shown" "$part.out" | sed 's/; Linux [^;]*;/; Linux …;/; s/[[:space:]]*$//' | cut -c 1-130 || true
        # shellcheck disable=SC2016
        printf '```\n\n%s seconds.\n' "$(cat "$part.seconds")"
    } >>"$work/transcript"
}

# save PAGE NAME: the program that the page tells to save.
save() {
    awk -v name="# $2" '/^```/ { inside = 0 }
        inside { print }
        /^```python$/ { getline; if ($0 == name) { inside = 1; print } }' "$source/$1" >"$root/root/$2"
    [ -s "$root/root/$2" ] || die "$1 has no $2"
    # shellcheck disable=SC2016 # backquotes of Markdown
    printf '\n`%s` is saved as the page has it.\n' "$2" >>"$work/transcript"
}

words() { printf '\n%s\n' "$*" >>"$work/transcript"; }
guide=docs/guide


# ---- the way ----

: >"$work/transcript"
words "## Install"
words "The packages lie in \`build-package\`, as \`./setup.sh package\` made them."
step $guide/install.md "sudo apt update" '^(Fetched|[0-9]+ package|All)'
step $guide/install.md 'sudo apt install ./build-package/*.deb python3-torch' \
    '^(Need to get|After this|Fetched|Setting up (rmcp|librmcp|python3-torch|python3-rmcp|libmiopen|libdnnl))'
step $guide/install.md "rmcp version"
step $guide/install.md "rmcp devices"
step $guide/install.md "rmcp doctor"
step $guide/install.md "rmcp check"
words "## The first network"
save $guide/first-network.md train.py
step $guide/first-network.md "python3 -m rmcp --stats train.py"
words "## On a simulated card"
step $guide/first-network.md "sudo apt install libamdhip64-5 rocminfo" \
    '^(Need to get|After this|Fetched|Setting up (libamdhip64|rocminfo|libhsa-runtime))'
step $guide/first-network.md "rmcp sim -- rocminfo" '(Marketing Name:.*Radeon|Name:  *gfx|Compute Unit:|rmcp sim)'
step $guide/first-network.md "rmcp sim -- python3 -m rmcp --device offload:hip --stats train.py"

last=$cache/parts/$(printf %02d $number).out
grep -q '100.0 % of 200 new pictures are right' "$last" || die "the network was not trained"
grep -q 'RX 5600 XT\|rx5600xt: .* 0 reports' "$last" || die "not on the simulated card, or with reports"

# ---- the page ----

processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
cat <<END
# Transcript: from a bare Debian 12 to a trained network on the simulated card

Made by \`tests/docs/transcript.sh\`, which follows [install](install.md) and [first network](first-network.md) in a
system that has nothing but \`debootstrap --variant=minbase bookworm\`: no Python, no compiler, no ROCm, no GPU. The
reader is root (a bare system has no sudo) and says yes to apt. Of what apt and rocminfo print a few lines are shown,
long lines are cut; the rest is as it was printed. The packages had kernels for gfx1010 alone
(\`RMCP_KERNEL_TARGETS=gfx1010 ./setup.sh package deb\`).

Machine: $(nproc) cores of $processor, a virtual machine that other work kept busy, no GPU. All commands together:
$total seconds, downloads included. The card is simulated; no real one took part.
END
cat "$work/transcript"
say "transcript: $n_checks commands, $total seconds" >&2
