// vector_add.cpp: the first HIP program anyone writes, with a length that fills no block.
#include "check.h"

__global__ void add(float *sum, const float *a, const float *b, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] = a[i] + b[i];
}

int main()
{
    const unsigned n = 10007;
    std::vector<float> a(n), b(n);
    for (unsigned i = 0; i < n; i++) {
        a[i] = 0.25f * i;
        b[i] = 3.0f - i;
    }
    float *da = upload(a), *db = upload(b), *dc = upload(std::vector<float>(n, -1.0f));
    add<<<(n + 255) / 256, 256>>>(dc, da, db, n);
    HIP(hipGetLastError());
    const std::vector<float> sum = download(dc, n);
    for (unsigned i = 0; i < n; i++) EXPECT(sum[i] == a[i] + b[i]);
    HIP(hipFree(da));
    HIP(hipFree(db));
    HIP(hipFree(dc));
    return done("vector add");
}
