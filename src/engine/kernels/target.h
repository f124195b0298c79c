/* target.h: what kernels need from a compiler: work-item ids, barriers, loads and stores by type.
 *
 * Drivers compile these sources with OpenCL's own library. Our build compiles them with clang and
 * no library at all (-DBARE), so that a kernel needs no hidden arguments on AMD and links with
 * nothing on NVIDIA. Workgroups have one dimension; its size is a constant of the kernel. */
#ifndef RMCP_TARGET_H
#define RMCP_TARGET_H

#pragma OPENCL FP_CONTRACT ON

#if defined(BARE) && defined(__AMDGCN__)
#define LOCAL_ID ((uint)__builtin_amdgcn_workitem_id_x())
#define GROUP_ID_X ((uint)__builtin_amdgcn_workgroup_id_x())
#define GROUP_ID_Y ((uint)__builtin_amdgcn_workgroup_id_y())
#define GROUP_ID_Z ((uint)__builtin_amdgcn_workgroup_id_z())
#define BARRIER()                                                                                  \
    do {                                                                                           \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");                            \
        __builtin_amdgcn_s_barrier();                                                              \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");                            \
    } while (0)
#elif defined(BARE) && defined(__NVPTX__)
#define LOCAL_ID ((uint)__nvvm_read_ptx_sreg_tid_x())
#define GROUP_ID_X ((uint)__nvvm_read_ptx_sreg_ctaid_x())
#define GROUP_ID_Y ((uint)__nvvm_read_ptx_sreg_ctaid_y())
#define GROUP_ID_Z ((uint)__nvvm_read_ptx_sreg_ctaid_z())
#define BARRIER() __syncthreads()
#else
#define LOCAL_ID ((uint)get_local_id(0))
#define GROUP_ID_X ((uint)get_group_id(0))
#define GROUP_ID_Y ((uint)get_group_id(1))
#define GROUP_ID_Z ((uint)get_group_id(2))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* A CPU gains nothing from unrolled and doubled loops, nor from barriers that are left out, and its
 * compiler takes minutes for them. */
#if defined(__x86_64__) || defined(__aarch64__)
#define CPU 1
#define UNROLL _Pragma("unroll 1")
#else
#define CPU 0
#define UNROLL _Pragma("unroll")
#endif
#define ROLLED _Pragma("unroll 1")

/* Keeps the compiler from moving instructions across: where loads are issued early by design. */
#if defined(BARE) && defined(__AMDGCN__)
#define IN_ORDER() __builtin_amdgcn_sched_barrier(0)
#else
#define IN_ORDER()
#endif

#define WORKGROUP(size) __attribute__((reqd_work_group_size(size, 1, 1)))
#define INLINE static inline __attribute__((always_inline))

/* One memory argument: a buffer and the byte where the tensor begins in it. */
#define INPUT(name) __global const char *restrict name##_buffer, ulong name##_begin
#define OUTPUT(name) __global char *restrict name##_buffer, ulong name##_begin
#define ADDRESS(name) (name##_buffer + name##_begin)

/* Tensor elements. TYPE is an rmcp_type: 0 f32, 1 f16, 2 bf16. Arithmetic is in float; stores round
 * to nearest even and keep NaN. OpenCL without cl_khr_fp16 knows half only as something to load and
 * store, hence DRIVER_HALF. */
#if TYPE == 0
typedef float element;
typedef float2 element2;
typedef float4 element4;
#elif TYPE == 1 && defined(BARE)
typedef _Float16 element;
typedef element element2 __attribute__((ext_vector_type(2)));
typedef element element4 __attribute__((ext_vector_type(4)));
#else
typedef ushort element;
typedef ushort2 element2;
typedef ushort4 element4;
#define DRIVER_HALF (TYPE == 1)
#endif

INLINE float to_float(__global const element *p)
{
#if DRIVER_HALF
    return vload_half(0, (__global const half *)p);
#elif TYPE == 2
    return as_float((uint)*p << 16);
#else
    return (float)*p;
#endif
}

#if !DRIVER_HALF
INLINE element encode(float value)
{
#if TYPE == 2
    const uint bits = as_uint(value);
    const uint rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (ushort)(value != value ? bits >> 16 | 0x40u : rounded);
#else
    return (element)value;
#endif
}
#endif

INLINE void from_float(__global element *p, float value)
{
#if DRIVER_HALF
    vstore_half_rte(value, 0, (__global half *)p);
#else
    *p = encode(value);
#endif
}

/* Element `index` of a tensor below 4 GiB. On AMD a 32-bit byte offset from a uniform base is one
 * addressing mode, and 64-bit arithmetic costs three instructions. */
INLINE float load(__global const char *base, uint index)
{
#if defined(__AMDGCN__)
    return to_float((__global const element *)(base + index * (uint)sizeof(element)));
#else
    return to_float((__global const element *)base + index);
#endif
}

INLINE void store(__global char *base, uint index, float value)
{
#if defined(__AMDGCN__)
    from_float((__global element *)(base + index * (uint)sizeof(element)), value);
#else
    from_float((__global element *)base + index, value);
#endif
}

/* Two neighbours in memory, in one go when they are aligned. */
INLINE void store2(__global char *base, uint index, float v, float w)
{
    __global element *p = (__global element *)base + index;
#if DRIVER_HALF
    vstore_half2_rte((float2)(v, w), 0, (__global half *)p);
#else
    if ((ulong)p % sizeof(element2) == 0) {
        *(__global element2 *)p = (element2)(encode(v), encode(w));
    } else {
        p[0] = encode(v);
        p[1] = encode(w);
    }
#endif
}

/* Four neighbours in memory, in one go when they are aligned. */
INLINE void store4(__global char *base, uint index, float4 v)
{
    __global element *p = (__global element *)base + index;
#if DRIVER_HALF
    vstore_half4_rte(v, 0, (__global half *)p);
#else
    if ((ulong)p % sizeof(element4) == 0) {
        *(__global element4 *)p = (element4)(encode(v.x), encode(v.y), encode(v.z), encode(v.w));
    } else {
        p[0] = encode(v.x);
        p[1] = encode(v.y);
        p[2] = encode(v.z);
        p[3] = encode(v.w);
    }
#endif
}

#endif
