// reduce_kernel.cpp: a reduction as PyTorch's: threads that have no output keep a value that nothing set, all
// threads store theirs in LDS, padding and all, and read and shuffle more than they use.
#include "check.h"

struct best { // 4 bytes of padding
    float value;
    long long index;
};

__device__ static best greater(best a, best b)
{
    return a.value > b.value || (a.value == b.value && a.index < b.index) ? a : b;
}

__device__ static best shuffle_down(best x, int by)
{
    best y;
    y.value = __shfl_down(x.value, by, 32);
    y.index = __shfl_down(x.index, by, 32);
    return y;
}

// Rows of a matrix: block.x threads share a row, block.y rows a block.
__global__ void largest_of_rows(const float *in, long long *out, int rows, int columns)
{
    extern __shared__ best shared[];
    const int row = blockIdx.x * blockDim.y + threadIdx.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
    best value;
    if (row < rows) {
        value.value = -1e30f;
        value.index = 0;
        for (int c = threadIdx.x; c < columns; c += blockDim.x) {
            best next;
            next.value = in[(size_t)row * columns + c];
            next.index = c;
            value = greater(value, next);
        }
    }
    shared[thread] = value;
    for (int offset = blockDim.x / 2; offset >= 32; offset /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < offset) {
            value = greater(value, shared[thread + offset]);
            shared[thread] = value;
        }
    }
    __syncthreads();
    for (int offset = 16; offset > 0; offset /= 2) value = greater(value, shuffle_down(value, offset));
    if (threadIdx.x == 0 && row < rows) out[row] = value.index;
}

// Columns: block.y threads share a column, of which the last block has not block.x.
__global__ void sums_of_columns(const float *in, float *out, int rows, int columns)
{
    extern __shared__ float sums[];
    const int column = blockIdx.x * blockDim.x + threadIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
    float value;
    if (column < columns) {
        value = 0;
        for (int r = threadIdx.y; r < rows; r += blockDim.y) value += in[(size_t)r * columns + column];
    }
    sums[thread] = value;
    for (int offset = blockDim.y / 2; offset > 0; offset /= 2) {
        __syncthreads();
        if ((int)threadIdx.y < offset) {
            value += sums[thread + offset * blockDim.x];
            sums[thread] = value;
        }
    }
    if (threadIdx.y == 0 && column < columns) out[column] = value;
}

int main()
{
    const int rows = 37, columns = 301;
    std::vector<float> matrix((size_t)rows * columns);
    for (size_t i = 0; i < matrix.size(); i++) matrix[i] = (float)(i * 7919 % 1009);
    const float *in = upload(matrix);
    long long *places = upload(std::vector<long long>(rows));
    float *sums = upload(std::vector<float>(columns));
    largest_of_rows<<<(rows + 1) / 2, dim3(128, 2), 256 * sizeof(best)>>>(in, places, rows, columns);
    sums_of_columns<<<(columns + 31) / 32, dim3(32, 8), 256 * sizeof(float)>>>(in, sums, rows, columns);
    const std::vector<long long> found = download(places, rows);
    const std::vector<float> summed = download(sums, columns);
    for (int r = 0; r < rows; r++) {
        int best = 0;
        for (int c = 1; c < columns; c++)
            if (matrix[(size_t)r * columns + c] > matrix[(size_t)r * columns + best]) best = c;
        EXPECT(found[r] == best);
    }
    for (int c = 0; c < columns; c++) {
        float sum = 0;
        for (int r = 0; r < rows; r++) sum += matrix[(size_t)r * columns + c];
        EXPECT(summed[c] == sum);
    }
    return done("reduce_kernel");
}
