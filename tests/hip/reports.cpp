// reports.cpp: kernels that do something wrong, one for each word on the command line, and go on.
#include "check.h"

// A register that nothing wrote, in memory.
__global__ void undefined(int *out)
{
    int x;
    asm volatile("; %0" : "=v"(x));
    out[threadIdx.x] = x;
}

// Past the end of LDS: the store is dropped, the load gives 0.
__global__ void outside(int *out, int step)
{
    extern __shared__ int shared[];
    shared[threadIdx.x * step] = threadIdx.x + 1;
    __syncthreads();
    out[threadIdx.x] = shared[threadIdx.x * step];
}

// The same at many places, and at last a store that ends the program.
template <int N> __device__ void stores(int *shared, int at)
{
    asm volatile("ds_write_b32 %0, %0" : : "v"(at + 4 * N) : "memory");
    stores<N - 1>(shared, at);
}
template <> __device__ void stores<0>(int *, int)
{
}
__global__ void many(int *nowhere)
{
    extern __shared__ int shared[];
    stores<30>(shared, 1 << 20);
    *nowhere = 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int *memory = upload(std::vector<int>(64, -1));
    if (!std::strcmp(what, "undefined")) undefined<<<1, 64>>>(memory);
    if (!std::strcmp(what, "outside")) outside<<<1, 64, 512>>>(memory, 4);
    if (!std::strcmp(what, "many")) many<<<1, 1, 4>>>(nullptr);
    const std::vector<int> found = download(memory, 64);
    for (int i = 0; i < 64 && !std::strcmp(what, "outside"); i++) EXPECT(found[i] == (i < 32 ? i + 1 : 0));
    return done("reports");
}
