/* meet.h: sums and largest values of neighbouring work-items, for all of them, always in the same order. */
#ifndef RMCP_KERNEL_MEET_H
#define RMCP_KERNEL_MEET_H

INLINE float both(float a, float b, bool largest)
{
    return !largest ? a + b : b > a ? b : a;
}

/* Of `lanes` work-items, a power of two. `room` has an element for each work-item of the workgroup, `ends` a quarter as many;
 * until the next barrier neither is used again. No barrier depends on anything, which some compilers take minutes for. */
INLINE float fold_lines(float v, bool largest, uint lane, uint lanes, __local float *room, __local float4 *ends)
{
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
    UNROLL for (uint i = 1; i < 4; i++) {
        const float4 next = ends[number * 4 + i];
        w.x = both(w.x, next.x, largest);
        w.y = both(w.y, next.y, largest);
        w.z = both(w.z, next.z, largest);
        w.w = both(w.w, next.w, largest);
    }
    return both(both(w.x, w.y, largest), both(w.z, w.w, largest), largest);
}

#endif
