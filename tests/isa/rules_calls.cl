/* rules_calls.cl: functions that are called, in the shapes that libraries have: several callers,
 * calls within calls, recursion, one through a pointer; what a caller or a callee leaves behind. */
#define ID (__builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x())
#define CALLED __attribute__((noinline))

/* A callee that starts with a mask: v_cmpx on gfx103x. */
CALLED int masked(global int *p, int n)
{
    int s = 0;
    for (int k = 0; k < p[ID]; k++) {
        if (p[k] < n) s += p[k];
        else if (p[n + k] > 7) s ^= p[2 * k];
    }
    return s;
}
CALLED void store(global int *p, int value) { p[ID] = value; }
CALLED void local_store(local int *p, int value) { p[ID & 255] = value; }
CALLED int nested(global int *p, int n)
{
    store(p, n);
    return masked(p + n, n) + 1;
}
CALLED int recursive(global int *p, int n)
{
    if (n < 2) return p[n];
    return recursive(p, n - 1) ^ recursive(p + 1, n - 2);
}

kernel void plain(global int *out, int n)
{
    if (out[ID] > 3) store(out, masked(out, n));
    out[ID + n] = nested(out, n);
}
kernel void again(global int *out, int n)
{
    out[ID] = recursive(out, n) + masked(out + 1, 7);
    store(out + n, n);
    for (int k = 0; k < n; k++) store(out + k, k * n);
}
kernel void lds(global int *out, int n)
{
    local int tile[256];
    local_store(tile, n);
    out[ID] = n;
    store(out + 1, n);
    tile[ID & 255] = out[n];
    local_store(tile, tile[n & 255]);
    store(out, tile[3]);
}
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
typedef int (*function)(global int *, int);
kernel void pointer(global int *out, int n, global ulong *which)
{
    function f = (function)which[n];
    out[ID] = f(out, n);
}
