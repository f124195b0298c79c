// streams.cpp: streams that wait for each other by events, callbacks, times, and several host threads.
#include "check.h"

#include <atomic>
#include <chrono>
#include <thread>

__global__ void multiply_add(unsigned *values, unsigned n, unsigned factor, unsigned addend)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = values[i] * factor + addend;
}

static void ordered_by_events()
{
    const unsigned n = 4096, blocks = n / 256;
    unsigned *values = upload(std::vector<unsigned>(n, 1));
    hipStream_t first, second;
    hipEvent_t start, half, end;
    HIP(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
    HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    HIP(hipEventCreate(&start));
    HIP(hipEventCreateWithFlags(&half, hipEventDisableTiming));
    HIP(hipEventCreate(&end));
    const auto before = std::chrono::steady_clock::now();
    HIP(hipEventRecord(start, first));
    for (unsigned i = 0; i < 5; i++) multiply_add<<<blocks, 256, 0, first>>>(values, n, 3, i);
    HIP(hipEventRecord(half, first));
    HIP(hipStreamWaitEvent(second, half, 0));
    for (unsigned i = 0; i < 5; i++) multiply_add<<<blocks, 256, 0, second>>>(values, n, 5, i);
    HIP(hipEventRecord(end, second));
    HIP(hipEventSynchronize(end));
    float milliseconds = -1;
    HIP(hipEventElapsedTime(&milliseconds, start, end));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
    // The card's clock and the host's tell the same story.
    EXPECT(milliseconds > 0 && milliseconds <= 1e3 * seconds.count());
    unsigned expected = 1;
    for (unsigned i = 0; i < 5; i++) expected = expected * 3 + i;
    for (unsigned i = 0; i < 5; i++) expected = expected * 5 + i;
    for (unsigned v : download(values, n)) EXPECT(v == expected);
    HIP(hipStreamDestroy(first));
    HIP(hipStreamDestroy(second));
}

static std::atomic<int> called;

static void on_done(hipStream_t, hipError_t, void *count)
{
    called += *static_cast<int *>(count);
}

static void callbacks()
{
    hipStream_t stream;
    int count = 7;
    HIP(hipStreamCreate(&stream));
    unsigned *values = upload(std::vector<unsigned>(256, 2));
    multiply_add<<<1, 256, 0, stream>>>(values, 256, 2, 1);
    HIP(hipStreamAddCallback(stream, on_done, &count, 0));
    HIP(hipStreamSynchronize(stream));
    HIP(hipDeviceSynchronize());
    EXPECT(called == 7);
    HIP(hipStreamDestroy(stream));
}

static void worker(unsigned number)
{
    const unsigned n = 1000 + number;
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    for (unsigned round = 0; round < 5; round++) {
        std::vector<unsigned> values(n, number), result(n);
        unsigned *memory = nullptr;
        HIP(hipMalloc(reinterpret_cast<void **>(&memory), n * sizeof(unsigned)));
        HIP(hipMemcpyAsync(memory, values.data(), n * sizeof(unsigned), hipMemcpyHostToDevice, stream));
        multiply_add<<<(n + 63) / 64, 64, 0, stream>>>(memory, n, 10, round);
        HIP(hipMemcpyAsync(result.data(), memory, n * sizeof(unsigned), hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        for (unsigned v : result) EXPECT(v == number * 10 + round);
        HIP(hipFree(memory));
    }
    HIP(hipStreamDestroy(stream));
}

int main()
{
    ordered_by_events();
    callbacks();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 6; i++) threads.emplace_back(worker, i);
    for (std::thread &thread : threads) thread.join();
    return done("streams");
}
