// waiting.cpp: workgroups that wait for each other, for later ones too, and a kernel that waits for
// the host.
#include "check.h"

#include <time.h>

__device__ unsigned arrived;
__device__ volatile unsigned round_number;

// A barrier of the whole grid, made by hand: all workgroups must be on the card.
__device__ void grid_barrier()
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned before = round_number;
        __threadfence();
        if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
            arrived = 0;
            __threadfence();
            round_number = before + 1;
        } else {
            while (round_number == before) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void smooth(float *from, float *to, int n, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        to[i] = (from[(i + n - 1) % n] + 2 * from[i] + from[(i + 1) % n]) * 0.25f;
        grid_barrier();
        float *swap = from;
        from = to;
        to = swap;
    }
}

static void barriers()
{
    const int blocks = 36, n = blocks * 64, rounds = 4;
    std::vector<float> now(n), next(n);
    for (int i = 0; i < n; i++) now[i] = float(i % 17);
    float *from = upload(now), *to = upload(now);
    smooth<<<blocks, 64>>>(from, to, n, rounds);
    HIP(hipDeviceSynchronize());
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++)
            next[i] = (now[(i + n - 1) % n] + 2 * now[i] + now[(i + 1) % n]) * 0.25f;
        now.swap(next);
    }
    EXPECT(download(from, n) == now);
}

// The first workgroup is done last.
__global__ void backwards(volatile int *done, int *order, int *count)
{
    if (threadIdx.x != 0) return;
    while (blockIdx.x + 1 < gridDim.x && !done[blockIdx.x + 1]) {
    }
    __threadfence();
    order[blockIdx.x] = (*count)++;
    __threadfence();
    done[blockIdx.x] = 1;
}

static void later_ones()
{
    const int n = 20;
    int *done = upload(std::vector<int>(n, 0)), *order = upload(std::vector<int>(n, -1));
    int *count = upload(std::vector<int>(1, 0));
    backwards<<<n, 32>>>(done, order, count);
    const std::vector<int> result = download(order, n);
    for (int i = 0; i < n; i++) EXPECT(result[i] == n - 1 - i);
}

__global__ void square(volatile int *question, volatile int *answer, int n)
{
    for (int i = 1; i <= n; i++) {
        while (*question != i) {
        }
        *answer = i * i;
        __threadfence_system();
    }
}

static void the_host()
{
    int *memory = nullptr, *mapped = nullptr;
    HIP(hipHostMalloc(reinterpret_cast<void **>(&memory), 128,
                      hipHostMallocMapped | hipHostMallocCoherent));
    std::memset(memory, 0, 128);
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&mapped), memory, 0));
    square<<<1, 1>>>(mapped, mapped + 16, 5);
    volatile int *question = memory, *answer = memory + 16;
    for (int i = 1; i <= 5; i++) {
        *question = i;
        const timespec moment = { 0, 100000 };
        while (*answer != i * i) nanosleep(&moment, nullptr);
    }
    HIP(hipDeviceSynchronize());
    HIP(hipHostFree(memory));
}

int main()
{
    barriers();
    later_ones();
    the_host();
    return done("waiting");
}
