// sgemm.cpp: rocBLAS's own matrix products on the model of time, by hand:
//   hipcc -O2 --offload-arch=gfx1010 sgemm.cpp -o sgemm -lrocblas
//   rmcp sim --timing --gpu rx5700xt --checks none --json -- ./sgemm 1024x1024x1024
// Each argument is M, N and K of a product in the order of columns, and how many of them there are in one call: MxNxK or
// MxNxKxCOUNT. The table of --timing has the kernels; what events say here includes the loading of rocBLAS's code.
#include <hip/hip_runtime.h>
#include <rocblas/rocblas.h>

#include <cstdio>
#include <cstdlib>

struct product {
    int m, n, k, count;
};

static bool run(rocblas_handle handle, const product &p)
{
    float *a = nullptr, *b = nullptr, *c = nullptr, one = 1, zero = 0, milliseconds = 0;
    hipEvent_t start, end;
    const size_t sizes[] = { size_t(p.m) * p.k, size_t(p.k) * p.n, size_t(p.m) * p.n };
    bool good = hipMalloc(reinterpret_cast<void **>(&a), sizeof(float) * sizes[0] * p.count) == hipSuccess &&
                hipMalloc(reinterpret_cast<void **>(&b), sizeof(float) * sizes[1]) == hipSuccess &&
                hipMalloc(reinterpret_cast<void **>(&c), sizeof(float) * sizes[2] * p.count) == hipSuccess &&
                hipEventCreate(&start) == hipSuccess && hipEventCreate(&end) == hipSuccess &&
                hipEventRecord(start, nullptr) == hipSuccess;
    // As a convolution has them: the same weights for all images.
    good = good &&
           (p.count == 1 ? rocblas_sgemm(handle, rocblas_operation_none, rocblas_operation_none, p.m, p.n, p.k, &one, a,
                                         p.m, b, p.k, &zero, c, p.m)
                         : rocblas_sgemm_strided_batched(handle, rocblas_operation_none, rocblas_operation_none, p.m,
                                                         p.n, p.k, &one, a, p.m, rocblas_stride(sizes[0]), b, p.k, 0,
                                                         &zero, c, p.m, rocblas_stride(sizes[2]), p.count)) ==
               rocblas_status_success;
    good = good && hipEventRecord(end, nullptr) == hipSuccess && hipEventSynchronize(end) == hipSuccess &&
           hipEventElapsedTime(&milliseconds, start, end) == hipSuccess;
    std::printf("%d of %d x %d x %d: %s, %.4f ms by events\n", p.count, p.m, p.n, p.k, good ? "done" : "failed",
                milliseconds);
    static_cast<void>(hipFree(a));
    static_cast<void>(hipFree(b));
    static_cast<void>(hipFree(c));
    return good;
}

int main(int argc, char **argv)
{
    rocblas_handle handle;
    if (rocblas_create_handle(&handle) != rocblas_status_success) return 1;
    bool good = argc > 1;
    for (int i = 1; i < argc && good; i++) {
        product p = { 0, 0, 0, 1 };
        good = std::sscanf(argv[i], "%dx%dx%dx%d", &p.m, &p.n, &p.k, &p.count) >= 3 && p.m > 0 && p.n > 0 && p.k > 0 &&
               p.count > 0 && run(handle, p);
    }
    rocblas_destroy_handle(handle);
    return good ? 0 : 1;
}
