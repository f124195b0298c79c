// times.cpp: what events tell of a kernel whose time on an RX 5600 XT is known: run under rmcp sim --timing.
#include "check.h"

// 360 workgroups fill the card twice; each multiply-add of 16 waves on a SIMD takes a clock.
__global__ void chain(float *values, int n)
{
    float value = values[threadIdx.x];
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int k = 0; k < 32; k++) value = value * 0.5f + 1.0f;
    }
    values[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static float milliseconds_of(float *values, int n)
{
    hipEvent_t start, end;
    float milliseconds = -1;
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&end));
    chain<<<360, 256>>>(values, 20); // the card is busy while the rest is told to it
    HIP(hipEventRecord(start, 0));
    chain<<<360, 256>>>(values, n);
    HIP(hipEventRecord(end, 0));
    HIP(hipEventSynchronize(end));
    HIP(hipEventElapsedTime(&milliseconds, start, end));
    return milliseconds;
}

int main()
{
    float *values = upload(std::vector<float>(360 * 256, 1.0f));
    milliseconds_of(values, 1); // the runtime makes itself ready
    const float once = milliseconds_of(values, 20), twice = milliseconds_of(values, 40);
    // 20 * 32 multiply-adds of 40 waves on each SIMD: 25600 clocks of 1560 MHz, 16 us; loops come on top.
    const float more = twice - once;
    std::printf("20 rounds more take %.4f ms\n", more);
    EXPECT(more > 0.016f && more < 0.024f);
    for (float v : download(values, 360 * 256)) EXPECT(v > 1.9f && v <= 2.0f);
    return done("times");
}
