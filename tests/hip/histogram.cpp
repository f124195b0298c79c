// histogram.cpp: atomics in shared and global memory: add, min, max, exchange, compare and swap.
#include "check.h"

__global__ void histogram(const uint8_t *in, unsigned n, unsigned *bins)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    if (local[threadIdx.x]) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

struct extremes {
    int least, most;
    unsigned long long sum;
    float real;
    unsigned ors, last;
};

__global__ void others(const int *in, extremes *out)
{
    const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    atomicMin(&out->least, value);
    atomicMax(&out->most, value);
    atomicAdd(&out->sum, (unsigned long long)(value + 1000));
    atomicAdd(&out->real, 0.5f); // by compare and swap on this chip
    atomicOr(&out->ors, 1u << (value & 31));
    atomicExch(&out->last, 77u);
}

int main()
{
    const unsigned n = 60000;
    std::vector<uint8_t> bytes(n);
    std::vector<unsigned> expected(256, 0);
    for (unsigned i = 0; i < n; i++) expected[bytes[i] = uint8_t(i * i >> 5)]++;
    unsigned *bins = upload(std::vector<unsigned>(256, 0));
    histogram<<<8, 256>>>(upload(bytes), n, bins);
    EXPECT(download(bins, 256) == expected);

    std::vector<int> values(512);
    for (int i = 0; i < 512; i++) values[i] = (i * 37) % 511 - 200;
    unsigned long long sum = 0;
    int least = values[0], most = values[0];
    for (int v : values) {
        sum += (unsigned long long)(v + 1000);
        least = v < least ? v : least;
        most = v > most ? v : most;
    }
    extremes *out = upload(std::vector<extremes>(1, extremes{1 << 30, -(1 << 30), 0, 0.0f, 0, 0}));
    others<<<2, 256>>>(upload(values), out);
    const extremes result = download(out, 1)[0];
    EXPECT(result.least == least && result.most == most && result.sum == sum);
    EXPECT(result.real == 256.0f && result.ors == 0xffffffffu && result.last == 77u);
    return done("histogram");
}
