# original.sh: to be sourced after lib.sh: the original MIOpen of Debian sid on a simulated card, made to work.
# shellcheck shell=sh disable=SC2154 # $work is of lib.sh, $here of the script that sources this

# original_open BUILD-FOLDER PACKAGE…: the chroot ($root), a folder in it ($inside, at $place there) with the
# simulated card and the drop-in ($dropin) of the build.
original_open() {
    build=$1
    shift
    for needed in rmcp sim/driver/librmcp-sim.so src/dropin/miopen/libMIOpen.so.1 tests/miopen/sequence; do
        [ -e "$build/$needed" ] || die "$build/$needed is not built"
    done
    root=$(sh "$here/../support/chroot.sh" sid rocminfo libamdhip64-dev libmiopen1 clang-21 libcjson1 libgomp1 \
        libzstd1 zlib1g libbz2-1.0 libsqlite3-0 libdw1t64 libelf1t64 "$@") || { say "$root" && exit 77; }
    place=/tmp/rmcp-miopen.$$
    inside=$root$place
    trap 'rm -rf "$work" "$inside"' EXIT
    mkdir -p "$inside/sim/driver" "$inside/home" "$inside/tmp"
    cp "$build/rmcp" "$inside/"
    cp "$build/sim/driver/librmcp-sim.so" "$inside/sim/driver/"
    cp -L "$build/librmcp.so.0" "$build/src/dropin/miopen/libMIOpen.so.1" "$inside/"
    # shellcheck disable=SC2034 # for the script that sources this
    dropin=$place/libMIOpen.so.1
    original_compiler
}

# original_compiler: the OpenCL compiler is sought where Debian's build machine had it.
original_compiler() {
    old=$(strings -n 12 "$root/usr/lib/x86_64-linux-gnu/libMIOpen.so.1" | grep '^/build/.*/clang-21$' | head -n 1)
    if [ -n "$old" ]; then
        mkdir -p "$(dirname "$root$old")"
        ln -sf /usr/bin/clang-21 "$root$old"
    fi
}

# original_chroot SECONDS COMMAND…: in the folder. What Debian's build lacks is made up for in the environment:
# the assembler's path; -isystem /usr/include, which hides math.h; wave operations of gfx9 in batch norm; a chip that
# reductions know; the sources of Winograd kernels, which are not in the package.
original_chroot() {
    limit=$1
    shift
    timeout "$limit" chroot "$root" env -C "$place" HOME="$place/home" XDG_CACHE_HOME="$place/home/cache" \
        TMPDIR="$place/tmp" OMP_WAIT_POLICY=passive RMCP_GUARD=0 \
        MIOPEN_EXPERIMENTAL_GCN_ASM_PATH=/usr/bin/clang-21 MIOPEN_DEBUG_CONV_WINOGRAD=0 MIOPEN_LOG_LEVEL=3 \
        CCC_OVERRIDE_OPTIONS='# X-isystem +-DMIO_BN_GFX103X=1 +-DCK_AMD_GPU_GFX1030=1' "$@"
}

# shellcheck disable=SC2016 # dpkg's own variable
original_version() { chroot "$root" dpkg-query -W -f '${Version}\n' libmiopen1; }
