// rocblas.cpp: products of matrices and vectors by rocBLAS, compared with plain loops in double
// precision.
#include "../hip/check.h"

#include <rocblas/rocblas.h>

#define BLAS(call)                                                                                 \
    do {                                                                                           \
        const rocblas_status status_ = (call);                                                     \
        if (status_ != rocblas_status_success) {                                                   \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                     \
                         rocblas_status_to_string(status_));                                       \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

using Floats = std::vector<float>;

// Numbers of both signs in [-1, 1], the same in every run.
static Floats numbers(size_t n, uint32_t seed)
{
    Floats values(n);
    for (float &value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = float(int32_t(seed) >> 8) / 8388608.0f;
    }
    return values;
}

// Column-major, as BLAS has it: element (row, column) of op(A).
static double element(const float *a, int ld, bool transposed, int row, int column)
{
    return transposed ? a[column + size_t(row) * ld] : a[row + size_t(column) * ld];
}

// One value against its sum in double precision: each of k products and additions rounds once.
static bool near(float got, double expected, double magnitude, int k)
{
    return std::fabs(got - expected) <= (k + 4) * 6e-8 * magnitude;
}

static const float alpha = 1.5f, beta = -0.75f;

// The m x n values of C = alpha op(A) op(B) + beta C.
static void expect_product(const float *got, const float *before, const float *a, const float *b,
                           int m, int n, int k, bool ta, bool tb)
{
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) {
            double sum = 0, magnitude = 0;
            for (int l = 0; l < k; l++) {
                const double product =
                    element(a, ta ? k : m, ta, i, l) * element(b, tb ? n : k, tb, l, j);
                sum += product;
                magnitude += std::fabs(product);
            }
            const size_t at = i + size_t(j) * m;
            EXPECT(near(got[at], alpha * sum + beta * before[at],
                        alpha * magnitude + std::fabs(beta * before[at]), k));
        }
    }
}

static rocblas_operation operation(bool transposed)
{
    return transposed ? rocblas_operation_transpose : rocblas_operation_none;
}

static void check_gemm(rocblas_handle blas, int m, int n, int k, bool ta, bool tb)
{
    const Floats a = numbers(size_t(m) * k, 1), b = numbers(size_t(k) * n, 2);
    const Floats c = numbers(size_t(m) * n, 3);
    float *da = upload(a), *db = upload(b), *dc = upload(c);
    BLAS(rocblas_sgemm(blas, operation(ta), operation(tb), m, n, k, &alpha, da, ta ? k : m, db,
                       tb ? n : k, &beta, dc, m));
    const Floats got = download(dc, c.size());
    expect_product(got.data(), c.data(), a.data(), b.data(), m, n, k, ta, tb);
    for (float *memory : { da, db, dc }) HIP(hipFree(memory));
}

// The same for several matrices at once, one behind the other.
static void check_batched(rocblas_handle blas, int m, int n, int k, int count)
{
    const size_t sa = size_t(m) * k, sb = size_t(k) * n, sc = size_t(m) * n;
    const Floats a = numbers(sa * count, 4), b = numbers(sb * count, 5), c = numbers(sc * count, 6);
    float *da = upload(a), *db = upload(b), *dc = upload(c);
    BLAS(rocblas_sgemm_strided_batched(
        blas, rocblas_operation_none, rocblas_operation_none, m, n, k, &alpha, da, m,
        rocblas_stride(sa), db, k, rocblas_stride(sb), &beta, dc, m, rocblas_stride(sc), count));
    const Floats got = download(dc, c.size());
    for (int i = 0; i < count; i++)
        expect_product(&got[i * sc], &c[i * sc], &a[i * sa], &b[i * sb], m, n, k, false, false);
    for (float *memory : { da, db, dc }) HIP(hipFree(memory));
}

// y = alpha op(A) x + beta y for an m x n matrix: a product with one column.
static void check_gemv(rocblas_handle blas, int m, int n, bool transposed)
{
    const int rows = transposed ? n : m, columns = transposed ? m : n;
    const Floats a = numbers(size_t(m) * n, 7), x = numbers(size_t(columns), 8);
    const Floats y = numbers(size_t(rows), 9);
    float *da = upload(a), *dx = upload(x), *dy = upload(y);
    BLAS(rocblas_sgemv(blas, operation(transposed), m, n, &alpha, da, m, dx, 1, &beta, dy, 1));
    const Floats got = download(dy, y.size());
    expect_product(got.data(), y.data(), a.data(), x.data(), rows, 1, columns, transposed, false);
    for (float *memory : { da, dx, dy }) HIP(hipFree(memory));
}

int main()
{
    rocblas_handle blas = nullptr;
    BLAS(rocblas_create_handle(&blas));
    check_gemm(blas, 64, 64, 64, false, false);
    check_gemm(blas, 37, 29, 53, false, true);
    check_gemm(blas, 37, 29, 53, true, false);
    check_batched(blas, 24, 20, 33, 5);
    check_gemv(blas, 65, 43, false);
    check_gemv(blas, 65, 43, true);
    BLAS(rocblas_destroy_handle(blas));
    return done("rocblas");
}
