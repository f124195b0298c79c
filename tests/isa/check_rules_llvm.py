#!/usr/bin/python3
"""The silicon-bug rules against LLVM's hazard recognizer itself, on random functions.

Small functions of random instructions and branches are written as MIR. Where the recognizer (llc,
one pass) adds a workaround for gfx1010, we must have found the pattern in the function as it was;
where it adds none, we must have found none; and in what it made there must be nothing left.

usage: check_rules_llvm.py RULES_DUMP [FUNCTIONS [SEED]]; exit status 77 (skip) without llc-19.
"""
import collections
import random
import re
import shutil
import subprocess
import sys
import tempfile

EXEC = "implicit $exec"
# What raises a fact or must not meet one.
ACTORS = f"""
$sgpr0 = S_MOV_B32 $exec_lo
$sgpr2 = S_OR_B32 $sgpr3, $exec_lo, implicit-def $scc
$sgpr3 = S_MOV_B32 0
$sgpr4 = S_MOV_B32 0
$sgpr2_sgpr3 = S_MOV_B64 0
$m0 = S_MOV_B32 0
$exec_lo = S_MOV_B32 $sgpr0
$exec_lo = S_OR_B32 $exec_lo, $sgpr0, implicit-def $scc
$sgpr8 = S_AND_SAVEEXEC_B32 $sgpr1, implicit-def $exec, implicit-def $scc, {EXEC}
S_CMP_EQ_U32 $sgpr4, $sgpr5, implicit-def $scc
$sgpr5 = S_ADDK_I32 $sgpr5, 4, implicit-def $scc
S_SENDMSG 1, {EXEC}, implicit $m0
GLOBAL_STORE_DWORD_SADDR $vgpr0, $vgpr1, $sgpr4_sgpr5, 0, 0, {EXEC}
$vgpr0 = GLOBAL_LOAD_DWORD $vgpr0_vgpr1, 0, 0, {EXEC}
$vgpr0 = BUFFER_LOAD_DWORD_OFFEN $vgpr1, $sgpr0_sgpr1_sgpr2_sgpr3, $sgpr4, 0, 0, 0, {EXEC}
$vgpr0 = BUFFER_LOAD_DWORD_OFFEN $vgpr1, $sgpr0_sgpr1_sgpr2_sgpr3, $m0, 0, 0, 0, {EXEC}
BUFFER_GL0_INV {EXEC}
$vgpr0 = FLAT_LOAD_DWORD $vgpr0_vgpr1, 0, 0, {EXEC}, implicit $flat_scr
$vgpr0 = DS_READ_B32_gfx9 $vgpr1, 0, 0, {EXEC}
DS_WRITE_B32_gfx9 $vgpr0, $vgpr1, 0, 0, {EXEC}
$sgpr2 = S_LOAD_DWORD_IMM $sgpr0_sgpr1, 0, 0
$sgpr4_sgpr5_sgpr6_sgpr7 = S_LOAD_DWORDX4_IMM $sgpr0_sgpr1, 0, 0
$sgpr8 = S_LOAD_DWORD_IMM $vcc, 0, 0
$sgpr8 = S_BUFFER_LOAD_DWORD_IMM $sgpr0_sgpr1_sgpr2_sgpr3, 0, 0
$sgpr0 = V_CMP_GT_U32_e64 $vgpr0, $vgpr1, {EXEC}
V_CMP_GT_U32_e32 $vgpr0, $vgpr1, implicit-def $vcc, {EXEC}
$sgpr1 = V_READFIRSTLANE_B32 $vgpr0, {EXEC}
$vgpr0, $sgpr1 = V_ADD_CO_U32_e64 $vgpr0, $vgpr1, 0, {EXEC}
V_CMPX_GT_U32_nosdst_e32 $vgpr0, $vgpr1, implicit-def $exec, {EXEC}
V_CMPX_GT_U32_nosdst_e32 $vgpr0, $vgpr1, implicit-def $exec, {EXEC}
$vgpr2 = V_PERMLANE16_B32_e64 0, $vgpr3, 0, $sgpr8, 0, $sgpr9, $vgpr2, 0, {EXEC}
$vgpr2 = V_PERMLANEX16_B32_e64 0, $vgpr3, 0, $sgpr8, 0, $sgpr9, $vgpr2, 0, {EXEC}
""".strip().split("\n")
# What may end one.
ENDERS = f"""
$vgpr4 = V_MOV_B32_e32 $vgpr5, {EXEC}
V_NOP_e32 {EXEC}
S_NOP 0
S_BARRIER
S_WAITCNT 0
S_WAITCNT 49279
S_WAITCNT 16240
S_WAITCNT_DEPCTR 65507
S_WAITCNT_DEPCTR 65534
S_WAITCNT_DEPCTR 65535
S_WAITCNT_VSCNT undef $sgpr_null, 0
S_WAITCNT_VSCNT undef $sgpr_null, 1
S_WAITCNT_VMCNT undef $sgpr_null, 0
S_WAITCNT_LGKMCNT undef $sgpr_null, 0
S_WAITCNT_LGKMCNT undef $sgpr_null, 1
$sgpr_null = S_MOV_B32 0
""".strip().split("\n")
CURES = {
    "vcmpx-exec-war": re.compile(r"S_WAITCNT_DEPCTR 65534"),
    "vcmpx-permlane": re.compile(r"\$vgpr3 = V_MOV_B32_e32 (killed )?\$vgpr3"),
    "vmem-scalar-write": re.compile(r"S_WAITCNT_DEPCTR 65507"),
    "smem-vector-write": re.compile(r"\$sgpr_null = S_MOV_B32 0"),
    "lds-branch-vmem": re.compile(r"S_WAITCNT_VSCNT undef \$sgpr_null, 0"),
}


def function(name):
    n_blocks = random.choice((1, 1, 2, 3, 4, 6))
    kinds = random.sample(ACTORS, random.randint(2, 6))  # few kinds: they meet more often
    lines = [f"---\nname: {name}\ntracksRegLiveness: false\nbody: |"]
    for b in range(n_blocks):
        body = []
        for _ in range(random.choice((0, 1, 1, 2, 3))):
            body.append(random.choice(ENDERS if random.random() < 0.2 else kinds))
        successors = []
        last = b + 1 == n_blocks
        end = random.choice(("fall", "scc", "scc", "exec", "jump"))
        to = random.randrange(n_blocks)
        if end == "scc":
            body.append(f"S_CBRANCH_SCC1 %bb.{to}, implicit $scc")
        elif end == "exec":
            body.append(f"S_CBRANCH_EXECZ %bb.{to}, {EXEC}")
        elif end == "jump":
            body.append(f"S_BRANCH %bb.{to}")
        if end != "fall":
            successors.append(to)
        if end != "jump":
            if last:
                body.append("S_ENDPGM 0")
            elif b + 1 not in successors:
                successors.append(b + 1)
        lines.append(f"  bb.{b}:")
        if successors:
            lines.append("    successors: " + ", ".join(f"%bb.{s}" for s in successors))
        lines += ["    " + line for line in body]
    return "\n".join(lines) + "\n...\n"


def llc(*arguments):
    done = subprocess.run(["llc-19", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx1010", *arguments],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit("llc: " + done.stderr[:1000])


def cures(text):
    """How many of each workaround every function of a MIR file has."""
    count = collections.Counter()
    for part in text.split("\n---\n"):
        name = re.search(r"^name: +(\S+)", part, re.M)
        for rule, cure in CURES.items():
            count[name and name[1], rule] += len(cure.findall(part))
    return count


def findings(dump, mir, work, start):
    llc(start + "=post-RA-hazard-rec", "-filetype=obj", "-o", work + "/code.o", mir)
    out = subprocess.run([dump, "-f", work + "/code.o"], check=True, capture_output=True, text=True)
    return collections.Counter(tuple(line.split()) for line in out.stdout.splitlines())


def main():
    if not shutil.which("llc-19"):
        print("skipped: no llc-19")
        sys.exit(77)
    dump = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    functions = {f"f{i}": function(f"f{i}") for i in range(n)}
    with tempfile.TemporaryDirectory() as work:
        before, after = work + "/before.mir", work + "/after.mir"
        with open(before, "w") as file:
            file.write("".join(functions.values()))
        llc("-run-pass=post-RA-hazard-rec", "-o", after, before)
        with open(before) as file_before, open(after) as file_after:
            had, has = cures("\n" + file_before.read()), cures("\n" + file_after.read())
        ours = findings(dump, before, work, "-start-after")
        left = findings(dump, before, work, "-start-before")
    failures = 0
    both = collections.Counter()
    for name, text in functions.items():
        for rule in CURES:
            theirs = has[name, rule] - had[name, rule]
            mine = ours[name, rule]
            both[rule] += theirs > 0 and mine > 0
            # The cure of v_permlane is a VALU, which ends vmem-scalar-write as well.
            hidden = rule == "vmem-scalar-write" and has[name, "vcmpx-permlane"]
            if (theirs > 0 and not mine) or (mine and not theirs and not hidden):
                print(f"{rule}: LLVM adds {theirs}, we find {mine} in\n{text}")
                failures += 1
    for (name, rule), count in left.items():
        print(f"{rule}: {count} left after LLVM in\n{functions[name]}")
        failures += 1
    for (name, rule), count in ours.items():
        if rule not in CURES:
            print(f"{rule} in\n{functions[name]}")
            failures += 1
    print(f"{n} functions, {failures} disagreements; both see: " +
          ", ".join(f"{rule} {both[rule]}" for rule in CURES))
    if n >= 1000 and min(both.values()) < 10:
        sys.exit("a rule was hardly met")
    sys.exit(failures != 0)


main()
