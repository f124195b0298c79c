// half.cpp: half precision: conversions, packed and mixed arithmetic, comparisons.
#include "check.h"

#include <hip/hip_fp16.h>

__global__ void packed(const __half2 *a, const __half2 *b, __half2 *c)
{
    const unsigned i = threadIdx.x;
    c[i] = __hfma2(a[i], b[i], __hadd2(a[i], b[i]));
}

__global__ void mixed(const __half *a, const __half *b, float *c, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += __half2float(a[threadIdx.x * n + i]) * __half2float(b[i]);
    c[threadIdx.x] = sum;
}

__global__ void scalar(const float *in, __half *out, int *less)
{
    const unsigned i = threadIdx.x;
    const __half h = __float2half(in[i]);
    out[i] = __hmul(h, __float2half(2.0f));
    less[i] = __hlt(h, __float2half(8.0f));
}

int main()
{
    const int n = 64;
    std::vector<__half2> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = __floats2half2_rn(float(i - 32), 0.5f * i);
        b[i] = __floats2half2_rn(0.25f * i, float(3 - i % 7));
    }
    __half2 *c = upload(std::vector<__half2>(n));
    packed<<<1, n>>>(upload(a), upload(b), c);
    const std::vector<__half2> sums = download(c, n);
    for (int i = 0; i < n; i++) {
        const float x = float(i - 32), y = 0.25f * i, z = 0.5f * i, w = float(3 - i % 7);
        // Small multiples of powers of two: both are exact.
        EXPECT(__half2float(__low2half(sums[i])) == x * y + (x + y));
        EXPECT(__half2float(__high2half(sums[i])) == z * w + (z + w));
    }

    std::vector<__half> rows(32 * 8), column(8);
    for (int i = 0; i < 256; i++) rows[i] = __float2half(float(i % 11) - 5);
    for (int i = 0; i < 8; i++) column[i] = __float2half(float(i) * 0.5f);
    float *products = upload(std::vector<float>(32));
    mixed<<<1, 32>>>(upload(rows), upload(column), products, 8);
    const std::vector<float> got = download(products, 32);
    for (int r = 0; r < 32; r++) {
        float sum = 0;
        for (int i = 0; i < 8; i++) sum += (float((r * 8 + i) % 11) - 5) * (float(i) * 0.5f);
        EXPECT(got[r] == sum);
    }

    std::vector<float> reals(32);
    for (int i = 0; i < 32; i++) reals[i] = 0.5f * i;
    __half *doubled = upload(std::vector<__half>(32));
    int *less = upload(std::vector<int>(32, -1));
    scalar<<<1, 32>>>(upload(reals), doubled, less);
    const std::vector<__half> twice = download(doubled, 32);
    const std::vector<int> below = download(less, 32);
    for (int i = 0; i < 32; i++) {
        EXPECT(__half2float(twice[i]) == 1.0f * i);
        EXPECT(below[i] == (0.5f * i < 8.0f));
    }
    return done("half precision");
}
