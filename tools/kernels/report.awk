# Reads gfx1010 assembly and prints the row of kernel `name`, function `entry`; see report.sh.
# A loop is a backward branch with all that stands between its label and itself; loops around other
# loops are left out. A gemm kernel has two: for problems with padding and for those without. Around
# each stands the loop that fetches the next slices, in which the inner one makes two turns. The loops of product,
# winograd and matmul kernels fetch themselves; that of winograd_fused also transforms, and has both ways to read filters, of which
# one is gone.
BEGIN {
    turns = 2
    gemm = name ~ /^gemm/
    fetching = name ~ /^(product|winograd|matmul_[a-z0-9]*_128x128)_/
    least = name ~ /^matmul_f32/ ? 87.5 : gemm || name ~ /^matmul/ ? 85 : name ~ /^winograd_fused/ ? 65 : 78
}
/^[a-z_][a-z0-9_]*:/ { inside = $1 == entry ":" }
/^    \.name:/ { inside = $2 == entry }
!inside { next }
/^\.LBB[0-9_]+:/ { label = $1; sub(/:.*/, "", label); at[label] = n; fma_at[label] = fma }
/^\t[a-z]/ {
    n++
    if ($1 ~ /^v_(pk_)?(fma|fmac|fma_mix)_/) fma++
    if ($1 ~ /^s_c?branch/ && $2 in at) {
        f = fma - fma_at[$2]
        size = n - at[$2]
        if (at[$2] > last_loop) { # an innermost loop
            last_loop = at[$2]
            inner_fma = f
            inner_size = size
            if (f > most) { most = f; loops = ""; low = 0 }
            if (f && f == most) {
                if (100 * f / size < least) low = 1
                loops = loops sprintf(" %d/%d %.1f%%", f, size, 100 * f / size)
            }
        } else if (f && f == inner_fma && f == most && !(last_loop in counted)) { # the loop around it
            counted[last_loop]
            around = around sprintf(" %.1f%%", 100 * turns * f / (turns * inner_size + size - inner_size))
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
    printf "%-26s %4d %4d %5d %6d %7d %5d %s%s\n", name, vgpr, sgpr, lds, spills, scratch, waves,
        loops, gemm ? " (with the fetches around it" around ")" : ""
    exit ((gemm || fetching || name ~ /^(thin|matmul)/) && (spills || scratch)) || ((gemm || fetching) && low)
}
