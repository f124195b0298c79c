#!/bin/sh
# Makes a chroot of another Debian release, once, and installs packages in it: chroot.sh RELEASE PACKAGE…
#
# Prints its folder, under ${XDG_CACHE_HOME:-~/.cache}/rmcp/chroots. The mirror is the one that apt
# uses here. "experimental" is sid with packages of experimental preferred. Needs root and debootstrap.
set -eu
. "$(dirname "$0")/../support/lib.sh"
# shellcheck source=tests/support/debian.sh
. "$(dirname "$0")/../support/debian.sh"

[ $# -ge 1 ] || { echo "usage: chroot.sh trixie|sid|experimental PACKAGE…" >&2; exit 2; }
release=$1
shift
[ "$(id -u)" = 0 ] || skip "making a chroot needs root"
need debootstrap
mirror=$(debian_mirror)
[ -n "$mirror" ] || skip "apt has no Debian mirror"

root=${XDG_CACHE_HOME:-$HOME/.cache}/rmcp/chroots/$release
base=$release
[ "$release" != experimental ] || base=sid
log=$work/log

if [ ! -f "$root/etc/rmcp-chroot" ]; then
    echo "making a chroot of $release …" >&2
    rm -rf "$root.new"
    mkdir -p "$root.new"
    debootstrap --variant=minbase "$base" "$root.new" "$mirror" >"$log" 2>&1 ||
        { tail -n 5 "$log" >&2; skip "debootstrap of $base failed"; }
    # The proxy and credentials of this machine's apt, where it has any.
    cp -a /etc/apt/apt.conf.d/. "$root.new/etc/apt/apt.conf.d/"
    rm -f "$root.new"/etc/apt/apt.conf.d/*docker* "$root.new"/etc/apt/apt.conf.d/*appstream* \
        "$root.new"/etc/apt/apt.conf.d/*packagekit*
    cp -L /etc/resolv.conf /etc/hosts "$root.new/etc/"
    [ "$release" != experimental ] ||
        echo "deb $mirror experimental main" >"$root.new/etc/apt/sources.list.d/experimental.list"
    echo "$release" >"$root.new/etc/rmcp-chroot"
    rm -rf "$root"
    mv "$root.new" "$root"
fi
for folder in proc sys dev; do
    mountpoint -q "$root/$folder" || mount --rbind "/$folder" "$root/$folder" 2>/dev/null || true
done
if [ $# -gt 0 ]; then
    chroot "$root" dpkg-query -W "$@" >/dev/null 2>&1 || {
        echo "installing $* in it …" >&2
        target=
        [ "$release" != experimental ] || target="-t experimental"
        # shellcheck disable=SC2086
        chroot "$root" sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy \
            --no-install-recommends "$@"' sh $target "$@" >"$log" 2>&1 ||
            { tail -n 20 "$log" >&2; skip "cannot install $* in $release"; }
    }
fi
echo "$root"
