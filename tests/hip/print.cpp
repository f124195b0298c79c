// print.cpp: printf on the card; the caller looks at the lines.
#include "check.h"

__global__ void hello(const int *values)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 16 == 0) printf("thread %u has %d and %.2f %s\n", i, values[i], 0.5 * i, "text");
}

int main()
{
    std::vector<int> values(64);
    for (int i = 0; i < 64; i++) values[i] = 1000 + i;
    hello<<<2, 32>>>(upload(values));
    HIP(hipDeviceSynchronize());
    return done("print");
}
