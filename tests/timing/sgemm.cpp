// sgemm.cpp: rocBLAS's own matrix products on the model of time, by hand:
//   hipcc -O2 --offload-arch=gfx1010 sgemm.cpp -o sgemm -lrocblas
//   rmcp sim --timing --gpu rx5700xt --checks none --json -- ./sgemm 1024 1024 1024
// Arguments are M, N and K of each product. The table of --timing has the kernels; what events say here includes
// the loading of rocBLAS's code.
#include <hip/hip_runtime.h>
#include <rocblas/rocblas.h>

#include <cstdio>
#include <cstdlib>

static bool product(rocblas_handle handle, int m, int n, int k)
{
    float *a = nullptr, *b = nullptr, *c = nullptr, one = 1, zero = 0, milliseconds = 0;
    hipEvent_t start, end;
    bool good = hipMalloc(reinterpret_cast<void **>(&a), sizeof(float) * m * k) == hipSuccess &&
                hipMalloc(reinterpret_cast<void **>(&b), sizeof(float) * k * n) == hipSuccess &&
                hipMalloc(reinterpret_cast<void **>(&c), sizeof(float) * m * n) == hipSuccess &&
                hipEventCreate(&start) == hipSuccess && hipEventCreate(&end) == hipSuccess &&
                hipEventRecord(start, nullptr) == hipSuccess;
    good = good && rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, m, n, k, &one, a, m, b, k,
                                 &zero, c, m) == rocblas_status_success;
    good = good && hipEventRecord(end, nullptr) == hipSuccess && hipEventSynchronize(end) == hipSuccess &&
           hipEventElapsedTime(&milliseconds, start, end) == hipSuccess;
    std::printf("%d x %d x %d: %s, %.4f ms by events\n", m, n, k, good ? "done" : "failed", milliseconds);
    static_cast<void>(hipFree(a));
    static_cast<void>(hipFree(b));
    static_cast<void>(hipFree(c));
    return good;
}

int main(int argc, char **argv)
{
    rocblas_handle handle;
    if (rocblas_create_handle(&handle) != rocblas_status_success) return 1;
    bool good = argc > 3;
    for (int i = 1; i + 2 < argc; i += 3)
        good &= product(handle, std::atoi(argv[i]), std::atoi(argv[i + 1]), std::atoi(argv[i + 2]));
    rocblas_destroy_handle(handle);
    return good ? 0 : 1;
}
