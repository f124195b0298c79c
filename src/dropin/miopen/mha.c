/* mha.c: multi-head attention. Numbers of the original's tensors become slots of the operation
 * "attention"; scales, which are tensors of one element each, are collected first. */
#include "dropin/miopen/mha.h"

#include "dropin/miopen/case.h"
#include "dropin/miopen/log.h"

/* ---- descriptors ---- */

const struct mi_mha *mi_mha(miopenMhaDescriptor_t name)
{
    const struct mi_mha *mha = mi_object(name, MI_MHA);
    if (!mha) mi_log(MI_ERROR, "%p is no attention descriptor", (const void *)name);
    return mha;
}

miopenStatus_t miopenCreateMhaDescriptor(miopenMhaDescriptor_t *out)
{
    if (!out) return mi_fail(miopenStatusBadParm, "miopenCreateMhaDescriptor: NULL");
    struct mi_mha *mha = mi_object_new(MI_MHA, sizeof *mha);
    if (!mha) return mi_fail(miopenStatusAllocFailed, "out of memory");
    mha->scale = 1;
    *out = mi_object_name(mha);
    return miopenStatusSuccess;
}

miopenStatus_t miopenSetMhaDescriptor(miopenMhaDescriptor_t name, float scale)
{
    struct mi_mha *mha = (struct mi_mha *)mi_mha(name);
    if (!mha) return miopenStatusBadParm;
    mha->scale = scale;
    return miopenStatusSuccess;
}

miopenStatus_t miopenGetMhaDescriptor(miopenMhaDescriptor_t name, float *scale)
{
    const struct mi_mha *mha = mi_mha(name);
    if (!mha || !scale) return miopenStatusBadParm;
    *scale = mha->scale;
    return miopenStatusSuccess;
}

/* ---- tensors ---- */

/* Factors and places of amax, in the order of the operation. */
enum { N_FACTORS = 13, DROP = 12, N_AMAX = 4 };

enum side { FORWARD = 1, BACKWARD = 2, BOTH = 3 };
enum shape { QUERIES, KEYS, SCORES, ROWS };

static const struct whole {
    uint32_t id;
    enum mi_slot slot;
    enum side read, written;
    enum shape shape;
    enum side optional;
} wholes[] = {
    { miopenTensorMhaQ, MI_Q, BOTH, 0, QUERIES, 0 },
    { miopenTensorMhaK, MI_K, BOTH, 0, KEYS, 0 },
    { miopenTensorMhaV, MI_V, BOTH, 0, KEYS, 0 },
    { miopenTensorMhaBias, MI_BIAS, BOTH, 0, SCORES, BOTH },
    { miopenTensorMhaO, MI_O, 0, FORWARD, QUERIES, 0 },
    { miopenTensorMhaM, MI_M, BACKWARD, FORWARD, ROWS, FORWARD },
    { miopenTensorMhaZInv, MI_ZINV, BACKWARD, FORWARD, ROWS, FORWARD },
    { miopenTensorMhaDO, MI_DO, BACKWARD, 0, QUERIES, 0 },
    { miopenTensorMhaDQ, MI_DQ, 0, BACKWARD, QUERIES, 0 },
    { miopenTensorMhaDK, MI_DK, 0, BACKWARD, KEYS, 0 },
    { miopenTensorMhaDV, MI_DV, 0, BACKWARD, KEYS, 0 },
};
enum { WHOLES = sizeof wholes / sizeof *wholes };

/* Tensors of one f32; those of the other pass do no harm. */
static const uint32_t factor_ids[N_FACTORS] = {
    miopenTensorMhaDescaleQ,
    miopenTensorMhaDescaleK,
    miopenTensorMhaDescaleV,
    miopenTensorMhaDescaleS,
    miopenTensorMhaDescaleDO,
    miopenTensorMhaDescaleDS,
    miopenTensorMhaScaleS,
    miopenTensorMhaScaleO,
    miopenTensorMhaScaleDS,
    miopenTensorMhaScaleDQ,
    miopenTensorMhaScaleDK,
    miopenTensorMhaScaleDV,
    miopenTensorMhaDropoutProbability,
};
static const uint32_t amax_ids[2][N_AMAX] = {
    { miopenTensorMhaAmaxS, miopenTensorMhaAmaxO },
    { miopenTensorMhaAmaxDS, miopenTensorMhaAmaxDQ, miopenTensorMhaAmaxDK, miopenTensorMhaAmaxDV },
};
static const uint32_t state_ids[2] = { miopenTensorMhaDropoutSeed, miopenTensorMhaDropoutOffset };

static const struct mi_tensor *tensor(const struct mi_mha_call *call, uint32_t id)
{
    return call->tensor[id - miopenTensorMhaK];
}

static void *buffer(const struct mi_mha_call *call, uint32_t id)
{
    return call->buffer[id - miopenTensorMhaK];
}

static bool takes_part(const struct mi_mha_call *call, const struct whole *w)
{
    const enum side side = call->backward ? BACKWARD : FORWARD;
    return ((w->read | w->written) & side) && (!(w->optional & side) || tensor(call, w->id));
}

/* Whether something is scaled, dropped or measured; those of the other pass do not count. */
static bool has_factors(const struct mi_mha_call *call)
{
    for (int i = 0; i < N_FACTORS; i++)
        if (tensor(call, factor_ids[i])) return true;
    for (int i = 0; i < N_AMAX; i++)
        if (amax_ids[call->backward][i] && tensor(call, amax_ids[call->backward][i])) return true;
    return false;
}

static miopenStatus_t check_scalar(const struct mi_mha_call *call, uint32_t id, size_t bytes)
{
    const struct mi_tensor *t = id ? tensor(call, id) : NULL;
    if (!t || (mi_tensor_elements(t) == 1 && mi_type_bytes(t->type) == bytes &&
               (bytes != sizeof(float) || t->type == miopenFloat)))
        return miopenStatusSuccess;
    return mi_fail(miopenStatusBadParm, "attention: tensor %u is not one %s", (unsigned)id,
                   bytes == sizeof(float) ? "f32" : "number of 64 bits");
}

static miopenStatus_t check(const struct mi_mha_call *call)
{
    for (int i = 0; i < WHOLES; i++)
        if (takes_part(call, &wholes[i]) && !tensor(call, wholes[i].id))
            return mi_fail(miopenStatusInvalidValue, "the problem lacks tensor %u",
                           (unsigned)wholes[i].id);
    const struct mi_tensor *q = tensor(call, miopenTensorMhaQ), *k = tensor(call, miopenTensorMhaK);
    if (q->dims != 4 || k->dims != 4)
        return mi_fail(miopenStatusBadParm, "attention of tensors of %d and %d dimensions", q->dims,
                       k->dims);
    for (int i = 0; i < WHOLES; i++) {
        const struct mi_tensor *t = tensor(call, wholes[i].id);
        if (!takes_part(call, &wholes[i])) continue;
        const enum shape shape = wholes[i].shape;
        const bool own = shape == SCORES || shape == ROWS;
        const int64_t size[] = { q->size[0], q->size[1], shape == KEYS ? k->size[2] : q->size[2],
                                 shape == SCORES ? k->size[2]
                                 : shape == ROWS ? 1
                                                 : q->size[3] };
        bool same = t->dims == 4 && t->type == (own ? miopenFloat : q->type);
        for (int d = 0; same && d < 4; d++) same = t->size[d] == size[d];
        if (!same)
            return mi_fail(miopenStatusBadParm, "attention: %s does not fit",
                           mi_slot_name(wholes[i].slot));
    }
    miopenStatus_t status = miopenStatusSuccess;
    for (int i = 0; i < N_FACTORS && !status; i++)
        status = check_scalar(call, factor_ids[i], sizeof(float));
    for (int i = 0; i < N_AMAX && !status; i++)
        status = check_scalar(call, amax_ids[call->backward][i], sizeof(float));
    for (int i = 0; i < 2 && !status; i++)
        status = check_scalar(call, state_ids[i], sizeof(uint64_t));
    return status;
}

/* Without one of them there are no statistics. */
static bool is_saved(const struct mi_mha_call *call)
{
    return tensor(call, miopenTensorMhaM) && tensor(call, miopenTensorMhaZInv);
}

static miopenStatus_t begin(struct mi_case *c, const struct mi_mha_call *call)
{
    miopenStatus_t status = check(call);
    if (status != miopenStatusSuccess) return status;
    const struct mi_tensor *q = tensor(call, miopenTensorMhaQ), *k = tensor(call, miopenTensorMhaK);
    mi_case_begin(c, "attention", q);
    mi_case_put(c, "%s%s%s%s%s", call->backward ? ":bwd" : ":fwd", call->causal ? ":causal" : "",
                tensor(call, miopenTensorMhaBias) ? ":bias" : "",
                !call->backward && is_saved(call) ? ":saved" : "",
                has_factors(call) ? ":factors" : "");
    mi_case_number(c, "scale", (double)call->scale);
    if (k->size[2] != q->size[2]) mi_case_put(c, ":keys%lld", (long long)k->size[2]);
    return miopenStatusSuccess;
}

miopenStatus_t mi_mha_plan(struct mi_handle *handle, const struct mi_mha_call *call)
{
    struct mi_case c;
    miopenStatus_t status = begin(&c, call);
    return status == miopenStatusSuccess ? mi_case_plan(handle, &c) : status;
}

/* ---- running ---- */

/* Memory of the handle: what is collected at its begin, then packed copies of tensors that are not.
 */
enum { STATE_AT = 64, AMAX_AT = 128, COPIES_AT = 256 };

static rmcp_memory at(const void *pointer)
{
    return (rmcp_memory){ (void *)(uintptr_t)pointer, 0 };
}

static rmcp_memory behind(rmcp_memory memory, uint64_t bytes)
{
    return (rmcp_memory){ memory.base, memory.offset + bytes };
}

static struct mi_tensor row(int64_t n)
{
    struct mi_tensor row = { .type = miopenFloat, .dims = 1 };
    row.size[0] = n;
    row.stride[0] = 1;
    return row;
}

static miopenStatus_t move(struct mi_handle *handle, rmcp_memory from, rmcp_memory to, int64_t n)
{
    const struct mi_tensor whole = row(n);
    return mi_tensor_copy(handle, 1, &whole, from, 0, &whole, to);
}

static miopenStatus_t set(struct mi_handle *handle, rmcp_memory to, int64_t n, double value)
{
    const struct mi_tensor whole = row(n);
    const rmcp_tensor problem = { .kind = RMCP_TENSOR_SET, .alpha = value };
    return mi_tensor_run(handle, problem, NULL, at(NULL), NULL, at(NULL), &whole, to);
}

/* Factors that are not given are 1; without a share, a seed or an offset nothing is dropped. The
 * words of seed and offset are copied as two f32 each. */
static miopenStatus_t collect(struct mi_handle *handle, const struct mi_mha_call *call,
                              rmcp_memory memory)
{
    const bool drops = buffer(call, miopenTensorMhaDropoutProbability) &&
                       buffer(call, state_ids[0]) && buffer(call, state_ids[1]);
    miopenStatus_t status = set(handle, memory, N_FACTORS, 1);
    if (!status && !drops) status = set(handle, behind(memory, DROP * sizeof(float)), 1, 0);
    if (!status && !drops) status = set(handle, behind(memory, STATE_AT), 4, 0);
    for (unsigned i = 0; i < N_FACTORS && !status; i++)
        if (buffer(call, factor_ids[i]) && (i != DROP || drops))
            status =
                move(handle, at(buffer(call, factor_ids[i])), behind(memory, i * sizeof(float)), 1);
    for (unsigned i = 0; i < 2 && drops && !status; i++)
        status = move(handle, at(buffer(call, state_ids[i])),
                      behind(memory, STATE_AT + i * sizeof(uint64_t)), 2);
    return status;
}

static miopenStatus_t give_amax(struct mi_handle *handle, const struct mi_mha_call *call,
                                rmcp_memory memory)
{
    miopenStatus_t status = miopenStatusSuccess;
    for (unsigned i = 0; i < N_AMAX && !status; i++) {
        const uint32_t id = amax_ids[call->backward][i];
        if (id && buffer(call, id))
            status =
                move(handle, behind(memory, AMAX_AT + i * sizeof(float)), at(buffer(call, id)), 1);
    }
    return status;
}

/* Copies of tensors that are not packed: how far behind the begin of the memory, or 0. */
static uint64_t find_copies(const struct mi_mha_call *call, uint64_t copy[static WHOLES])
{
    uint64_t end = COPIES_AT;
    for (int i = 0; i < WHOLES; i++) {
        const struct mi_tensor *t =
            takes_part(call, &wholes[i]) ? tensor(call, wholes[i].id) : NULL;
        copy[i] = 0;
        if (!t || mi_tensor_is_packed(t, RMCP_NCHW)) continue;
        copy[i] = end;
        end += ((uint64_t)mi_tensor_elements(t) * mi_type_bytes(t->type) + 255) / 256 * 256;
    }
    return end;
}

/* To the copies of what this pass reads, or from those of what it writes. */
static miopenStatus_t relay(struct mi_handle *handle, const struct mi_mha_call *call,
                            const uint64_t copy[static WHOLES], rmcp_memory memory, bool out)
{
    const enum side side = call->backward ? BACKWARD : FORWARD;
    miopenStatus_t status = miopenStatusSuccess;
    for (int i = 0; i < WHOLES && !status; i++) {
        if (!copy[i] || !((out ? wholes[i].written : wholes[i].read) & side)) continue;
        const struct mi_tensor *theirs = tensor(call, wholes[i].id);
        const struct mi_tensor ours = mi_tensor_packed(theirs, RMCP_NCHW);
        const rmcp_memory outside = at(buffer(call, wholes[i].id)),
                          inside = behind(memory, copy[i]);
        status = out ? mi_tensor_copy(handle, 1, &ours, inside, 0, theirs, outside)
                     : mi_tensor_copy(handle, 1, theirs, outside, 0, &ours, inside);
    }
    return status;
}

/* What may be left out is what has no buffer; a bias needs no descriptor. */
static void settle(struct mi_mha_call *call, struct mi_tensor *bias)
{
    const struct mi_tensor **list = call->tensor;
    const struct mi_tensor *q = tensor(call, miopenTensorMhaQ), *k = tensor(call, miopenTensorMhaK);
    if (!buffer(call, miopenTensorMhaBias)) {
        list[miopenTensorMhaBias - miopenTensorMhaK] = NULL;
    } else if (!tensor(call, miopenTensorMhaBias) && q && k && q->dims == 4 && k->dims == 4) {
        *bias = *q;
        bias->type = miopenFloat;
        bias->size[3] = k->size[2];
        *bias = mi_tensor_packed(bias, RMCP_NCHW);
        list[miopenTensorMhaBias - miopenTensorMhaK] = bias;
    }
    if (!call->backward &&
        (!buffer(call, miopenTensorMhaM) || !buffer(call, miopenTensorMhaZInv) || !is_saved(call)))
        list[miopenTensorMhaM - miopenTensorMhaK] = list[miopenTensorMhaZInv - miopenTensorMhaK] =
            NULL;
}

miopenStatus_t mi_mha_run(struct mi_handle *handle, const struct mi_mha_call *given)
{
    struct mi_mha_call own = *given;
    const struct mi_mha_call *const call = &own;
    struct mi_tensor bias;
    settle(&own, &bias);
    struct mi_case c;
    uint64_t copy[WHOLES];
    rmcp_memory memory;
    miopenStatus_t status = begin(&c, call);
    if (status != miopenStatusSuccess) return status;
    for (int i = 0; i < WHOLES; i++)
        if (takes_part(call, &wholes[i]) && !buffer(call, wholes[i].id))
            return mi_fail(miopenStatusInvalidValue, "attention without %s",
                           mi_slot_name(wholes[i].slot));
    status = mi_case_plan(handle, &c); /* nothing is copied in vain */
    const uint64_t bytes = find_copies(call, copy);
    if (!status) status = mi_handle_between(handle, bytes, &memory);
    if (status) return status;
    for (int i = 0; i < WHOLES; i++)
        if (takes_part(call, &wholes[i])) {
            mi_case_memory_at(&c, wholes[i].slot,
                              copy[i] ? behind(memory, copy[i]) : at(buffer(call, wholes[i].id)));
        }
    const bool factors = has_factors(call);
    if (factors) {
        mi_case_memory_at(&c, MI_FACTORS, memory);
        mi_case_memory_at(&c, MI_STATE, behind(memory, STATE_AT));
        mi_case_memory_at(&c, MI_AMAX, behind(memory, AMAX_AT));
        status = collect(handle, call, memory);
    }
    if (!status) status = relay(handle, call, copy, memory, false);
    if (!status) status = mi_case_run(handle, &c);
    if (!status) status = relay(handle, call, copy, memory, true);
    return status || !factors ? status : give_amax(handle, call, memory);
}
