// language.cpp: what kernels may be written with: virtual functions, recursion, pointers to
// functions, malloc, large arguments, all kinds of atomics, lanes of a wave, 64-bit integers,
// double precision.
#include "check.h"

#include <cassert>

struct shape {
    __device__ virtual float area() const = 0;
};
struct square : shape {
    float side;
    __device__ explicit square(float side) : side(side)
    {
    }
    __device__ float area() const override
    {
        return side * side;
    }
};
struct triangle : shape {
    float base;
    __device__ explicit triangle(float base) : base(base)
    {
    }
    __device__ float area() const override
    {
        return base * base / 2;
    }
};

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ int twice(int x)
{
    return 2 * x;
}
__device__ int minus(int x)
{
    return -x;
}
typedef int (*function)(int);
__device__ function functions[2] = { twice, minus };

struct many {
    int values[500];
    char c;
    double d;
};

__global__ void calls(many m, float *areas, int *results, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    square s(i);
    triangle t(i);
    const shape *what = i & 1 ? static_cast<const shape *>(&s) : &t;
    areas[i] = what->area();
    results[i] = fibonacci(i % 10) + functions[i & 1](i);
    assert(results[i] != 123456789);
    int *list = static_cast<int *>(malloc(4 * sizeof(int)));
    for (int j = 0; j < 4; j++) list[j] = m.values[(i * 7 + j) % 500];
    results[n + i] = list[0] + list[1] + list[2] + list[3] + m.c + int(m.d);
    free(list);
}

static void check_calls()
{
    const int n = 96;
    many m;
    for (int i = 0; i < 500; i++) m.values[i] = i * i;
    m.c = 3;
    m.d = 7.5;
    float *areas = upload(std::vector<float>(n));
    int *results = upload(std::vector<int>(2 * n));
    calls<<<3, 32>>>(m, areas, results, n);
    const std::vector<float> a = download(areas, n);
    const std::vector<int> r = download(results, 2 * n);
    const int f[10] = { 0, 1, 1, 2, 3, 5, 8, 13, 21, 34 };
    for (int i = 0; i < n; i++) {
        int sum = 10;
        for (int j = 0; j < 4; j++) sum += m.values[(i * 7 + j) % 500];
        EXPECT(a[i] == float(i) * i / (i & 1 ? 1 : 2));
        EXPECT(r[i] == f[i % 10] + (i & 1 ? -i : 2 * i));
        EXPECT(r[n + i] == sum);
    }
}

__global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(i, t);
    atomicSub(i + 1, 1);
    atomicMax(i + 2, t);
    atomicMin(i + 3, -t);
    atomicAnd(i + 4, ~(1 << (t & 31)));
    atomicOr(i + 5, 1 << (t & 31));
    atomicXor(i + 6, t);
    atomicInc(u, 99);
    atomicDec(u + 1, 99);
    atomicAdd(l, static_cast<unsigned long long>(t) << 30);
    atomicMax(l + 1, static_cast<unsigned long long>(t) << 33);
    atomicCAS(l + 2, 0ull, 5ull);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicAdd_system(i + 7, 1);
}

static void check_atomics()
{
    const int n = 1000;
    const unsigned long long sum = n * (n - 1) / 2;
    int *i = upload(std::vector<int>({ 0, 0, 0, 5, -1, 0, 0, 0 }));
    unsigned *u = upload(std::vector<unsigned>(2));
    unsigned long long *l = upload(std::vector<unsigned long long>(3));
    float *f = upload(std::vector<float>(1));
    double *d = upload(std::vector<double>(1));
    atomics<<<8, n / 8>>>(i, u, l, f, d);
    int all = 0;
    for (int t = 0; t < n; t++) all ^= t;
    EXPECT(download(i, 8) == std::vector<int>({ int(sum), -n, n - 1, 1 - n, 0, -1, all, n }));
    EXPECT(download(u, 2) == std::vector<unsigned>({ 0, 0 }));
    EXPECT(download(l, 3) == std::vector<unsigned long long>({ sum << 30, 999ull << 33, 5 }));
    EXPECT(download(f, 1)[0] == 500 && download(d, 1)[0] == 250);
}

__global__ void lanes(int *out)
{
    const int t = threadIdx.x;
    int sum = t;
    for (int distance = warpSize / 2; distance; distance /= 2) sum += __shfl_down(sum, distance);
    out[t] = t % warpSize ? 0 : sum;
    out[64 + t] = __shfl_xor(t * t, 5);
    out[128 + t] = int(__ballot(t & 1));
    out[192 + t] = __syncthreads_count(t < 20);
    out[256 + t] = __any(t % 32 == 7) + 2 * __all(t < 60);
}

static void check_lanes()
{
    int *out = upload(std::vector<int>(320));
    lanes<<<1, 64>>>(out);
    const std::vector<int> r = download(out, 320);
    for (int t = 0; t < 64; t++) {
        EXPECT(r[t] == (t == 0 ? 496 : t == 32 ? 1520 : 0));
        EXPECT(r[64 + t] == (t ^ 5) * (t ^ 5));
        EXPECT(r[128 + t] == int(0xaaaaaaaa));
        EXPECT(r[192 + t] == 20);
        EXPECT(r[256 + t] == (t < 32 ? 3 : 1));
    }
}

__global__ void numbers(const long long *a, const long long *b, long long *whole, double *real,
                        int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    whole[i] = a[i] / b[i];
    whole[n + i] = a[i] % b[i];
    whole[2 * n + i] = __mul64hi(a[i], b[i]);
    whole[3 * n + i] = __popcll(a[i]) + 100 * __clzll(b[i]);
    const double x = 0.01 + i * 0.05;
    real[i] = sin(x);
    real[n + i] = exp(-x);
    real[2 * n + i] = pow(x, 1.7);
    real[3 * n + i] = erf(x);
    real[4 * n + i] = x / 3.7;
}

static void check_numbers()
{
    const int n = 200;
    std::vector<long long> a(n), b(n);
    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 2 * n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const long long value = static_cast<long long>(state >> (i % 50 + 1));
        (i < n ? a : b)[i % n] = i % 3 ? value | 1 : -(value | 1);
    }
    long long *da = upload(a), *db = upload(b), *whole = upload(std::vector<long long>(4 * n));
    double *real = upload(std::vector<double>(5 * n));
    numbers<<<(n + 63) / 64, 64>>>(da, db, whole, real, n);
    const std::vector<long long> w = download(whole, 4 * n);
    const std::vector<double> r = download(real, 5 * n);
    for (int i = 0; i < n; i++) {
        const double x = 0.01 + i * 0.05;
        const double right[5] = { std::sin(x), std::exp(-x), std::pow(x, 1.7), std::erf(x),
                                  x / 3.7 };
        EXPECT(w[i] == a[i] / b[i] && w[n + i] == a[i] % b[i]);
        EXPECT(w[2 * n + i] == static_cast<long long>(static_cast<__int128>(a[i]) * b[i] >> 64));
        EXPECT(w[3 * n + i] == __builtin_popcountll(a[i]) + 100 * __builtin_clzll(b[i]));
        for (int j = 0; j < 5; j++) EXPECT(std::fabs(r[j * n + i] - right[j]) < 1e-13 * (1 + x));
    }
}

int main()
{
    check_calls();
    check_atomics();
    check_lanes();
    check_numbers();
    return done("language");
}
