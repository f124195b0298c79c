#!/bin/sh
# Installs each kind of package in bare chroots of Debian 12, 13 and sid with one command, uses it, removes it, and
# compares the files before and after; by hand, as root, with a network.
# usage: chroots.sh PACKAGES [FOLDER]
#   PACKAGES  what ./setup.sh package made: a tarball, a wheel and .debs
#   FOLDER    chroots and results, kept and reused (default: ~/.cache/rmcp/package). What was tried with the same
#             packages is not tried again.
# RELEASES="bookworm" and KINDS="deb" choose some. Prints the table of docs/install.md. Exit status 77 (skip) when the
# chroots cannot be made.
set -eu
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/debian.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || die "usage: chroots.sh PACKAGES [FOLDER]"
packages=$(cd "$1" && pwd)
cache=${2:-${XDG_CACHE_HOME:-$HOME/.cache}/rmcp/package}
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
need debootstrap mount
mirror=$(debian_mirror)
[ -n "$mirror" ] || skip "apt has no Debian mirror"
mkdir -p "$cache/results" "$cache/work"
mounted=
trap 'leave; rm -rf "$work"' EXIT

# ---- chroots ----

# apt_in ROOT ARGUMENTS…: apt-get there, as a user would without questions.
apt_in() {
    root=$1
    shift
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        chroot "$root" apt-get -qy "$@"
}

# make_base RELEASE: the smallest system, and a second one with a compiler, Python and ROCm's runtime.
make_base() {
    [ ! -e "$cache/$1.ready" ] || return 0
    if [ ! -e "$cache/$1.done" ]; then
        rm -rf "${cache:?}/$1"
        debootstrap --variant=minbase "$1" "$cache/$1" "$mirror" >"$cache/$1.log" 2>&1 ||
            { tail -n 5 "$cache/$1.log"; skip "debootstrap $1 failed"; }
        : >"$cache/$1.done"
    fi
    cp /etc/resolv.conf "$cache/$1/etc/resolv.conf"
    # A mirror may be older than its own signatures allow.
    echo 'Acquire::Check-Valid-Until "false";' >"$cache/$1/etc/apt/apt.conf.d/99test"
    apt_in "$cache/$1" update >>"$cache/$1.log" 2>&1 || skip "no package lists of $1"
    rm -rf "$cache/$1+"
    cp -a "$cache/$1" "$cache/$1+"
    hip=$(chroot "$cache/$1" apt-cache pkgnames libamdhip64- | grep -E '^libamdhip64-[0-9]+$' | sort -V | tail -n 1)
    mount -t proc proc "$cache/$1+/proc"
    mounted=$cache/$1+
    apt_in "$cache/$1+" install --no-install-recommends gcc libc6-dev pkg-config python3 python3-venv rocminfo \
        ${hip:+"$hip"} >>"$cache/$1.log" 2>&1 || { tail -n 5 "$cache/$1.log"; skip "tools cannot be installed in $1"; }
    leave
    : >"$cache/$1.ready"
}

# enter BASE: a throw-away layer over it, at $root.
enter() {
    root=$cache/work/root
    rm -rf "$cache/work/upper" "$cache/work/below"
    mkdir -p "$cache/work/upper" "$cache/work/below" "$root"
    mount -t overlay overlay -o "lowerdir=$cache/$1,upperdir=$cache/work/upper,workdir=$cache/work/below" "$root" ||
        skip "no overlay file system"
    mounted=$root
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys" # ROCm's runtime asks it for the processors
    mkdir -p "$root/tmp/packages"
    cp "$packages"/* "$root/tmp/packages/"
    sed -n '/^```c$/,/^```$/{/^```/d;p}' "$source/docs/api.md" | sed '/^rmcp_status normalise/,$d' \
        >"$root/tmp/program.c"
}

leave() {
    [ -n "$mounted" ] || return 0
    umount "$mounted/proc" "$mounted/sys" 2>/dev/null || true
    [ "$mounted" != "$cache/work/root" ] || umount "$mounted"
    mounted=
}

# inside COMMAND: a shell's words in the chroot, with nothing of this environment.
inside() {
    env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive chroot "$root" /bin/sh -c "$1"
}

# files_in WORDS: every file there, with what changes when it is written to; without apt's and dpkg's own records and
# the dynamic linker's cache, which they keep.
files_in() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./run \
        -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \
        -o -path ./etc/ld.so.cache \) -prune -o \( -type d -printf '%P d\n' -o -printf '%P %y %s %T@\n' \)) |
        sort >"$work/$1"
}

# changes BEFORE AFTER: paths that came, went or changed.
changes() { diff "$work/$1" "$work/$2" | sed -n 's/^[<>] //p' | sed 's/ [dflbcps]\( .*\)\{0,1\}$//' | sort -u; }

# ---- one trial ----

# step WORDS… -- COMMAND: one command in the chroot; what it says goes into the log.
step() {
    say "  $1: $2"
    n_checks=$((n_checks + 1))
    { echo "## $1: $2"; inside "$2"; } >>"$log" 2>&1 && return 0
    n_failures=$((n_failures + 1)) failed=1
    say "FAIL: $1: $2" >&2
    tail -n 15 "$log" >&2
    return 0
}

# try RELEASE KIND BASE: BASE is empty or "+".
try() {
    release=$1 kind=$2 base=$1$3
    log=$cache/results/$base-$kind.log
    failed=0
    say "$base, $kind"
    : >"$log"
    enter "$base"
    stated='^(root(/\.cache(/rmcp(/.*)?)?)?)$' # what use may write: caches, in the user's folder
    case $kind in
    tarball)
        install="tar -C /opt -xzf /tmp/packages/rmcp-*-x86_64.tar.gz"
        bin='/opt/rmcp-*/bin'
        python="PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=\$(echo /opt/rmcp-*/python) python3"
        pkg="PKG_CONFIG_PATH=\$(echo /opt/rmcp-*/lib/pkgconfig)"
        remove="rm -r /opt/rmcp-*"
        placed='^opt/rmcp-' ;;
    wheel)
        inside "python3 -m venv /opt/venv" >>"$log" 2>&1
        install="/opt/venv/bin/pip install --no-index /tmp/packages/rmcp-*manylinux*.whl"
        bin=/opt/venv/bin
        python=/opt/venv/bin/python
        pkg=:
        remove="/opt/venv/bin/pip uninstall -y rmcp"
        placed='^opt/venv/(bin/rmcp|lib/python3[^/]*/site-packages/rmcp)' ;;
    deb)
        install="apt-get install -qy /tmp/packages/*.deb"
        bin=/usr/bin
        python=python3
        pkg=:
        remove="apt-get purge -qy --auto-remove rmcp librmcp0 librmcp-dev libmiopen-rmcp python3-rmcp"
        # Dependencies come from Debian; ours are told by dpkg itself below.
        placed='.' ;;
    esac
    inside "mkdir -p /root/.cache; ldconfig" >>"$log" 2>&1
    # What Debian's own packages leave behind (Python a folder in /usr/local) is not ours: they come and go once before.
    others=
    [ "$kind" != deb ] ||
        others=$(inside "$install --simulate" 2>>"$log" | awk '/^Inst/ { print $2 }' | grep -v rmcp | xargs)
    [ -z "$others" ] || inside "apt-get install -qy $others && apt-get purge -qy --auto-remove $others" >>"$log" 2>&1
    files_in before
    step install "$install"
    files_in installed
    changes before installed | grep -Ev "$placed" >"$work/elsewhere" || true
    [ ! -s "$work/elsewhere" ] || { fail "installing wrote elsewhere: $(cat "$work/elsewhere")"; failed=1; }
    if [ "$kind" = deb ]; then
        step "what dpkg knows" "dpkg --verify rmcp librmcp0 librmcp-dev libmiopen-rmcp python3-rmcp"
    fi
    step use "$bin/rmcp version"
    step use "$bin/rmcp verify --suite quick --device cpu"
    step use "$bin/rmcp sim -- /bin/true"
    if inside "$bin/rmcp check --help" >>"$log" 2>&1; then step check "$bin/rmcp check --engine --device cpu"; fi
    if [ -n "$3" ]; then
        step use "$python -c 'import rmcp; print(rmcp.version(), rmcp.devices())'"
        step "simulated card" "$bin/rmcp sim -- rocminfo | grep gfx1010"
        step "simulated card" \
            "$bin/rmcp sim -- $bin/rmcp verify --device hip:0 n1c8h8w8k8r3s3p1 n2c4h6w6k8r1s1:f16:nhwc"
        if inside "$bin/rmcp check --help" >>"$log" 2>&1; then
            step "check, simulated card" "$bin/rmcp sim -- $bin/rmcp check --engine --device hip:0"
        fi
        if [ "$kind" != wheel ]; then
            step "a program in C" "$pkg; export PKG_CONFIG_PATH
                cc /tmp/program.c -o /tmp/program \$(pkg-config --cflags --libs rmcp) &&
                RMCP_DEVICE=cpu /tmp/program | grep 'the middle is 108'"
        fi
    fi
    files_in used
    changes installed used | grep -Ev "$stated" | grep -v '__pycache__' >"$work/elsewhere" || true
    [ ! -s "$work/elsewhere" ] || { fail "using wrote elsewhere: $(head -n 5 "$work/elsewhere")"; failed=1; }
    step remove "$remove"
    step "remove caches" "rm -rf /root/.cache/rmcp"
    # apt keeps those of them that something else recommends, certificates for instance.
    [ -z "$others" ] || inside "apt-get purge -qy --auto-remove $others" >>"$log" 2>&1
    files_in after
    changes before after >"$work/left" || true
    [ ! -s "$work/left" ] || { fail "left behind: $(head -n 10 "$work/left")"; failed=1; }
    leave
    [ $failed = 0 ] || return 0
    cat "$packages"/* | sha256sum >"$cache/results/$base-$kind.ok"
}

sum=$(cat "$packages"/* | sha256sum)
for release in ${RELEASES:-bookworm trixie sid}; do
    make_base "$release"
    for kind in ${KINDS:-tarball wheel deb}; do
        for more in "" +; do
            [ "$kind$more" != wheel ] || continue # it needs Python, which the bare system lacks
            if [ "$(cat "$cache/results/$release$more-$kind.ok" 2>/dev/null)" = "$sum" ]; then
                say "$release$more, $kind: was tried"
            else
                try "$release" "$kind" "$more"
            fi
        done
    done
done

# ---- the table of docs/install.md ----

# release_of PACKAGE: its version in $release with tools, without Debian's own part.
release_of() {
    chroot "$cache/$release+" dpkg-query -W -f '${Version}\n' "$1" 2>/dev/null | grep . | sort -V | tail -n 1 |
        sed 's/^[0-9]*://; s/[-+].*//'
}
verdict() {
    if [ "$(cat "$cache/results/$release$2-$1.ok" 2>/dev/null)" = "$sum" ]; then
        echo right
    else
        echo "**not right**"
    fi
}
echo "| system | tarball, bare | with tools | wheel | Debian packages, bare | with tools |"
echo "|---|---|---|---|---|---|"
for release in ${RELEASES:-bookworm trixie sid}; do
    echo "| $release: glibc $(release_of libc6), GCC $(release_of gcc), Python $(release_of python3)," \
        "HIP $(release_of 'libamdhip64-*')" \
        "| $(verdict tarball "") | $(verdict tarball +) | $(verdict wheel +) | $(verdict deb "") | $(verdict deb +) |"
done
finish chroots
