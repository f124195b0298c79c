/* convert.c: arrays of half and bfloat16 to and from f32. */
#include "base/convert.h"

/* Fewer elements than this are not worth a second thread. */
enum { WORTH_THREADS = 1 << 15 };

void rmcp_convert_to_float(float *target, const void *source, rmcp_type type, int64_t n,
                           unsigned threads)
{
    const uint16_t *half = source;
    (void)threads; /* without OpenMP */
    if (type == RMCP_F32) {
        memcpy(target, source, (size_t)n * sizeof *target);
    } else if (type == RMCP_F16) {
#pragma omp parallel for simd num_threads(threads) if (n > WORTH_THREADS)
        for (int64_t i = 0; i < n; i++) target[i] = rmcp_float_of_f16(half[i]);
    } else {
#pragma omp parallel for simd num_threads(threads) if (n > WORTH_THREADS)
        for (int64_t i = 0; i < n; i++) target[i] = rmcp_float_of_bf16(half[i]);
    }
}

void rmcp_convert_from_float(void *target, const float *source, rmcp_type type, int64_t n,
                             unsigned threads)
{
    uint16_t *half = target;
    (void)threads;
    if (type == RMCP_F32) {
        memcpy(target, source, (size_t)n * sizeof *source);
    } else if (type == RMCP_F16) {
#pragma omp parallel for simd num_threads(threads) if (n > WORTH_THREADS)
        for (int64_t i = 0; i < n; i++) half[i] = rmcp_f16_of_float(source[i]);
    } else {
#pragma omp parallel for simd num_threads(threads) if (n > WORTH_THREADS)
        for (int64_t i = 0; i < n; i++) half[i] = rmcp_bf16_of_float(source[i]);
    }
}
