#!/bin/sh
# Prints the targets of the compiled kernels that serve the GPUs of this machine, with commas between them; nothing
# where there is none: cards.sh [SYSFS]
#
# AMD's chips come from the kernel driver's topology where it is loaded, else from their PCI numbers; which kernels
# serve a chip says src/base/chip/chips.inc, and any GPU of NVIDIA takes nvptx. RMCP_SYSFS_ROOT stands in for /sys, as
# for rmcp doctor.
set -eu
sysfs=${1:-${RMCP_SYSFS_ROOT:-/sys}}
chips=$(dirname "$0")/../../src/base/chip/chips.inc

# One word each: version:100100 of a chip in the topology, pci:731f of an AMD display device, nvidia.
gpus() {
    for node in "$sysfs"/class/kfd/kfd/topology/nodes/*/properties; do
        [ ! -r "$node" ] || awk '$1 == "gfx_target_version" && $2 > 0 { print "version:" $2 }' "$node"
    done
    for device in "$sysfs"/bus/pci/devices/*; do
        [ -r "$device/class" ] && [ -r "$device/vendor" ] && [ -r "$device/device" ] || continue
        case $(cat "$device/class") in 0x03* | 0x12*) ;; *) continue ;; esac # displays, accelerators
        case $(cat "$device/vendor") in
        0x1002) sed 's/^0x/pci:/' "$device/device" ;;
        0x10de) echo nvidia ;;
        esac
    done
}

gpus | awk '
    # A row of chips.inc begins with "{ .name" and ends where the next one begins.
    NR == FNR {
        if (/^\{ \.name = /) { version = kernels = "" }
        if (match($0, /\.version = [0-9]+/)) version = substr($0, RSTART + 11, RLENGTH - 11)
        if (match($0, /\.kernels = "[a-z0-9]+"/)) {
            kernels = substr($0, RSTART + 12, RLENGTH - 13)
            by_version[version] = kernels
        }
        rest = $0
        while (match(rest, /\{ 0x[0-9a-f]+, 0x[0-9a-f]+,/)) {
            range = substr(rest, RSTART + 4, RLENGTH - 5)
            rest = substr(rest, RSTART + RLENGTH)
            n++
            first[n] = substr(range, 1, 4)
            last[n] = substr(range, 9, 4)
            serves[n] = kernels
        }
        next
    }
    $0 == "nvidia" { wanted["nvptx"] = 1 }
    /^version:/ && substr($0, 9) in by_version { wanted[by_version[substr($0, 9)]] = 1 }
    /^pci:/ {
        number = substr($0, 5)
        for (i = 1; i <= n; i++)
            if (number >= first[i] && number <= last[i] && serves[i] != "") wanted[serves[i]] = 1
    }
    END { for (target in wanted) print target }' "$chips" - | LC_ALL=C sort | paste -s -d , -
