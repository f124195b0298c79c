/* patterns.cl: one kernel for each gfx101x silicon bug, with its pattern and nothing else of the kind.
 *
 * Compiled twice: for gfx1010 with LLVM's cure (CURED), and for gfx1030 without. Both must give the same
 * results; where a chip has the bug, only the first is sure to. A result is wrong, a page faults or the
 * card hangs: that is what an owner's log is to tell (docs/first-owner.md). The pattern is written in
 * assembly so that the compiler can neither cure it nor make it vanish; src/help/owner/patterns.c has the
 * results that are right. */
#if CURED
#define CURE(text) text "\n"
#else
#define CURE(text)
#endif
#define ID (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())
#define KERNEL(name)                                                                              \
    __attribute__((reqd_work_group_size(64, 1, 1))) kernel void name(                             \
        global uint *out, ulong out_offset, global const uint *in, ulong in_offset, uint rounds)
#define BEGIN                                                                                     \
    global uint *result = (global uint *)((global char *)out + out_offset) + ID;                  \
    global const uint *data = (global const uint *)((global const char *)in + in_offset);         \
    uint sum = 0

/* V_CMPX writes EXEC after a scalar move read it: the saved mask must be the old one. */
KERNEL(vcmpx_exec_war)
{
    BEGIN;
    uint mine = data[ID];
    for (uint i = 0; i < rounds; i++) {
        uint saved, narrow;
        __asm__ volatile("s_mov_b32 s40, exec_lo\n"
                     CURE("s_waitcnt_depctr 0xfffe")
                     "v_cmpx_gt_u32 %3, %2\n"
                     "s_mov_b32 %1, exec_lo\n"
                     "s_mov_b32 exec_lo, s40\n"
                     "s_mov_b32 %0, s40\n"
                     : "=s"(saved), "=s"(narrow) : "v"(mine), "v"(128u + (i & 63)) : "s40", "vcc", "scc");
        sum += __builtin_popcount(saved) * 64 + __builtin_popcount(narrow);
    }
    *result = sum;
}

/* V_PERMLANE16 right behind V_CMPX: every lane must get its neighbour's value. */
KERNEL(vcmpx_permlane)
{
    BEGIN;
    uint mine = data[ID];
    for (uint i = 0; i < rounds; i++) {
        uint got;
        __asm__ volatile("v_mov_b32 %0, 0\n"
                     "s_mov_b32 s40, exec_lo\n"
                     "s_waitcnt_depctr 0xfffe\n"
                     "v_cmpx_gt_u32 %2, %1\n"
                     CURE("v_mov_b32 v40, v40")
                     "v_permlane16_b32 %0, %1, s41, s42\n"
                     "s_waitcnt_depctr 0xfffe\n"
                     "s_mov_b32 exec_lo, s40\n"
                     : "=&v"(got) : "v"(mine), "v"(4096u), "{s41}"(0x67452301u), "{s42}"(0xefcdab89u)
                     : "s40", "v40", "vcc");
        sum += got + i;
    }
    *result = sum;
}

/* A scalar write of the registers that a load still reads as its base. */
KERNEL(vmem_scalar_write)
{
    BEGIN;
    for (uint i = 0; i < rounds; i++) {
        uint got;
        __asm__ volatile("s_mov_b64 s[40:41], %2\n"
                     "s_nop 4\n"
                     "global_load_dword %0, %1, s[40:41]\n"
                     CURE("s_waitcnt_depctr 0xffe3")
                     "s_mov_b64 s[40:41], 0\n"
                     "s_waitcnt vmcnt(0)\n"
                     : "=&v"(got) : "v"(((ID + i) & 1023) * 4), "s"(data) : "s40", "s41", "memory");
        sum += got;
    }
    *result = sum;
}

/* The vector unit writes the registers that a scalar load reads as its base. */
KERNEL(smem_vector_write)
{
    BEGIN;
    for (uint i = 0; i < rounds; i++) {
        uint got;
        __asm__ volatile("s_mov_b64 s[40:41], %1\n"
                     "s_load_dword %0, s[40:41], 0x10\n"
                     CURE("s_mov_b32 null, 0")
                     "v_readfirstlane_b32 s40, %2\n"
                     "v_readfirstlane_b32 s41, %2\n"
                     "s_waitcnt lgkmcnt(0)\n"
                     : "=&s"(got) : "s"(data), "v"(0u) : "s40", "s41", "memory");
        sum += got + i;
    }
    *result = sum;
}

/* S_INST_PREFETCH around a loop, as compilers for gfx1030 place it. */
KERNEL(inst_prefetch)
{
    BEGIN;
    uint mine = data[ID];
#if !CURED
    __asm__ volatile("s_inst_prefetch 0x1");
#endif
    for (uint i = 0; i < rounds; i++) sum = sum * 3 + (mine ^ i);
#if !CURED
    __asm__ volatile("s_inst_prefetch 0x2");
#endif
    *result = sum;
}

/* LDS, a branch, then a global load and store. */
KERNEL(lds_branch_vmem)
{
    local uint tile[64];
    BEGIN;
    uint lane = __builtin_amdgcn_workitem_id_x();
    uint place = lane * 4;
    tile[lane] = 0;
    for (uint i = 0; i < rounds; i++) {
        uint got;
        __asm__ volatile("ds_write_b32 %1, %2\n"
                     "s_branch 1f\n"
                     "s_nop 0\n"
                     "1:\n"
                     CURE("s_waitcnt_vscnt null, 0x0")
                     "global_load_dword %0, %3, %4\n"
                     "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                     : "=&v"(got)
                     : "v"(place), "v"(i), "v"(((ID + i) & 1023) * 4), "s"(data) : "memory");
        sum += got + tile[lane];
    }
    *result = sum;
}

/* FLAT with an offset, to global memory. */
KERNEL(flat_offset)
{
    BEGIN;
    for (uint i = 0; i < rounds; i++) {
        uint got;
        global const uint *at = data + ((ID + i) & 1015);
#if CURED
        __asm__ volatile("flat_load_dword %0, %1\ns_waitcnt vmcnt(0) lgkmcnt(0)" : "=v"(got) : "v"(at + 4) : "memory");
#else
        __asm__ volatile("flat_load_dword %0, %1 offset:16\ns_waitcnt vmcnt(0) lgkmcnt(0)"
                     : "=v"(got) : "v"(at) : "memory");
#endif
        sum += got;
    }
    *result = sum;
}

/* A branch over 63 words: its offset is 0x3f. What it jumps over would change the result. */
KERNEL(branch_3f)
{
    BEGIN;
    uint mine = data[ID];
    for (uint i = 0; i < rounds; i++) {
        __asm__ volatile("s_branch 1f\n"
                     ".rept 63\n"
                     "v_add_nc_u32_e32 %0, 1, %0\n"
                     ".endr\n"
                     CURE("s_nop 0")
                     "1:\n"
                     : "+v"(mine));
        sum += mine + i;
    }
    *result = sum;
}

/* Eight bytes of LDS at an address that is a multiple of four only, in WGP mode. */
KERNEL(lds_misaligned)
{
    local uint tile[256];
    BEGIN;
    uint lane = __builtin_amdgcn_workitem_id_x();
    for (uint i = 0; i < 4; i++) tile[lane * 4 + i] = data[(ID * 4 + i) & 1023];
    uint place = lane * 16 + (uint)(ulong)(local char *)tile;
    for (uint i = 0; i < rounds; i++) {
        ulong got;
#if CURED
        __asm__ volatile("ds_read2_b32 %0, %1 offset0:1 offset1:2\ns_waitcnt lgkmcnt(0)"
                         : "=v"(got)
                         : "v"(place)
                         : "memory");
#else
        __asm__ volatile("ds_read_b64 %0, %1 offset:4\ns_waitcnt lgkmcnt(0)" : "=v"(got) : "v"(place) : "memory");
#endif
        sum += (uint)got * 2 + (uint)(got >> 32) + i;
    }
    *result = sum;
}

/* v_dot2_f32_f16, which gfx1010 does not have; the cured form multiplies and adds. */
KERNEL(absent_dot)
{
    BEGIN;
    uint bits = data[ID];
    uint mine = (bits & 1 ? 0x3c00u : 0) | (bits & 2 ? 0x3c000000u : 0); /* two halves, each 0 or 1 */
    float total = 0;
    for (uint i = 0; i < rounds; i++) {
#if CURED
        total += (float)((bits & 1) + (bits >> 1 & 1));
#else
        __asm__ volatile("v_dot2_f32_f16 %0, %1, %1, %0" : "+v"(total) : "v"(mine));
#endif
    }
#if CURED
    (void)mine;
#endif
    sum = (uint)total;
    *result = sum;
}
