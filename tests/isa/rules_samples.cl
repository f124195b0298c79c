/* rules_samples.cl: small kernels that tempt a compiler into the gfx101x silicon-bug patterns. */
#define ID (__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x())
#define BARRIER                                              \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");   \
    __builtin_amdgcn_s_barrier();                            \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

/* A mask kept while lanes leave a loop: v_cmpx on gfx103x. */
kernel void leave(global int *out, global const int *in, int n)
{
    int i = ID, s = 0;
    if (in[i] > 3) {
        for (int k = 0; k < in[i]; k++) {
            if (in[i + k] < 0) s += in[k];
            else if (in[k] > 7) s ^= in[i + 2 * k];
        }
        out[i] = s;
    }
    if (s & 1) out[i + n] = in[s];
}
/* A long loop: s_inst_prefetch on gfx103x. */
kernel void loop(global float *out, global const float *in, int n)
{
    float s = 0;
    for (int k = 0; k < n; k++) {
        float x = in[ID + k];
#pragma unroll
        for (int j = 0; j < 24; j++) s = s * x + in[k * 32 + j];
    }
    out[ID] = s;
}
/* LDS and global memory on both sides of branches. */
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void tiles(global float *out,
                                                                   global const float *in, int n)
{
    local float tile[512];
    float s = 0;
    uint l = __builtin_amdgcn_workitem_id_x();
    for (int k = 0; k < n; k += 256) {
        tile[l] = in[k + l];
        BARRIER;
        for (int j = 0; j < 256; j++) s += tile[j] * tile[(j + l) & 255];
        BARRIER;
    }
    if (s > 0) out[ID] = s;
}
/* Addresses without an address space. */
kernel void flat(global int *out, global int *in, int n)
{
    local int tile[256];
    uint l = __builtin_amdgcn_workitem_id_x();
    tile[l] = in[l];
    BARRIER;
    int *p = n & 1 ? (int *)(in + l) : (int *)(tile + (l & 127));
    out[ID] = p[3] + p[5];
}
/* Uniform loads, then masks written by the vector unit into the registers they came from. */
kernel void uniform(global int *out, constant int *in, int n)
{
    int i = ID;
    for (int k = 0; k < n; k++) {
        int a = in[k], b = in[k + n];
        bool c = i > a, d = i < b, e = (i ^ a) > b;
        if (c & (d | e)) out[i + k] = a;
        else if (d ^ e) out[i - k] = b;
    }
}
