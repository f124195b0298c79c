#!/bin/sh
# What the planner expects of matrix products on RDNA beside what is modelled: check_estimates.sh MODEL_WAYS KERNELS
# KERNELS is the folder with the code objects for gfx1010. Estimates are within a third of the model, and the way that
# is taken for the fastest is within a fifth of the one that is.
set -eu
ways=$1 kernels=$2
. "$(dirname "$0")/../support/lib.sh"
[ -d "$kernels" ] || skip "no kernels for gfx1010 were compiled"
for case in n1c96h14w14k576r1s1:fwd n1c64h14w14k64r3s3p1:bwd_data n2c128h7w7k128r1s1:bwd_weights; do
    expect 0 "$ways" --sample 4000000 --within 3 "$kernels" rx5600xt "$case"
    cp "$work/out" "$work/ways"
    awk -F'\t' '
        { modelled = $5 + 0; estimated = substr($6, 11) + 0; n++ }
        estimated > modelled * 4 / 3 || modelled > estimated * 4 / 3 {
            print "estimated " estimated " us: " $0; wrong++
        }
        n == 1 || modelled < best { best = modelled }
        n == 1 || estimated < least { least = estimated; chosen = modelled }
        END {
            if (chosen > 1.2 * best) { print "chosen: " chosen " us, best: " best; wrong++ }
            if (n < 5) { print n + 0 " ways"; wrong++ }
            exit wrong > 0
        }' "$work/ways" || fail "$case"
done
finish
