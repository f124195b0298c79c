# Reads gfx1010 assembly of one kernel and prints its row of the report; see report.sh.
# A loop is a backward branch with all that stands between its label and itself; loops around other
# loops are left out. A gemm kernel has two: for problems with padding and for those without.
/^\.LBB[0-9_]+:/ { label = $1; sub(/:.*/, "", label); at[label] = n; fma_at[label] = fma }
/^\t[a-z]/ {
    n++
    if ($1 ~ /^v_(pk_)?(fma|fmac|fma_mix)_/) fma++
    if ($1 ~ /^s_c?branch/ && $2 in at && at[$2] > last_loop) {
        last_loop = at[$2]
        f = fma - fma_at[$2]
        if (f > most) { most = f; loops = "" }
        if (f && f == most) {
            share = 100 * f / (n - at[$2])
            loops = loops sprintf(" %d/%d %.0f%%", f, n - at[$2], share)
            if (most_share < share) most_share = share
        }
    }
}
/^; NumSgprs:/ { sgpr = $3 }
/^; NumVgprs:/ { vgpr = $3 }
/^; ScratchSize:/ { scratch = $3 }
/^; Occupancy:/ { waves = $3 }
/^; LDSByteSize:/ { lds = $3 }
/spill_count:/ { spills += $2 }
END {
    printf "%-26s %4d %4d %5d %6d %7d %5d %s\n",
        name, vgpr, sgpr, lds, spills, scratch, waves, loops
    exit name ~ /^gemm/ && (spills || scratch || most_share < 78)
}
