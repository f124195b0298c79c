#!/bin/bash
# How tests/strangers/run chooses and judges, on short texts as its programs print them: check_strangers.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../support/lib.sh"
. "$here/kinds.sh"
. "$here/table.sh"
. "$here/rewritten.sh"
. "$here/repaired.sh"
tab=$(printf '\t')

# same WHAT EXPECTED FOUND
same() {
    n_checks=$((n_checks + 1))
    [ "$2" = "$3" ] || fail "$1: '$3', not '$2'"
}

# A sample is a part of each larger one, has no case twice, and comes from all parts of the list.
seq -f "p${tab}%g" 1 1000 >"$work/list"
for n in 1 10 99 100 500; do
    chosen "$work/list" $n | sort >"$work/sample.$n"
    same "a sample of $n" $n "$(sort -u "$work/sample.$n" | wc -l)"
    chosen "$work/list" 600 | sort | comm -13 - "$work/sample.$n" >"$work/rest"
    same "what the larger sample lacks" 0 "$(wc -l <"$work/rest")"
done
for tenth in 0 1 2 3 4 5 6 7 8 9; do
    n=$(awk -v t=$tenth '$2 > t * 100 && $2 <= (t + 1) * 100' "$work/sample.100" | wc -l)
    [ "$n" -ge 8 ] && [ "$n" -le 12 ] || fail "$n of 100 are in tenth $tenth"
done
same "all of them" 1000 "$(chosen "$work/list" 0 | wc -l)"

cat >"$work/gtest" <<'END'
[ RUN      ] a/Suite.one/0
[       OK ] a/Suite.one/0 (12 ms)
some words [       OK ] a/Suite.one/1 (12 ms)
[  FAILED  ] a/Suite.one/2, where GetParam() = 7 (1 ms)
[  SKIPPED ] Suite.two (0 ms)
[ RUN      ] Suite.three
[  FAILED  ] a/Suite.one/2, where GetParam() = 7
END
same gtest "right a/Suite.one/0,right a/Suite.one/1,wrong a/Suite.one/2,skipped Suite.two" \
    "$(judge_gtest "$work/gtest" | tr '\t\n' ' ,' | sed 's/,$//')"

cat >"$work/thrust" <<'END'
Running 3 unit tests.
Running TestAdvanceDevice...[PASS]    182.823 ms TestAdvanceDevice
Running TestNext...[FAILURE]      0.004 ms TestNext
Running TestPrev...[ERROR]      0.761 ms TestPrev
END
same thrust "right TestAdvanceDevice,wrong TestNext,wrong TestPrev" \
    "$(judge_thrust "$work/thrust" | tr '\t\n' ' ,' | sed 's/,$//')"

cat >"$work/ggml" <<'END'
  ADD(type=f32,ne=[1,2]): OK
  MUL(type=f32): [ERR] NMSE = 0.5 > 0.1 FAIL
  SUB(type=f16): not supported [ROCm0]
  1/2 tests passed
END
same ggml "right ADD(type=f32,ne=[1,2]),wrong MUL(type=f32),skipped SUB(type=f16)" \
    "$(judge_ggml "$work/ggml" | tr '\t\n' ' ,' | sed 's/,$//')"

printf '   5 test(s) passed\n   0 test(s) skipped\n   0 test(s) failed\n' >"$work/clblast"
same clblast "right${tab}clblast_test_xdot" "$(judge_clblast "$work/clblast" /usr/bin/clblast_test_xdot)"
printf '   5 test(s) passed\n   0 test(s) skipped\n   1 test(s) failed\n' >>"$work/clblast"
same "clblast, one wrong" "wrong${tab}clblast_test_xdot" "$(judge_clblast "$work/clblast" /usr/bin/clblast_test_xdot)"
: >"$work/empty"
same "clblast, ended" "" "$(judge_clblast "$work/empty" /usr/bin/clblast_test_xdot)"

for pair in pass:right fail:wrong crash:wrong skip:skipped; do
    echo "PIGLIT: {\"result\": \"${pair%:*}\" }" >"$work/piglit"
    same "piglit, ${pair%:*}" "${pair#*:}${tab}c" "$(judge_piglit "$work/piglit" p c)"
done
same "piglit, ended" "" "$(judge_piglit "$work/empty" p c)"

filter=rocblas.txt
for pair in 0:right 1.36133e-07:right 0.000488281:right 0.00222374:none 0.25:none 3e+01:none nan:none inf:none; do
    printf 'N,alpha,us,norm_error_1\n777,1, 127,%s\n' "${pair%:*}" >"$work/bench"
    found=$(judge_lines "$work/bench" p c | cut -f 1)
    same "rocblas-bench, error ${pair%:*}" "${pair#*:}" "${found:-none}"
done
printf 'N,alpha,us,norm_error_1\n777,1, 127,1.36133e-07\n' >"$work/bench"
same "rocblas-bench, its figure" ",1.36133e-07" "$(judge_lines "$work/bench" p c | cut -f 3)"

# Reports by kind, for patterns by rule.
cat >"$work/reports" <<END
rmcp sim: pattern: kernel k on rx5600xt, +0x10 (0x7f): global_store_dword v1, v0, s[4:5]; workgroup 0,0,0 wave 0 \
lanes 0x1: vmem-scalar-write: why
rmcp sim: pattern: kernel k on rx5600xt, +0x20 (0x7f): global_store_dword v1, v0, s[4:5]; workgroup 0,0,0 wave 0 \
lanes 0x1: vmem-scalar-write: why
rmcp sim: lds-fault: kernel k on rx5600xt, +0x5cc (0x7f): ds_read_b32 v1, v0; workgroup 0,0,0 wave 6 \
lanes 0xf8: 8 bytes at 17408
rmcp sim: simulated rx5600xt: 32 kernels, 2058365 instructions, 3 reports
END
same "kinds of reports" "pattern vmem-scalar-write (2), lds-fault (1)" "$(reported "$work/reports")"

# What needs an explanation: all that is wrong, and reports that are not bug patterns under the override.
printf '%s\tp: %s\tk\t%s\n' right a '' wrong b 'status 1' \
    reports c 'pattern flat-offset (2), pattern lds-branch-vmem (1)' \
    reports d 'pattern flat-offset (2), lds-fault (1)' slow e '' skipped f '' wrong gone '' >"$work/found"
printf '/usr/bin/p\t%s\n' a b c d e f >"$work/cases"
letters() { sed 's/.*p: \(.\).*/\1/' | tr '\n' ' ' | sed 's/ $//'; }
same "natively unexplained" "b c d" "$(unexplained "$work/found" none native "$work/cases" | letters)"
same "unexplained under the override" "b d" "$(unexplained "$work/found" none override "$work/cases" | letters)"
same "unexplained, rewritten" "b c d" "$(unexplained "$work/found" none nops25 "$work/cases" | letters)"
same "unexplained, repaired" "b c d" "$(unexplained "$work/found" none repaired "$work/cases" | letters)"
same "unrepaired, nothing needs an explanation" "" "$(unexplained "$work/found" none unrepaired "$work/cases")"

# Rewritten code: another verdict or figure is a difference, another number of reports or too little time is none.
printf '%s\tp: %s\tk\t%s\t%s\n' right a '' ,1e-7 right b '' ,1e-7 wrong c 'status 1' '' reports d 'barrier (2)' '' \
    slow e '' '' right f '' '' right g '' ,0 >"$work/native"
printf '%s\tp: %s\tk\t%s\t%s\n' right a '' ,1e-7 right b '' ,2e-7 wrong c 'status 1' '' reports d 'barrier (3)' '' \
    wrong e '' '' wrong f '' '' slow g '' '' right new '' '' >"$work/rewritten"
same "what differs when rewritten" \
    "p: b: right ,1e-7, rewritten: right ,2e-7;p: f: right , rewritten: wrong ;p: new: not run natively" \
    "$(differing "$work/native" "$work/rewritten" | tr '\n' ';' | sed 's/;$//')"
same "without native results" 8 "$(differing "$work/empty" "$work/rewritten" | grep -c 'not run natively')"

# Repaired code: the figures of what is right are those of the original.
same "other figures when repaired" "p: b: ,1e-7 with the code of gfx1030 on its card, repaired: ,2e-7" \
    "$(other_figures "$work/native" "$work/rewritten")"

# Every line of known.txt has a program of the list, a mode and words.
while IFS="$tab" read -r name mode pattern words; do
    case $name in '#'* | '') continue ;; esac
    n_checks=$((n_checks + 1))
    [ "$name" = '*' ] || grep -q "^$name *|" "$here/programs.txt" || fail "known.txt: no program $name"
    case $mode in native | override | both | repaired) ;; *) fail "known.txt: no mode $mode" ;; esac
    [ -n "$pattern" ] && [ -n "$words" ] || fail "known.txt: $name: a field is empty"
done <"$here/known.txt"

expect 0 "$here/run" --list
has '^piglit ' '^rocfft '
expect 0 "$here/run" --help
has 'usage: run'
expect 2 "$here/run"
expect 2 "$here/run" --nonsense "$work"
expect 2 "$here/run" --only nobody "$work"
says 'no such program'
# Code of gfx1030 alone: a folder like rocBLAS's loses the files of other chips.
mkdir "$work/library"
for file in Kernels_gfx1030.hsaco Kernels_gfx1010.hsaco Tensile_lazy_gfx1010.dat Tensile_lazy_gfx1030.dat \
    Kernels_fallback_gfx90a.hsaco fallback.dat; do echo "$file" >"$work/library/$file"; done
only_folder "$work/library" "$work/only"
same "a folder for gfx1030" "Kernels_gfx1030.hsaco Tensile_lazy_gfx1030.dat fallback.dat" "$(cd "$work/only" && echo *)"
same "the folder as it was" 6 "$(find "$work/library" -type f | wc -l)"

for mode in fast nops nopsx nops2x repaired2; do expect 2 "$here/run" --mode $mode "$work"; done
expect 2 "$here/run" --gpu nothing "$work"
says 'no such card'
expect 2 "$here/run" --limit x "$work"
finish strangers
