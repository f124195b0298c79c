/* host.c: matrix products on the host: by oneDNN, or by plain loops where there is none.
 *
 * oneDNN multiplies f32 matrices as they lie; other types go through f32 copies. Bias, activation
 * and rounding come after it, here. */
#include "engine/matmul/host.h"

#include "base/convert.h"
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/onednn/onednn.h"

double rmcp_matmul_host_seconds(const struct rmcp_matmul *p, const struct rmcp_caps *caps)
{
    const double products = (double)p->batch * (double)p->m * (double)p->n * (double)p->k;
    const double elements =
        (double)p->batch * ((double)p->m * (double)p->k + (double)p->k * (double)p->n +
                            2 * (double)p->m * (double)p->n);
    const double speed =
        rmcp_figure(caps, rmcp_onednn_get(NULL) ? RMCP_FIGURE_GEMM_ONEDNN_EFFICIENCY
                                                : RMCP_FIGURE_GEMM_PLAIN_EFFICIENCY);
    return rmcp_figure(caps, RMCP_FIGURE_GEMM_HOST_START) +
           2 * products / (speed * caps->flops_per_second) + 4 * elements / caps->bytes_per_second;
}

/* Where the copies of a, b and c begin. */
struct copies {
    uint64_t b, c, bytes;
};

static struct copies copies_of(const struct rmcp_matmul *p)
{
    const uint64_t a = rmcp_round_up((uint64_t)(p->m * p->k) * sizeof(float), 256);
    const uint64_t b = rmcp_round_up((uint64_t)(p->k * p->n) * sizeof(float), 256);
    return (struct copies){ a, a + b,
                            a + b + rmcp_round_up((uint64_t)(p->m * p->n) * sizeof(float), 256) };
}

uint64_t rmcp_matmul_host_workspace(const struct rmcp_matmul *p)
{
    if (p->type == RMCP_F32 || !p->batch || !p->m || !p->n) return 0;
    return copies_of(p).bytes;
}

/* ---- one product in f32 ---- */

/* f32 matrices; pitches in elements. */
struct part {
    int64_t m, n, k;
    const float *a, *b;
    int64_t a_pitch, b_pitch, c_pitch;
    bool a_transposed, b_transposed;
    float *c, alpha, beta;
};

static float factor(const float *matrix, int64_t pitch, bool transposed, int64_t row,
                    int64_t column)
{
    return transposed ? matrix[column * pitch + row] : matrix[row * pitch + column];
}

/* Sums of a row side by side, term by term. */
static void multiply_plainly(const struct part *p, unsigned threads)
{
    enum { WIDTH = 64 };
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < p->m; row++)
        for (int64_t first = 0; first < p->n; first += WIDTH) {
            const int64_t count = p->n - first < WIDTH ? p->n - first : WIDTH;
            float sum[WIDTH] = { 0 };
            for (int64_t r = 0; r < p->k; r++) {
                const float a = factor(p->a, p->a_pitch, p->a_transposed, row, r);
                for (int64_t i = 0; i < count; i++)
                    sum[i] += a * factor(p->b, p->b_pitch, p->b_transposed, r, first + i);
            }
            float *c = p->c + row * p->c_pitch + first;
            for (int64_t i = 0; i < count; i++)
                c[i] = p->beta == 0 ? p->alpha * sum[i] : p->alpha * sum[i] + p->beta * c[i];
        }
}

static void scale(const struct part *p)
{
    for (int64_t row = 0; row < p->m; row++) {
        float *c = p->c + row * p->c_pitch;
        for (int64_t i = 0; i < p->n; i++) c[i] = p->beta == 0 ? 0 : p->beta * c[i];
    }
}

static rmcp_status multiply(const struct part *p, unsigned threads)
{
    if (!p->k || p->alpha == 0) {
        scale(p);
        return RMCP_OK;
    }
    const struct rmcp_onednn *dnn = rmcp_onednn_get(NULL);
    if (!dnn) {
        multiply_plainly(p, threads);
        return RMCP_OK;
    }
    /* oneDNN takes its thread count from the OpenMP runtime of the calling thread. */
    const bool settable = dnn->omp_set_num_threads && dnn->omp_get_max_threads;
    const int before = settable ? dnn->omp_get_max_threads() : 0;
    if (settable && before != (int)threads) dnn->omp_set_num_threads((int)threads);
    const dnnl_status_t status =
        dnn->dnnl_sgemm(p->a_transposed ? 'T' : 'N', p->b_transposed ? 'T' : 'N', p->m, p->n, p->k,
                        p->alpha, p->a, p->a_pitch, p->b, p->b_pitch, p->beta, p->c, p->c_pitch);
    if (settable && before != (int)threads) dnn->omp_set_num_threads(before);
    if (!status) return RMCP_OK;
    if (status == dnnl_out_of_memory)
        return rmcp_fail(RMCP_E_NOMEM, "out of memory: oneDNN's matrix product");
    return rmcp_fail(RMCP_E_DEVICE, "oneDNN: the matrix product failed with status %d",
                     (int)status);
}

/* ---- before and after ---- */

/* A copy without gaps of `lines` lines. */
static void copy_in(float *target, const void *source, rmcp_type type, int64_t lines,
                    int64_t length, int64_t pitch, unsigned threads)
{
    const size_t element = rmcp_type_bytes(type);
    if (pitch == length) {
        rmcp_convert_to_float(target, source, type, lines * length, threads);
        return;
    }
    for (int64_t i = 0; i < lines; i++)
        rmcp_convert_to_float(target + i * length,
                              (const char *)source + (size_t)(i * pitch) * element, type, length,
                              1);
}

static float activate(const struct rmcp_matmul *p, float v)
{
    switch (p->activation) {
    case RMCP_RELU: return v < 0 ? 0 : v;
    case RMCP_LEAKY_RELU: return v < 0 ? v * p->slope : v;
    case RMCP_CLAMP: return v < p->low ? p->low : v > p->high ? p->high : v;
    default: return v;
    }
}

/* Bias, activation and rounding of one product; `sums` may be c itself. */
static void finish(const struct rmcp_matmul *p, const float *sums, int64_t pitch, void *c,
                   const void *bias, unsigned threads)
{
    if (p->type == RMCP_F32 && !p->bias && !p->activation) return;
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < p->m; row++)
        for (int64_t i = 0; i < p->n; i++) {
            float v = sums[row * pitch + i];
            if (p->bias) v += rmcp_load(bias, p->type, p->bias == RMCP_MATMUL_ROW_BIAS ? row : i);
            rmcp_store(c, p->type, row * p->c.pitch + i, activate(p, v));
        }
}

static void *address(const rmcp_memory *memory, unsigned slot, uint64_t offset)
{
    return (char *)memory[slot].base + memory[slot].offset + offset;
}

static void *matrix(const struct rmcp_matmul *p, const struct rmcp_matrix *m,
                    const rmcp_memory *memory, int64_t i)
{
    return address(memory, m->slot,
                   m->offset + (uint64_t)i * (uint64_t)m->stride * rmcp_type_bytes(p->type));
}

static rmcp_status run_one(const struct rmcp_matmul *p, const rmcp_memory *memory, char *workspace,
                           int64_t i, unsigned threads)
{
    const bool reads = p->k && p->alpha != 0;
    void *c = matrix(p, &p->c, memory, i);
    struct part part = {
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .a_pitch = p->a.pitch,
        .b_pitch = p->b.pitch,
        .c_pitch = p->c.pitch,
        .a_transposed = p->a.transposed,
        .b_transposed = p->b.transposed,
        .c = c,
        .alpha = p->alpha,
        .beta = p->beta,
    };
    if (reads) part.a = matrix(p, &p->a, memory, i), part.b = matrix(p, &p->b, memory, i);
    if (p->type != RMCP_F32) {
        const struct copies copies = copies_of(p);
        float *a = (float *)workspace, *b = (float *)(workspace + copies.b);
        part.c = (float *)(workspace + copies.c);
        const bool ta = p->a.transposed, tb = p->b.transposed;
        if (reads && (i == 0 || p->a.stride))
            copy_in(a, part.a, p->type, ta ? p->k : p->m, ta ? p->m : p->k, p->a.pitch, threads);
        if (reads && (i == 0 || p->b.stride))
            copy_in(b, part.b, p->type, tb ? p->n : p->k, tb ? p->k : p->n, p->b.pitch, threads);
        if (p->beta != 0) copy_in(part.c, c, p->type, p->m, p->n, p->c.pitch, threads);
        part.a = a, part.b = b;
        part.a_pitch = ta ? p->m : p->k, part.b_pitch = tb ? p->k : p->n, part.c_pitch = p->n;
    }
    rmcp_status status = multiply(&part, threads);
    if (!status)
        finish(p, part.c, part.c_pitch, c,
               p->bias ? address(memory, p->bias_slot, p->bias_offset) : NULL, threads);
    return status;
}

rmcp_status rmcp_matmul_run(const struct rmcp_matmul *p, const rmcp_memory *memory, void *workspace,
                            unsigned threads)
{
    if (!p->m || !p->n) return RMCP_OK;
    rmcp_status status = RMCP_OK;
    for (int64_t i = 0; i < p->batch && !status; i++)
        status = run_one(p, memory, workspace, i, threads);
    return status;
}

/* ---- as a launch ---- */

struct call {
    struct rmcp_matmul product;
    uint64_t workspace;
    unsigned threads;
};

static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    const struct call *call = state;
    return rmcp_matmul_run(&call->product, memory,
                           rmcp_matmul_host_workspace(&call->product)
                               ? address(memory, RMCP_SLOT_WORKSPACE, call->workspace)
                               : NULL,
                           call->threads);
}

rmcp_status rmcp_matmul_host_emit(const struct rmcp_matmul *p, const struct rmcp_caps *caps,
                                  uint64_t workspace, struct rmcp_launch_list *list)
{
    const struct call call = { *p, workspace, caps->threads ? caps->threads : 1 };
    return rmcp_launch_host(list, run, &call, sizeof call);
}
