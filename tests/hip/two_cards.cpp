// two_cards.cpp: work on every card of the machine at once, and copies between them.
#include "check.h"

__global__ void scale(int *values, int factor)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}

int main()
{
    const unsigned n = 1024;
    int cards = 0;
    HIP(hipGetDeviceCount(&cards));
    EXPECT(cards == 2);
    std::vector<int> ones(n, 1);
    std::vector<int *> memory(cards);
    for (int i = 0; i < cards; i++) {
        HIP(hipSetDevice(i));
        memory[i] = upload(ones);
        for (int j = 0; j < 3; j++) scale<<<n / 256, 256>>>(memory[i], 2 + i);
    }
    for (int i = 0; i < cards; i++) {
        HIP(hipSetDevice(i));
        HIP(hipDeviceSynchronize());
        const int expected = (2 + i) * (2 + i) * (2 + i);
        EXPECT(download(memory[i], n) == std::vector<int>(n, expected));
    }
    HIP(hipMemcpyPeer(memory[0], 0, memory[1], 1, n / 2 * sizeof(int)));
    HIP(hipSetDevice(0));
    const std::vector<int> mixed = download(memory[0], n);
    for (unsigned i = 0; i < n; i++) EXPECT(mixed[i] == (i < n / 2 ? 27 : 8));
    return done("two cards");
}
