/* kernels.c: what a repair has to do something about: wide accesses of LDS, aligned and not, dot
 * products that gfx1010 lacks, and an instruction that nothing replaces. */
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define KERNEL __attribute__((amdgpu_kernel))

typedef int int3 __attribute__((ext_vector_type(3)));
typedef int int4 __attribute__((ext_vector_type(4)));

static LOCAL int4 shared[256] __attribute__((loader_uninitialized));

/* Neighbours' 16 bytes through LDS: ds_write_b128, ds_read_b128. */
KERNEL void wide(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    shared[i] = (int4){ i, i * n, i ^ n, n };
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    int4 other = shared[(i + 5) & 31];
    out[i] = other.x + 3 * other.y + 7 * other.z + other.w;
}

/* 20 bytes apart, so that most are not aligned: each writes 16 bytes and 8, and reads its
 * neighbour's, by all instructions that there are. */
static int through_lds(int i, int n)
{
    int mine = 20 * (i & 31), other = 20 * ((i + 5) & 31);
    for (int k = i; k < 256; k += 32) shared[k] = (int4){ k, n, k, n };
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    int4 value = { i, i * n, i ^ n, n }, all;
    __asm__ volatile("ds_write_b128 %0, %1\n\ts_waitcnt lgkmcnt(0)" ::"v"(mine), "v"(value)
                     : "memory");
    __builtin_amdgcn_s_barrier();
    __asm__ volatile("ds_read_b128 %0, %1\n\ts_waitcnt lgkmcnt(0)"
                     : "=v"(all)
                     : "v"(other)
                     : "memory");
    int sum = all.x + 3 * all.y + 7 * all.z + all.w;
    __asm__ volatile("ds_read2_b64 %0, %1 offset1:1\n\ts_waitcnt lgkmcnt(0)"
                     : "=v"(all)
                     : "v"(other)
                     : "memory");
    sum = 31 * sum + all.x + 3 * all.y + 7 * all.z + all.w;
    __builtin_amdgcn_s_barrier();
    __asm__ volatile("ds_write2st64_b64 %0, %1, %2 offset1:2\n\tds_write_b64 %0, %2 "
                     "offset:2000\n\ts_waitcnt lgkmcnt(0)" ::"v"(mine),
                     "v"(value.xy), "v"(value.zw)
                     : "memory");
    __builtin_amdgcn_s_barrier();
    int3 three;
    __asm__ volatile("ds_read_b96 %0, %1 offset:1024\n\ts_waitcnt lgkmcnt(0)"
                     : "=v"(three)
                     : "v"(mine)
                     : "memory");
    sum = 31 * sum + three.x + 3 * three.y;
    __asm__ volatile("ds_read2st64_b64 %0, %1 offset1:2\n\ts_waitcnt lgkmcnt(0)"
                     : "=v"(all)
                     : "v"(other)
                     : "memory");
    return 31 * sum + all.x + 3 * all.y + 7 * all.z + all.w;
}

KERNEL void unknown(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    out[i] = through_lds(i, n);
}

/* The same in workgroups of 1,024 with 100 registers each: they do not fit one CU. */
KERNEL void large(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    __asm__ volatile("v_mov_b32 v99, 0" ::: "v99");
    out[i] = through_lds(i, n);
}

KERNEL void dot(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int sum = n;
    for (int k = 0; k < n; k++)
        sum = __builtin_amdgcn_sdot4(i * 0x01030507 + k, 0x80ff7f01 ^ k * i, sum, 0);
    out[i] = sum;
}

#ifdef CHIPS
/* One kernel for each chip, as rocPRIM and rocRAND of ROCm 7 have them: empty where it is
 * another's. */
#define EMPTY(name_)                                                                               \
    KERNEL void name_(GLOBAL int *out, int n)                                                      \
    {                                                                                              \
        (void)out, (void)n;                                                                        \
    }
EMPTY(_Z1kIL11target_archE900EEvPii)
EMPTY(_Z1kIL11target_archE4294967295EEvPii)
EMPTY(_Z1kIL11target_archE0EEvPii)
EMPTY(_Z5emptyPii)
KERNEL void _Z1kIL11target_archE1030EEvPii(GLOBAL int *out, int n)
{
    out[0] = n;
}
KERNEL void _Z1lIL11target_archE4294967295EEvPii(GLOBAL int *out, int n)
{
    out[0] = n;
}

/* Sizes by the chip, as rocPRIM has them otherwise, and sizes that the program gives. */
#define TUNED(name_)                                                                               \
    KERNEL void name_(GLOBAL int *out, int n)                                                      \
    {                                                                                              \
        out[0] = n;                                                                                \
    }
TUNED(_ZN7rocprim6detail1kINS0_20wrapped_merge_configINS_14default_configEiEEEEvPii)
TUNED(_ZN7rocprim6detail1kINS0_20wrapped_merge_configINS_12merge_configILj256ELj4EEEiEEEEvPii)
TUNED(_ZN7rocprim6detail1kINS_14default_configEEEvPii)
TUNED(_ZN5other1kINS_20wrapped_merge_configINS_14default_configEiEEEEvPii)
#endif

#ifdef FLAT
/* Pieces of 8 and 16 bytes by FLAT, of workgroups that do not fit one CU: without the aperture of
 * LDS no code makes an address of it, wherever the pointer comes from. */
KERNEL void elsewhere(int4 *GLOBAL *from, int n)
{
    int4 *flat = from[n];
    __asm__ volatile("v_mov_b32 v99, 0" : "+v"(flat)::"v99");
    *(flat + 1) = *flat;
}

KERNEL void anywhere(int4 *GLOBAL *from, int n)
{
    int4 *flat = n & 1 ? from[n] : (int4 *)&shared[n];
    __asm__ volatile("v_mov_b32 v99, 0" ::: "v99");
    *(flat + 1) = *flat;
}
#endif

#ifdef REFUSED
KERNEL void refused(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    __asm__ volatile("global_atomic_csub %0, %1, %2, off glc\n\ts_waitcnt vmcnt(0)"
                     : "=&v"(n)
                     : "v"(out + i), "v"(n)
                     : "memory");
    out[i] = n;
}
#endif
