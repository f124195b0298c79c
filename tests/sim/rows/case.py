"""A case: an instruction, the state before it and the state that must follow; and their file."""

import array
import re
import subprocess

CHIPS = ["gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030"]
MODE = 0x3f0  # denormals on, DX10 clamp, IEEE; nearest even
# How a result word is compared; rows_cases.c has the same numbers.
EXACT, ANY, NAN32, MEAN32, ULP32, ULP16, NAN64, ROUGH64, HALVES, ULP16X2 = 0, 1, 2, 3, 4, 5, 6, 7, 8, 12


class Case:
    """Registers not named keep their values and must keep them."""

    def __init__(self, name, encoding, text, wave64=False, chip=0):
        self.name, self.encoding, self.text, self.chip = name, encoding, text, chip
        self.wave64 = wave64
        self.lanes = 64 if wave64 else 32
        self.vcc = 0x123456789abcdef0
        self.exec = (1 << self.lanes) - 1
        self.m0, self.scc, self.mode = 0x55, 0, MODE
        self.ends = 0  # 1: the program ends here; 2: by a trap
        self.want = {}  # vcc, exec, m0, scc, mode: when they change
        self.items = []
        self.words = None

    def put(self, what, index, values):
        """what: 0 a VGPR's lanes, 1 SGPRs, 2 words of LDS, 3 words of memory."""
        self.items.append((what, index, [v & 0xffffffff for v in values], None))

    def expect(self, what, index, values, kinds=None):
        if what == 0 and kinds is None:
            kinds = [EXACT] * len(values)
        self.items.append((what + 4, index, [v & 0xffffffff for v in values], kinds))

    def put_wide(self, index, values, words):
        """Lanes of up to 128 bits in consecutive VGPRs."""
        for k in range(words):
            self.put(0, index + k, [v >> 32 * k for v in values])

    def scalars(self, after):
        get = lambda key: self.want.get(key, getattr(self, key)) if after else getattr(self, key)
        vcc, exec_ = get("vcc"), get("exec")
        return [vcc & 0xffffffff, vcc >> 32 & 0xffffffff, exec_ & 0xffffffff,
                exec_ >> 32 & 0xffffffff, get("m0") & 0xffffffff, int(get("scc")), get("mode")]


def assemble(texts, chip, wave64):
    """Words of each text (several instructions with ';'), None where the assembler refuses."""
    # LLVM does not know this one with DPP: its words are those of v_fmac_f16, six opcodes further.
    unnamed = [i for i, text in enumerate(texts) if text.startswith("v_pk_fmac_f16_dpp")]
    texts = [text.replace("v_pk_fmac_f16_dpp", "v_fmac_f16_dpp") for text in texts]
    source = []
    for i, text in enumerate(texts):
        source.append("L%d:" % i)
        source += [line.strip() for line in text.split(";")]
    source.append("L%d:" % len(texts))
    command = ["llvm-mc-19", "-triple=amdgcn", "-mcpu=" + CHIPS[chip], "-show-encoding",
               "-mattr=" + ("+wavefrontsize64,-wavefrontsize32" if wave64 else
                            "+wavefrontsize32,-wavefrontsize64")]
    run = subprocess.run(command, input="\n".join(source) + "\n", capture_output=True, text=True)
    words, errors, current = [[] for _ in texts], set(), -1
    for line in run.stdout.splitlines():
        label = re.match(r"L(\d+):", line)
        if label:
            current = int(label.group(1))
        code = re.search(r"encoding: \[(.*?)\]", line)
        if code and 0 <= current < len(texts):
            data = [int(b, 16) for b in code.group(1).replace("A", "").split(",")]
            for k in range(0, len(data), 4):
                words[current].append(int.from_bytes(bytes(data[k:k + 4]), "little"))
    starts, line_no = [], 1
    for text in texts:
        line_no += 1
        starts.append(line_no)
        line_no += len(text.split(";"))
    for m in re.finditer(r"<stdin>:(\d+):\d+: error: (.*)", run.stderr):
        line_of = int(m.group(1))
        k = max(i for i in range(len(starts)) if starts[i] <= line_of)
        if k not in errors and assemble.verbose:
            print("refused:", texts[k], "--", m.group(2))
        errors.add(k)
    for k in unnamed:
        words[k][0] += 6 << 25
    return [None if k in errors or not w else w for k, w in enumerate(words)]


assemble.verbose = False


def frame(wave64):
    """Prologue and epilogue: see rows.h for the places."""
    rows = 16
    per = 256 if wave64 else 128
    before = ["s_add_u32 s2, s2, s4", "s_addc_u32 s3, s3, 0",
              "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s2",
              "s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s3",
              "s_mov_b32 s64, s0", "s_mov_b32 s65, s1", "s_add_u32 s66, s64, 0x4000",
              "s_addc_u32 s67, s65, 0", "s_add_u32 s68, s64, 0x800", "s_addc_u32 s69, s65, 0",
              "s_add_u32 s70, s64, 0x1200", "s_addc_u32 s71, s65, 0",
              "v_lshlrev_b32_e32 v31, 2, v0"]
    for k in range(rows):
        base, offset = ("s[64:65]", k * 256) if k < 8 else ("s[68:69]", (k - 8) * 256)
        before.append("global_load_dword v%d, v31, %s offset:%d" % (k, base, offset))
    for k in range(1024 // per):
        before.append("global_load_dword v%d, v31, s[70:71] offset:%d" % (40 + k, k * per))
    before += ["s_load_dwordx16 s[0:15], s[64:65], 0x1000",
               "s_load_dwordx16 s[16:31], s[64:65], 0x1040",
               "s_load_dwordx8 s[80:87], s[64:65], 0x1080",
               "s_waitcnt vmcnt(0) lgkmcnt(0)"]
    for k in range(1024 // per):
        before.append("ds_write_b32 v31, v%d offset:%d" % (40 + k, k * per))
    before += ["s_waitcnt lgkmcnt(0)", "s_mov_b32 vcc_lo, s80", "s_mov_b32 vcc_hi, s81",
               "s_mov_b32 m0, s84", "s_setreg_b32 hwreg(HW_REG_MODE), s86",
               "s_cmp_lg_u32 s85, 0", "s_mov_b32 exec_lo, s82"]
    after = ["s_cselect_b32 s85, 1, 0", "s_mov_b32 s80, vcc_lo", "s_mov_b32 s81, vcc_hi",
             "s_mov_b32 s82, exec_lo", "s_mov_b32 s83, exec_hi", "s_mov_b32 s84, m0",
             "s_getreg_b32 s86, hwreg(HW_REG_MODE)", "s_mov_b32 exec_lo, -1"]
    if wave64:
        before.append("s_mov_b32 exec_hi, s83")
        after.append("s_mov_b32 exec_hi, -1")
    after += ["s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", "s_waitcnt_vscnt null, 0x0",
              "s_add_u32 s68, s66, 0x800", "s_addc_u32 s69, s67, 0",
              "s_add_u32 s70, s66, 0x1200", "s_addc_u32 s71, s67, 0",
              "s_add_u32 s72, s66, 0x1000", "s_addc_u32 s73, s67, 0"]
    for k in range(rows):
        base, offset = ("s[66:67]", k * 256) if k < 8 else ("s[68:69]", (k - 8) * 256)
        after.append("global_store_dword v31, v%d, %s offset:%d" % (k, base, offset))
    for k in range(1024 // per):
        after.append("ds_read_b32 v%d, v31 offset:%d" % (40 + k, k * per))
    after.append("s_waitcnt lgkmcnt(0)")
    for k in range(1024 // per):
        after.append("global_store_dword v31, v%d, s[70:71] offset:%d" % (40 + k, k * per))
    after += ["s_mov_b32 exec_lo, 1"] + (["s_mov_b32 exec_hi, 0"] if wave64 else [])
    for k in range(39):
        after.append("v_mov_b32_e32 v40, s%d" % (k if k < 32 else 48 + k))
        after.append("global_store_dword v31, v40, s[72:73] offset:%d" % (4 * k))
    return before, after + ["s_endpgm"]


def text_words(text):
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    words = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
    return [len(words)] + words


def write(cases, path):
    """Assemble all cases and write those that exist on their chip; returns how many."""
    groups = {}
    for c in cases:
        groups.setdefault((c.chip, c.wave64), []).append(c)
    for (chip, wave64), members in groups.items():
        for c, words in zip(members, assemble([c.text for c in members], chip, wave64)):
            c.words = words
    kept = [c for c in cases if c.words]
    out = array.array("I")
    for wave64 in (False, True):
        for part in frame(wave64):
            words = sum(assemble(part, 0, wave64), [])
            out.extend([len(words)] + words)
    out.append(len(kept))
    for c in kept:
        out.extend(text_words(c.name) + text_words(c.encoding) + text_words(c.text))
        out.extend([c.chip, int(c.wave64), c.ends, len(c.words)] + c.words)
        out.extend(c.scalars(False) + c.scalars(True))
        out.append(len(c.items))
        for what, index, values, kinds in c.items:
            out.extend([what, index, len(values)] + values)
            if kinds is not None:
                out.extend(kinds)
    with open(path, "wb") as f:
        out.tofile(f)
    return len(kept)
