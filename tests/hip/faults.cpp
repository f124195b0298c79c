// faults.cpp: kernels that a card ends, one for each word on the command line.
#include "check.h"

#include <cassert>
#include <sys/mman.h>

__global__ void store_to(int *address)
{
    *address = 1;
}

__global__ void illegal()
{
    asm volatile(".long 0xffffffff");
}

__global__ void trap(const int *value)
{
    if (*value == 3) __builtin_trap();
}

__global__ void claim(const int *value)
{
    assert(*value != 3);
}

__global__ void spin(volatile int *flag)
{
    while (*flag == 0) {
    }
}

// Memory of the host that the card may use, given back before the card does.
static int *registered_and_gone()
{
    const size_t bytes = 1 << 20;
    int *device = nullptr;
    void *host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HIP(hipHostRegister(host, bytes, hipHostRegisterMapped));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&device), host, 0));
    store_to<<<1, 1>>>(device);
    HIP(hipDeviceSynchronize());
    munmap(static_cast<char *>(host) + bytes / 2, 4096); // one page of it is enough
    return device;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const bool three = !std::strcmp(what, "trap") || !std::strcmp(what, "assert");
    int *memory = upload(std::vector<int>(1, three ? 3 : 0));
    if (!std::strcmp(what, "fault")) store_to<<<1, 1>>>(memory + (1 << 28));
    if (!std::strcmp(what, "null")) store_to<<<1, 1>>>(nullptr);
    if (!std::strcmp(what, "gone")) store_to<<<1, 1>>>(registered_and_gone());
    if (!std::strcmp(what, "illegal")) illegal<<<1, 1>>>();
    if (!std::strcmp(what, "trap")) trap<<<1, 1>>>(memory);
    if (!std::strcmp(what, "assert")) claim<<<1, 1>>>(memory);
    if (!std::strcmp(what, "hang")) spin<<<1, 1>>>(memory);
    const hipError_t error = hipDeviceSynchronize();
    std::printf("survived: %s\n", hipGetErrorString(error));
    return 0;
}
