/* rnn_rows.c: rows of sequences with gaps, or in another order, copied to the engine and back. */
#include "dropin/miopen/rnn_rows.h"

static int64_t place(const struct mi_rnn_rows *rows, int64_t i)
{
    return rows->order ? rows->order[i] : i;
}

/* How many sequences from the i-th of `batch` on follow each other at the caller's, too. */
static int64_t neighbours(const struct mi_rnn_rows *rows, int64_t i, int64_t batch)
{
    if (!rows->order) return batch - i;
    int64_t n = 1;
    while (i + n < batch && rows->order[i + n] == rows->order[i] + n) n++;
    return n;
}

static miopenStatus_t copy(struct mi_handle *handle, const struct mi_tensor *theirs,
                           rmcp_memory their_memory, const struct mi_tensor *ours,
                           rmcp_memory our_memory, bool back)
{
    return back ? mi_tensor_copy(handle, 1, ours, our_memory, 0, theirs, their_memory)
                : mi_tensor_copy(handle, 1, theirs, their_memory, 0, ours, our_memory);
}

/* What a tensor with gaps has in them. */
static miopenStatus_t fill(struct mi_handle *handle, const struct mi_rnn_problem *p,
                           miopenDataType_t type, const struct mi_rnn_rows *rows,
                           const struct mi_rnn_pair *pair)
{
    const struct mi_tensor flat = { .type = type,
                                    .dims = 1,
                                    .size = { rows->steps * p->rnn.batch * pair->width },
                                    .stride = { 1 } };
    const rmcp_tensor set = { .kind = RMCP_TENSOR_SET, .alpha = rows->value };
    const rmcp_memory none = { NULL, 0 };
    return mi_tensor_run(handle, set, NULL, none, NULL, none, &flat, pair->theirs);
}

miopenStatus_t mi_rnn_copy_rows(struct mi_handle *handle, const struct mi_rnn_problem *p,
                                miopenDataType_t type, const struct mi_rnn_rows *rows,
                                const struct mi_rnn_pair *pair, bool back)
{
    const int64_t width = pair->width, bytes = (int64_t)mi_type_bytes(type) * width;
    const bool by_step = rows->gaps == MI_RNN_BY_STEP;
    const int64_t a_step = by_step ? p->rnn.batch : 1, a_sequence = by_step ? 1 : rows->steps;
    int64_t t = 0, row = 0;
    miopenStatus_t status =
        back && rows->fill ? fill(handle, p, type, rows, pair) : miopenStatusSuccess;
    for (uint64_t i = 0; i < p->n_runs && status == miopenStatusSuccess; i++) {
        const struct mi_rnn_run *run = &p->run[i];
        int64_t n = 0;
        for (int64_t k = 0; k < run->batch && status == miopenStatusSuccess; k += n) {
            n = neighbours(rows, k, run->batch);
            const struct mi_tensor wide = { .type = type,
                                            .dims = 3,
                                            .size = { run->steps, n, width },
                                            .stride = { a_step * width, a_sequence * width, 1 } };
            struct mi_tensor narrow = wide;
            narrow.stride[0] = run->batch * width;
            narrow.stride[1] = width;
            rmcp_memory theirs = pair->theirs, ours = pair->ours;
            theirs.offset += (uint64_t)((t * a_step + place(rows, k) * a_sequence) * bytes);
            ours.offset += (uint64_t)((row + k) * bytes);
            status = copy(handle, &wide, theirs, &narrow, ours, back);
        }
        t += run->steps;
        row += (int64_t)run->steps * run->batch;
    }
    return status;
}

miopenStatus_t mi_rnn_copy_state(struct mi_handle *handle, const struct mi_rnn_problem *p,
                                 miopenDataType_t type, const struct mi_rnn_rows *rows,
                                 const struct mi_rnn_pair *pair, bool back)
{
    const int64_t width = pair->width, bytes = (int64_t)mi_type_bytes(type) * width;
    const int64_t layers = (int64_t)p->rnn.layers * (p->rnn.bidirectional ? 2 : 1);
    miopenStatus_t status = miopenStatusSuccess;
    int64_t n = 0;
    for (int64_t k = 0; k < p->rnn.batch && status == miopenStatusSuccess; k += n) {
        n = neighbours(rows, k, p->rnn.batch);
        const struct mi_tensor some = { .type = type,
                                        .dims = 3,
                                        .size = { layers, n, width },
                                        .stride = { p->rnn.batch * width, width, 1 } };
        rmcp_memory theirs = pair->theirs, ours = pair->ours;
        theirs.offset += (uint64_t)(place(rows, k) * bytes);
        ours.offset += (uint64_t)(k * bytes);
        status = copy(handle, &some, theirs, &some, ours, back);
    }
    return status;
}
