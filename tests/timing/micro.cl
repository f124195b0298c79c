/* micro.cl: kernels whose time on the model can be computed by hand, or was measured by others on RDNA1 cards. */
#define GLOBAL(i) (__builtin_amdgcn_workgroup_id_x() * WIDTH + __builtin_amdgcn_workitem_id_x())
#ifndef WIDTH
#define WIDTH 256
#endif
#define REPEAT4(x) x x x x
#define REPEAT16(x) REPEAT4(REPEAT4(x))
#define REPEAT64(x) REPEAT4(REPEAT16(x))

/* Each multiply-add needs the one before. */
__attribute__((reqd_work_group_size(32, 1, 1))) __kernel void chain(__global float *out, float a, int n)
{
    float x = out[__builtin_amdgcn_workitem_id_x()];
    for (int i = 0; i < n; i++) { REPEAT64(__asm volatile("v_fmac_f32 %0, %1, %1" : "+v"(x) : "v"(a));) }
    out[__builtin_amdgcn_workitem_id_x()] = x;
}

/* Sixteen independent chains: peak of the multiply-adds. */
#define SIXTEEN(op) \
    __asm volatile(op " %0, %16, %16\n" op " %1, %16, %16\n" op " %2, %16, %16\n" op " %3, %16, %16\n" \
        op " %4, %16, %16\n" op " %5, %16, %16\n" op " %6, %16, %16\n" op " %7, %16, %16\n" \
        op " %8, %16, %16\n" op " %9, %16, %16\n" op " %10, %16, %16\n" op " %11, %16, %16\n" \
        op " %12, %16, %16\n" op " %13, %16, %16\n" op " %14, %16, %16\n" op " %15, %16, %16\n" \
        : "+v"(x[0]), "+v"(x[1]), "+v"(x[2]), "+v"(x[3]), "+v"(x[4]), "+v"(x[5]), "+v"(x[6]), "+v"(x[7]), \
          "+v"(x[8]), "+v"(x[9]), "+v"(x[10]), "+v"(x[11]), "+v"(x[12]), "+v"(x[13]), "+v"(x[14]), "+v"(x[15]) \
        : "v"(a));
#define PEAK(name, op, type) \
    __attribute__((reqd_work_group_size(256, 1, 1))) __kernel void name(__global type *out, type a, int n) \
    { \
        type x[16], sum = 0; \
        for (int k = 0; k < 16; k++) x[k] = (type)k; \
        for (int i = 0; i < n; i++) { REPEAT16(SIXTEEN(op)) } \
        for (int k = 0; k < 16; k++) sum += x[k]; \
        out[GLOBAL()] = sum; \
    }
PEAK(peak_fma, "v_fmac_f32", float)
PEAK(peak_imul, "v_mul_lo_u32", int)
