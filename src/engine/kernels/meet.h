/* meet.h: sums and largest values of neighbouring work-items, for all of them, always in the same
 * order. THREADS is the size of the workgroup. */
#ifndef RMCP_KERNEL_MEET_H
#define RMCP_KERNEL_MEET_H

/* The larger one; a is no NaN, and a b that is one counts as nothing. */
INLINE float larger(float a, float b)
{
#if defined(BARE) && defined(__NVPTX__)
    return __nvvm_fmax_f(a, b);
#else
    return b > a ? b : a;
#endif
}

INLINE float both(float a, float b, bool largest)
{
    return largest ? larger(a, b) : a + b;
}

/* What the work-item whose number differs in the bits of `mask`, below 32, has. */
#if defined(BARE) && defined(__AMDGCN__)
#define OTHER(v, mask)                                                                             \
    as_float((uint)__builtin_amdgcn_ds_swizzle((int)as_uint(v), (mask) << 10 | 31))
#elif defined(BARE) && defined(__NVPTX__)
#define OTHER(v, mask) __nvvm_shfl_sync_bfly_f32(0xffffffffu, v, mask, 31)
#endif

#if defined(OTHER)
/* Of as many as 32. */
INLINE float fold_near(float v, bool largest, uint lanes)
{
    if (lanes > 1) v = both(v, OTHER(v, 1), largest);
    if (lanes > 2) v = both(v, OTHER(v, 2), largest);
    if (lanes > 4) v = both(v, OTHER(v, 4), largest);
    if (lanes > 8) v = both(v, OTHER(v, 8), largest);
    if (lanes > 16) v = both(v, OTHER(v, 16), largest);
    return v;
}

/* Two sums of as many as 32, each added up by every other one of them. */
INLINE void add_near(float *a, float *b, uint lanes)
{
    if (lanes <= 1) return;
    const bool odd = LOCAL_ID & 1;
    float v = odd ? *b : *a;
    v += OTHER(odd ? *a : *b, 1);
    if (lanes > 2) v += OTHER(v, 2);
    if (lanes > 4) v += OTHER(v, 4);
    if (lanes > 8) v += OTHER(v, 8);
    if (lanes > 16) v += OTHER(v, 16);
    const float other = OTHER(v, 1);
    *a = odd ? other : v;
    *b = odd ? v : other;
}
#endif

/* Of `lanes` work-items, a power of two. `room` has an element for each work-item of the workgroup,
 * `ends` a quarter as many; until the next barrier neither is used again. Without OTHER no barrier
 * depends on anything, which some compilers take minutes for. */
INLINE float fold_lines(float v, bool largest, uint lane, uint lanes, __local float *room,
                        __local float4 *ends)
{
#if defined(OTHER)
    v = fold_near(v, largest, lanes);
    if (lanes <= 32) return v;
    if (LOCAL_ID % 32 == 0) room[LOCAL_ID / 32] = v;
    BARRIER();
    return fold_near(room[(LOCAL_ID - lane) / 32 + LOCAL_ID % (lanes / 32)], largest, lanes / 32);
#else
    const uint number = LOCAL_ID / lanes;
    room[LOCAL_ID] = v;
    BARRIER();
    if (lane < 16) {
        for (uint i = 16; i < lanes; i += 16) v = both(v, room[LOCAL_ID + i], largest);
        ((__local float *)ends)[lanes < 16 ? LOCAL_ID : number * 16 + lane] = v;
    }
    BARRIER();
    if (lanes < 16) {
        __local const float *line = (__local const float *)ends + (LOCAL_ID - lane);
        v = line[0];
        for (uint i = 1; i < lanes; i++) v = both(v, line[i], largest);
        return v;
    }
    float4 w = ends[number * 4];
    UNROLL for (uint i = 1; i < 4; i++)
    {
        const float4 next = ends[number * 4 + i];
        w.x = both(w.x, next.x, largest);
        w.y = both(w.y, next.y, largest);
        w.z = both(w.z, next.z, largest);
        w.w = both(w.w, next.w, largest);
    }
    return both(both(w.x, w.y, largest), both(w.z, w.w, largest), largest);
#endif
}

/* The sums of two values at once; `room` and `ends` have twice as much. */
INLINE void fold_both(float *a, float *b, uint lane, uint lanes, __local float *room,
                      __local float4 *ends)
{
#if defined(OTHER)
    add_near(a, b, lanes);
    if (lanes <= 32) return;
    if (LOCAL_ID % 32 == 0) {
        room[LOCAL_ID / 32] = *a;
        room[THREADS / 32 + LOCAL_ID / 32] = *b;
    }
    BARRIER();
    const uint from = (LOCAL_ID - lane) / 32 + LOCAL_ID % (lanes / 32);
    *a = room[from];
    *b = room[THREADS / 32 + from];
    add_near(a, b, lanes / 32);
#else
    *a = fold_lines(*a, false, lane, lanes, room, ends);
    *b = fold_lines(*b, false, lane, lanes, room + THREADS, ends + THREADS / 4);
#endif
}

#endif
