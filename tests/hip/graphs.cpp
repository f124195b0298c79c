// graphs.cpp: graphs by capture and by hand, callbacks, memory in the order of a stream, resets.
#include "check.h"

#include <atomic>

__device__ int offset = 5;

__global__ void add(int *to, const int *from, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i] + offset - 5;
}

static void captured(hipStream_t stream)
{
    const int n = 1000;
    int *sum = upload(std::vector<int>(n, 0)), *one = upload(std::vector<int>(n, 1)),
        *pinned = nullptr;
    HIP(hipHostMalloc(reinterpret_cast<void **>(&pinned), n * sizeof(int), 0));
    hipGraph_t graph;
    hipGraphExec_t ready;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++) add<<<(n + 255) / 256, 256, 0, stream>>>(sum, one, n);
    HIP(hipMemcpyAsync(pinned, sum, n * sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP(hipStreamEndCapture(stream, &graph));
    HIP(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 10; i++) HIP(hipGraphLaunch(ready, stream));
    HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < n; i++) EXPECT(pinned[i] == 30);
    HIP(hipGraphExecDestroy(ready));
    HIP(hipGraphDestroy(graph));
}

static void by_hand(hipStream_t stream)
{
    int n = 1000;
    int *sum = upload(std::vector<int>(n, 9)), *one = upload(std::vector<int>(n, 1));
    std::vector<int> result(n);
    hipGraph_t graph;
    hipGraphExec_t ready;
    hipGraphNode_t clear, work, copy;
    HIP(hipGraphCreate(&graph, 0));
    hipMemsetParams zero = {};
    zero.dst = sum;
    zero.elementSize = sizeof(int);
    zero.width = n;
    zero.height = 1;
    HIP(hipGraphAddMemsetNode(&clear, graph, nullptr, 0, &zero));
    void *arguments[] = { &sum, &one, &n };
    hipKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = dim3(4);
    kernel.blockDim = dim3(256);
    kernel.kernelParams = arguments;
    HIP(hipGraphAddKernelNode(&work, graph, &clear, 1, &kernel));
    HIP(hipGraphAddMemcpyNode1D(&copy, graph, &work, 1, result.data(), sum, n * sizeof(int),
                                hipMemcpyDeviceToHost));
    HIP(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 5; i++) HIP(hipGraphLaunch(ready, stream));
    HIP(hipStreamSynchronize(stream));
    EXPECT(result == std::vector<int>(n, 1));
}

static std::atomic<int> called;

static void count_call(hipStream_t, hipError_t error, void *value)
{
    if (error == hipSuccess) called += *static_cast<int *>(value);
}

static void callbacks(hipStream_t stream)
{
    const int n = 64;
    int two = 2;
    std::vector<int> result(n);
    int *one = upload(std::vector<int>(n, 1));
    for (int i = 0; i < 10; i++) {
        int *memory = nullptr;
        HIP(hipMallocAsync(reinterpret_cast<void **>(&memory), n * sizeof(int), stream));
        HIP(hipMemsetAsync(memory, 0, n * sizeof(int), stream));
        add<<<1, n, 0, stream>>>(memory, one, n);
        HIP(hipStreamAddCallback(stream, count_call, &two, 0));
        HIP(hipMemcpyAsync(result.data(), memory, n * sizeof(int), hipMemcpyDeviceToHost, stream));
        HIP(hipFreeAsync(memory, stream));
    }
    HIP(hipStreamSynchronize(stream));
    EXPECT(called == 20);
    EXPECT(result == std::vector<int>(n, 1));
}

int main()
{
    hipStream_t stream;
    HIP(hipStreamCreate(&stream));
    captured(stream);
    by_hand(stream);
    callbacks(stream);
    HIP(hipDeviceReset());
    HIP(hipStreamCreate(&stream));
    captured(stream);
    return done("graphs");
}
