/* kernels.c: what a repair has to do something about: wide accesses of LDS, dot products that
 * gfx1010 lacks, and an instruction that nothing replaces. */
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define KERNEL __attribute__((amdgpu_kernel))

typedef int int4 __attribute__((ext_vector_type(4)));

static LOCAL int4 shared[64] __attribute__((loader_uninitialized));

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

/* The same in workgroups of 1,024 with 100 registers each: they do not fit one CU. */
KERNEL void large(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    shared[i & 63] = (int4){ i, n, i, n };
    __builtin_amdgcn_s_barrier();
    int4 other = shared[(i + 5) & 31];
    __asm__ volatile("v_mov_b32 v99, 0" ::: "v99");
    out[i] = other.x + other.w;
}

KERNEL void dot(GLOBAL int *out, int n)
{
    int i = __builtin_amdgcn_workitem_id_x();
    int sum = n;
    for (int k = 0; k < n; k++)
        sum = __builtin_amdgcn_sdot4(i * 0x01030507 + k, 0x80ff7f01 ^ k * i, sum, 0);
    out[i] = sum;
}

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
