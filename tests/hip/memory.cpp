// memory.cpp: managed, pinned, mapped and registered memory, fills, symbols, 2D copies, exhaustion.
#include "check.h"

#include <sys/mman.h>

__constant__ int factors[8];
__device__ int total;

__global__ void scale(int *values, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        values[i] *= factors[i % 8];
        atomicAdd(&total, 1);
    }
}

static void check_scaled(const int *values, unsigned n)
{
    for (unsigned i = 0; i < n; i++) EXPECT(values[i] == int(i) * (int(i % 8) + 1));
}

static void fill(int *values, unsigned n)
{
    for (unsigned i = 0; i < n; i++) values[i] = int(i);
}

static void managed_and_pinned()
{
    const unsigned n = 3000;
    int *managed = nullptr, *pinned = nullptr, *mapped = nullptr;
    HIP(hipMallocManaged(reinterpret_cast<void **>(&managed), n * sizeof(int)));
    fill(managed, n);
    scale<<<(n + 255) / 256, 256>>>(managed, n);
    HIP(hipDeviceSynchronize());
    check_scaled(managed, n);
    HIP(hipHostMalloc(reinterpret_cast<void **>(&pinned), n * sizeof(int), hipHostMallocMapped));
    fill(pinned, n);
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&mapped), pinned, 0));
    scale<<<(n + 255) / 256, 256>>>(mapped, n);
    HIP(hipDeviceSynchronize());
    check_scaled(pinned, n);
    std::vector<int> plain(n);
    fill(plain.data(), n);
    HIP(hipHostRegister(plain.data(), n * sizeof(int), hipHostRegisterMapped));
    HIP(hipHostGetDevicePointer(reinterpret_cast<void **>(&mapped), plain.data(), 0));
    scale<<<(n + 255) / 256, 256>>>(mapped, n);
    HIP(hipDeviceSynchronize());
    check_scaled(plain.data(), n);
    HIP(hipHostUnregister(plain.data()));
    HIP(hipHostFree(pinned));
    HIP(hipFree(managed));
    int count = 0;
    HIP(hipMemcpyFromSymbol(&count, HIP_SYMBOL(total), sizeof count));
    EXPECT(count == int(3 * n));
}

static void fills_and_copies()
{
    const size_t n = 5001;
    uint8_t *bytes = upload(std::vector<uint8_t>(n, 9));
    HIP(hipMemset(bytes + 3, 0x5a, n - 7));
    std::vector<uint8_t> back = download(bytes, n);
    for (size_t i = 0; i < n; i++) EXPECT(back[i] == (i < 3 || i >= n - 4 ? 9 : 0x5a));
    int *words = upload(std::vector<int>(1000, 1));
    HIP(hipMemsetD32(words + 10, 0x12345678, 900));
    const std::vector<int> filled = download(words, 1000);
    for (int i = 0; i < 1000; i++) EXPECT(filled[i] == (i < 10 || i >= 910 ? 1 : 0x12345678));
    uint8_t *copy = upload(std::vector<uint8_t>(n, 0));
    HIP(hipMemcpy(copy + 1, bytes, n - 1, hipMemcpyDeviceToDevice));
    back = download(copy, n);
    for (size_t i = 1; i < n; i++) EXPECT(back[i] == (i < 4 || i - 1 >= n - 4 ? 9 : 0x5a));

    const size_t width = 50, height = 20, stride = 70;
    std::vector<uint8_t> image(stride * height), again(stride * height, 0);
    for (size_t i = 0; i < image.size(); i++) image[i] = uint8_t(i * 31);
    void *picture = nullptr;
    size_t pitch = 0;
    HIP(hipMallocPitch(&picture, &pitch, width, height));
    HIP(hipMemcpy2D(picture, pitch, image.data(), stride, width, height, hipMemcpyHostToDevice));
    HIP(hipMemcpy2D(again.data(), stride, picture, pitch, width, height, hipMemcpyDeviceToHost));
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) EXPECT(again[y * stride + x] == image[y * stride + x]);
}

static void exhaustion()
{
    size_t free_before = 0, free_now = 0, all = 0;
    void *large = nullptr, *more = nullptr;
    HIP(hipMemGetInfo(&free_before, &all));
    HIP(hipMalloc(&large, free_before / 4 * 3));
    EXPECT(hipMalloc(&more, free_before / 2) == hipErrorOutOfMemory);
    (void)hipGetLastError();
    HIP(hipFree(large));
    HIP(hipMemGetInfo(&free_now, &all));
    EXPECT(free_now == free_before);
}

int main()
{
    int values[8];
    for (int i = 0; i < 8; i++) values[i] = i + 1;
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(factors), values, sizeof values));
    managed_and_pinned();
    fills_and_copies();
    exhaustion();
    return done("memory");
}
