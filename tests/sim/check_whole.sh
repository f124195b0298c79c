#!/bin/sh
# What a lane moves at once others see whole: check_whole.sh RMCP
# One workgroup stores the same number in all words, again and again; another, of another thread, loads them and notes
# every word that differs from the first. rocPRIM's scans pass a value and its flag like this.
set -eu
. "$(dirname "$0")/asm.sh"

whole() { # WORDS SUFFIX-OF-LOAD LAST-REGISTER
    {
        cat <<END
    v_mul_u32_u24 v1, $((4 * $1)), v0
    v_mov_b32 v6, 0
    s_movk_i32 s6, 0x7fff
    s_and_b32 s7, s2, 1
    s_cmp_eq_u32 s7, 0
    s_cbranch_scc0 reads
writes:
END
        for k in $(seq 2 "$3"); do echo "v_mov_b32 v$k, s6"; done
        cat <<END
    global_store_$2 v1, v[2:$3], s[4:5]
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 writes
    s_endpgm
reads:
    global_load_$2 v1, v[2:$3], s[4:5]
    s_waitcnt vmcnt(0)
END
        for k in $(seq 3 "$3"); do printf '%s\n' "v_xor_b32 v8, v2, v$k" "v_or_b32 v6, v6, v8"; done
        cat <<END
    s_sub_u32 s6, s6, 1
    s_cmp_lg_u32 s6, 0
    s_cbranch_scc1 reads
    v_lshlrev_b32 v1, 2, v0
    global_store_dword v1, v6, s[4:5] offset:1024
END
    } | sed "s/global_load_$2 v1, \(v\[2:$3\]\), \(.*\)/global_load_$2 \1, v1, \2/" | assemble "whole$1"
    n_checks=$((n_checks + 1))
    "$rmcp" sim --kernel "whole$1.co" k --block 32 --grid 64 --threads 2 --limit 1000000 --args "out:1152@whole$1.bin" \
        >log 2>&1 || { cat log; fail "it ends with $?"; }
    dd if="whole$1.bin" bs=1024 skip=1 status=none | od -An -v -tx4 >words
    ! grep -q '[1-9a-f]' words || { head -3 words; fail "accesses of $1 words are seen in parts"; }
}
whole 2 dwordx2 3
whole 4 dwordx4 5
finish "whole accesses"
