// reduction.cpp: sums in shared memory, across a wave by shuffles, and over blocks by an atomic.
#include "check.h"

__global__ void sum_shared(const int *in, int *out, unsigned n)
{
    __shared__ int part[256];
    int mine = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

__global__ void sum_wave(const double *in, double *out)
{
    double mine = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = warpSize / 2; step; step /= 2) mine += __shfl_down(mine, step);
    if (threadIdx.x % warpSize == 0)
        out[(blockIdx.x * blockDim.x + threadIdx.x) / warpSize] = mine;
}

__global__ void votes(const int *in, unsigned long long *ballots, int *any, int *all)
{
    const int value = in[threadIdx.x];
    const unsigned long long mask = __ballot(value > 10);
    const int one = __any(value > 61), every = __all(value >= 0);
    if (threadIdx.x % warpSize == 0) {
        ballots[threadIdx.x / warpSize] = mask;
        any[threadIdx.x / warpSize] = one;
        all[threadIdx.x / warpSize] = every;
    }
}

int main()
{
    const unsigned n = 100003;
    std::vector<int> numbers(n);
    long long expected = 0;
    for (unsigned i = 0; i < n; i++) expected += numbers[i] = int(i % 1013) - 500;
    int *in = upload(numbers), *out = upload(std::vector<int>(1, 0));
    sum_shared<<<16, 256>>>(in, out, n);
    EXPECT(download(out, 1)[0] == expected);

    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, 0));
    const unsigned wave = properties.warpSize, threads = 512;
    EXPECT(wave == 32);
    std::vector<double> reals(threads);
    for (unsigned i = 0; i < threads; i++) reals[i] = 0.5 * i;
    double *din = upload(reals), *dout = upload(std::vector<double>(threads / wave, 0.0));
    sum_wave<<<2, 256>>>(din, dout);
    const std::vector<double> sums = download(dout, threads / wave);
    for (unsigned w = 0; w < threads / wave; w++) {
        double sum = 0;
        for (unsigned i = 0; i < wave; i++) sum += reals[w * wave + i];
        EXPECT(sums[w] == sum);
    }

    std::vector<int> small(64);
    for (int i = 0; i < 64; i++) small[i] = i;
    unsigned long long *ballots = upload(std::vector<unsigned long long>(2, 0));
    int *any = upload(std::vector<int>(2, -1)), *all = upload(std::vector<int>(2, -1));
    votes<<<1, 64>>>(upload(small), ballots, any, all);
    EXPECT((download(ballots, 2) == std::vector<unsigned long long>{0xfffff800ull, 0xffffffffull}));
    EXPECT((download(any, 2) == std::vector<int>{0, 1}));
    EXPECT((download(all, 2) == std::vector<int>{1, 1}));
    return done("reduction");
}
