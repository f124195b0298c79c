# debian.sh: to be sourced after lib.sh: unpacks Debian packages of any release without installing them.
# shellcheck shell=sh disable=SC2016 # apt's own variables

# The mirror that apt uses here; empty when it has none.
debian_mirror() {
    apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep '/debian/*$' | head -n 1 || true
}

# debian_open FOLDER RELEASE: package lists of a release, from the mirror that apt uses here.
debian_open() {
    debian=$1
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || skip "apt has no Debian mirror"
    chmod 755 "$debian"
    mkdir -p "$debian/lists/partial" "$debian/cache/archives/partial" "$debian/debs" "$debian/root"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $2 main" >"$debian/sources.list"
    debian_apt apt-get update >"$debian/log" 2>&1 || skip "no package lists of $2"
}

# debian_apt apt-get|apt-cache ARGUMENTS…: on those lists.
debian_apt() {
    "$@" -q -o Dir::Etc::sourcelist="$debian/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$debian/lists" -o Dir::Cache="$debian/cache" -o APT::Sandbox::User=root \
        -o Acquire::Check-Valid-Until=false # a mirror of sid may be weeks old
}

# debian_unpack PACKAGE…: into FOLDER/root.
debian_unpack() {
    (cd "$debian/debs" && debian_apt apt-get download "$@") >"$debian/log" 2>&1 || skip "cannot download $*"
    for deb in "$debian"/debs/*.deb; do dpkg -x "$deb" "$debian/root"; done
}

# debian_source PACKAGE FOLDER: the tar of its upstream source into FOLDER; false where the mirror has none.
debian_source() {
    grep -q '^deb-src' "$debian/sources.list" || {
        sed -i 's/^deb \(.*\)/&\ndeb-src \1/' "$debian/sources.list"
        debian_apt apt-get update >"$debian/log" 2>&1 || return 1
    }
    mkdir -p "$2"
    (cd "$2" && debian_apt apt-get source --download-only --tar-only "$1") >"$debian/log" 2>&1
}

# debian_chroot ROOT RELEASE PACKAGE…: a chroot of a release with these packages, made once; its log is ROOT.log.
debian_chroot() {
    chroot_root=$1 chroot_release=$2
    shift 2
    [ ! -e "$chroot_root/ready" ] || return 0
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || skip "apt has no Debian mirror"
    mkdir -p "$chroot_root"
    [ -x "$chroot_root/usr/bin/apt-get" ] ||
        debootstrap --variant=minbase "$chroot_release" "$chroot_root" "$mirror" >"$chroot_root.log" 2>&1 ||
        { tail -n 5 "$chroot_root.log"; skip "debootstrap failed"; }
    # What its apt needs to reach the mirror is what this machine's needs; a mirror of sid may be weeks old.
    cp /etc/resolv.conf "$chroot_root/etc/resolv.conf"
    echo 'Acquire::Check-Valid-Until "false";' >"$chroot_root/etc/apt/apt.conf.d/99test"
    chroot "$chroot_root" apt-get update -q >>"$chroot_root.log" 2>&1 || skip "no package lists of $chroot_release"
    DEBIAN_FRONTEND=noninteractive chroot "$chroot_root" apt-get install -qy --no-install-recommends "$@" \
        >>"$chroot_root.log" 2>&1 || { tail -n 5 "$chroot_root.log"; skip "the packages cannot be installed"; }
    : >"$chroot_root/ready"
}
