// scratch.cpp: arrays and calls that need private memory, in wave32 and with recursion.
#include "check.h"

__device__ __attribute__((noinline)) int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void recursive(const int *in, int *out)
{
    out[threadIdx.x] = fibonacci(in[threadIdx.x]);
}

__global__ void permute(const int *order, int *out, int n)
{
    int local[128];
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 128; i++) local[i] = me * 1000 + i;
    for (int i = 0; i < n; i++) {
        const int a = order[2 * i] & 127, b = order[2 * i + 1] & 127;
        const int t = local[a];
        local[a] = local[b];
        local[b] = t + 1;
    }
    int sum = 0;
    for (int i = 0; i < 128; i++) sum = sum * 31 + local[i];
    out[me] = sum;
}

int main()
{
    std::vector<int> numbers(32);
    for (int i = 0; i < 32; i++) numbers[i] = i % 8;
    int *results = upload(std::vector<int>(32, -1));
    recursive<<<1, 32>>>(upload(numbers), results);
    const int known[] = {0, 1, 1, 2, 3, 5, 8, 13};
    const std::vector<int> values = download(results, 32);
    for (int i = 0; i < 32; i++) EXPECT(values[i] == known[i % 8]);

    const int n = 40, threads = 512;
    std::vector<int> order(2 * n);
    for (int i = 0; i < 2 * n; i++) order[i] = i * 53 % 128;
    int *out = upload(std::vector<int>(threads, 0));
    permute<<<threads / 64, 64>>>(upload(order), out, n);
    const std::vector<int> sums = download(out, threads);
    for (int me = 0; me < threads; me++) {
        unsigned local[128], sum = 0;
        for (int i = 0; i < 128; i++) local[i] = me * 1000 + i;
        for (int i = 0; i < n; i++) {
            const unsigned t = local[order[2 * i]];
            local[order[2 * i]] = local[order[2 * i + 1]];
            local[order[2 * i + 1]] = t + 1;
        }
        for (int i = 0; i < 128; i++) sum = sum * 31 + local[i];
        EXPECT(sums[me] == int(sum));
    }
    return done("scratch");
}
