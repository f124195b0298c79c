#!/bin/sh
# tools/kernels/cards.sh on made-up machines: which kernels serve the GPUs that are there.
# usage: check_cards.sh SOURCE-DIR
set -eu
. "$(dirname "$0")/../support/lib.sh"
cards=$1/tools/kernels/cards.sh
sys=$work/sys
# device NUMBER VENDOR DEVICE [CLASS]: one on the PCI bus.
device() {
    mkdir -p "$sys/bus/pci/devices/$1"
    printf '%s\n' "$2" >"$sys/bus/pci/devices/$1/vendor"
    printf '%s\n' "$3" >"$sys/bus/pci/devices/$1/device"
    printf '%s\n' "${4:-0x030000}" >"$sys/bus/pci/devices/$1/class"
}
# node NUMBER VERSION: one of the kernel driver's topology.
node() {
    mkdir -p "$sys/class/kfd/kfd/topology/nodes/$1"
    printf 'cpu_cores_count 0\ngfx_target_version %s\n' "$2" >"$sys/class/kfd/kfd/topology/nodes/$1/properties"
}
answers() {
    expect 0 env "RMCP_SYSFS_ROOT=$sys" "$cards"
    [ "$(cat "$work/out")" = "$1" ] || fail "it says $(cat "$work/out"), not $1"
    quiet
}
machine() { rm -rf "$sys" && mkdir -p "$sys"; }

machine; answers ''
device 1 0x1234 0x1111; answers ''                       # a virtual machine's
device 2 0x1002 0x731f; answers gfx1010                  # an RX 5700, no driver loaded
device 3 0x1002 0x73ff 0x040300; answers gfx1010         # sound of a card is no card
device 4 0x1002 0x73ff; answers gfx1010,gfx1030
device 5 0x10de 0x2330 0x030200; answers gfx1010,gfx1030,nvptx
machine; node 0 0; answers ''                            # processors
node 1 100102; answers gfx1010                           # an RX 5500 has gfx1010's
node 2 110000; answers gfx1010,gfx1102
node 3 90402; answers gfx1010,gfx1102                    # there are none for MI300
machine; device 1 0x1002 0x73f0; answers gfx1102         # a Navi 33 among the numbers of Navi 23
machine; device 1 0x1002 0x687f; answers gfx900
machine; device 1 0x1002 0x67df; answers gfx803
machine; device 1 0x1002 0x0001; answers ''              # of a chip that nobody knows
# Every chip with compiled kernels is found by its version.
machine
while read -r version kernels; do
    machine
    node 1 "$version"
    answers "$kernels"
done <<TEXT
$(sed -n -e '/^{ \.name/ { s/.*\.version = \([0-9]*\).*/\1/; h; b; }' \
    -e '/\.kernels = / { s/.*\.kernels = "\([a-z0-9]*\)".*/\1/; G; s/\(.*\)\n\(.*\)/\2 \1/p; }' \
    "$1/src/base/chip/chips.inc")
TEXT
[ "$n_checks" -gt 35 ] || fail "chips.inc could not be read: $n_checks checks"
finish "cards"
