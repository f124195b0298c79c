// matrix_multiply.cpp: tiled products in float and double, with sizes that fill no tile.
#include "check.h"

constexpr int tile = 16;

template <typename T> __global__ void multiply(const T *a, const T *b, T *c, int m, int n, int k)
{
    __shared__ T ta[tile][tile], tb[tile][tile + 1];
    const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
    T sum = 0;
    for (int base = 0; base < k; base += tile) {
        const int i = base + threadIdx.x, j = base + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : T(0);
        tb[threadIdx.y][threadIdx.x] = column < n && j < k ? b[j * n + column] : T(0);
        __syncthreads();
        for (int i2 = 0; i2 < tile; i2++) sum += ta[threadIdx.y][i2] * tb[i2][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

template <typename T> void check(int m, int n, int k)
{
    std::vector<T> a(m * k), b(k * n);
    for (size_t i = 0; i < a.size(); i++) a[i] = T(int(i * 7 % 23) - 11);
    for (size_t i = 0; i < b.size(); i++) b[i] = T(int(i * 5 % 19) - 9);
    T *c = upload(std::vector<T>(m * n, T(-1)));
    multiply<T><<<dim3((n + tile - 1) / tile, (m + tile - 1) / tile), dim3(tile, tile)>>>(
        upload(a), upload(b), c, m, n, k);
    HIP(hipGetLastError());
    const std::vector<T> result = download(c, m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            T sum = 0; // of small integers: exact
            for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * n + j];
            EXPECT(result[i * n + j] == sum);
        }
}

int main()
{
    check<float>(50, 70, 33);
    check<double>(33, 20, 47);
    return done("matrix multiply");
}
