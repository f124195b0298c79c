/* onednn: convolution by oneDNN on the host: every pass, type, layout and dimension.
 *
 * Made at plan time: the convolution primitive, and for each tensor whose memory format the
 * primitive wants otherwise a reorder primitive and a place in the workspace. A type that oneDNN
 * refuses on this processor (f16, and bf16 before AVX-512) goes through f32 copies there.
 * oneDNN's memory objects are not thread-safe, so each execution in flight takes a set of them from
 * a free list in the plan; the list grows only when more executions run at once than ever before.
 */
#include "base/convert.h"
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/ops/conv/host/primitive.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256, N_OPERANDS = RMCP_CONV_BIAS + 1 };

/* One tensor on its way from the caller's memory into the primitive, or back. */
struct operand {
    bool used, written;
    int64_t elements;
    struct rmcp_onednn_desc plain; /* the caller's format                                    */
    rmcp_onednn_md wanted;         /* the primitive's; lives with its descriptor             */
    bool converted;                /* an f32 copy stands at convert_offset of the workspace  */
    dnnl_primitive_t reorder;      /* not NULL: a reordered copy stands at reorder_offset    */
    uint64_t convert_offset, reorder_offset;
    void *prepared; /* fixed weights in the primitive's format, owned by the plan */
};

/* The memory objects of one execution in flight. */
struct flight {
    struct flight *next;
    dnnl_stream_t stream;
    dnnl_memory_t plain[N_OPERANDS], wanted[N_OPERANDS], scratchpad;
};

struct onednn_state {
    const struct rmcp_onednn *dnn;
    struct rmcp_convolution conv;
    int threads;
    bool own_activation; /* oneDNN's relu and clamp turn NaN into a number; strict plans keep it */
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    struct operand operand[N_OPERANDS];
    uint64_t scratchpad_offset, workspace_bytes;
    pthread_mutex_t lock; /* of `idle` */
    struct flight *idle;
};

static rmcp_status failed(const char *what, dnnl_status_t status)
{
    if (status == dnnl_out_of_memory)
        return rmcp_fail(RMCP_E_NOMEM, "out of memory: oneDNN %s", what);
    return rmcp_fail(RMCP_E_DEVICE, "oneDNN: %s failed with status %d", what, (int)status);
}

/* oneDNN takes its thread count from the OpenMP runtime of the calling thread. */
static int set_threads(const struct rmcp_onednn *dnn, int threads)
{
    if (!dnn->omp_set_num_threads || !dnn->omp_get_max_threads) return threads;
    int before = dnn->omp_get_max_threads();
    if (before != threads) dnn->omp_set_num_threads(threads);
    return before;
}

/* ---- descriptors ---- */

static dnnl_data_type_t data_type(rmcp_type type)
{
    return type == RMCP_F32 ? dnnl_f32 : type == RMCP_F16 ? dnnl_f16 : dnnl_bf16;
}

/* Logical dimensions as oneDNN orders them (weights: groups first), and their strides. Problems
 * keep their own number of spatial dimensions: oneDNN has kernels for each. */
static int dims_of(const struct rmcp_convolution *conv, unsigned slot, dnnl_dim_t *dims,
                   dnnl_dim_t *strides)
{
    if (slot == RMCP_CONV_BIAS) {
        dims[0] = conv->k, strides[0] = 1;
        return 1;
    }
    const struct rmcp_strides *s = slot == RMCP_CONV_X   ? &conv->x
                                   : slot == RMCP_CONV_W ? &conv->w
                                                         : &conv->y;
    const int64_t *space = slot == RMCP_CONV_X   ? conv->input
                           : slot == RMCP_CONV_W ? conv->filter
                                                 : conv->output;
    int n = 0;
    if (slot == RMCP_CONV_W && conv->groups > 1) {
        dims[n] = conv->groups, strides[n++] = conv->group_k * s->outer;
        dims[n] = conv->group_k, strides[n++] = s->outer;
    } else {
        dims[n] = slot == RMCP_CONV_W ? conv->k : conv->n, strides[n++] = s->outer;
    }
    dims[n] = slot == RMCP_CONV_X ? conv->c : slot == RMCP_CONV_W ? conv->group_c : conv->k;
    strides[n++] = s->inner;
    for (uint32_t d = RMCP_MAX_DIMS - conv->problem.dims; d < RMCP_MAX_DIMS; d++)
        dims[n] = space[d], strides[n++] = s->space[d];
    return n;
}

static dnnl_status_t make_attributes(const struct onednn_state *s, dnnl_primitive_attr_t *out)
{
    const struct rmcp_onednn *dnn = s->dnn;
    const struct rmcp_convolution *conv = &s->conv;
    dnnl_status_t status = dnn->dnnl_primitive_attr_create(out);
    if (!status)
        status = dnn->dnnl_primitive_attr_set_scratchpad_mode(*out, dnnl_scratchpad_mode_user);
    const rmcp_activation activation = rmcp_conv_activation(conv);
    if (status || activation == RMCP_NO_ACTIVATION || s->own_activation) return status;

    const rmcp_conv *p = &conv->problem;
    const bool clamp = activation == RMCP_CLAMP;
    dnnl_post_ops_t ops = NULL;
    status = dnn->dnnl_post_ops_create(&ops);
    if (!status)
        status =
            rmcp_onednn_append_activation(dnn, ops, clamp ? dnnl_eltwise_clip : dnnl_eltwise_relu,
                                          clamp                           ? p->clamp_low
                                          : activation == RMCP_LEAKY_RELU ? p->slope
                                                                          : 0.0f,
                                          clamp ? p->clamp_high : 0.0f);
    if (!status) status = dnn->dnnl_primitive_attr_set_post_ops(*out, ops);
    if (ops) dnn->dnnl_post_ops_destroy(ops);
    return status;
}

/* Whether the images stay as they are. With NHWC oneDNN has fast kernels for them as they stand,
 * but that for weight gradients of strided 1x1 filters (2.6.3, AVX-512) then writes beyond its
 * workspace: n5c4h4w34k2r1s1u4x1. */
static bool keeps_images(const struct rmcp_convolution *conv)
{
    bool pointwise = true, strided = false;
    for (int d = 0; d < RMCP_MAX_DIMS; d++) {
        pointwise = pointwise && conv->filter[d] == 1;
        strided = strided || conv->stride[d] > 1;
    }
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS && pointwise && strided) return false;
    return conv->layout == RMCP_NHWC;
}

/* Ask for a convolution in data type `type`; formats that need not stay are oneDNN's choice. */
static dnnl_status_t make_conv(struct onednn_state *s, dnnl_data_type_t type)
{
    const struct rmcp_onednn *dnn = s->dnn;
    const struct rmcp_convolution *conv = &s->conv;
    struct rmcp_onednn_desc desc[N_OPERANDS];
    memset(desc, 0, sizeof desc);
    struct rmcp_onednn_conv request = { .pass = conv->pass };

    dnnl_status_t status = make_attributes(s, &request.attr);
    for (int slot = 0; slot < N_OPERANDS && !status; slot++) {
        if (!s->operand[slot].used) continue;
        dnnl_dims_t dims, strides;
        int n = dims_of(conv, (unsigned)slot, dims, strides);
        bool keep = slot == RMCP_CONV_BIAS || (slot != RMCP_CONV_W && keeps_images(conv));
        status = rmcp_onednn_desc_init(dnn, &desc[slot], n, dims, type, keep ? strides : NULL);
    }
    if (!status) {
        request.x = rmcp_onednn_desc_get(&desc[RMCP_CONV_X]);
        request.w = rmcp_onednn_desc_get(&desc[RMCP_CONV_W]);
        request.y = rmcp_onednn_desc_get(&desc[RMCP_CONV_Y]);
        request.bias =
            s->operand[RMCP_CONV_BIAS].used ? rmcp_onednn_desc_get(&desc[RMCP_CONV_BIAS]) : NULL;
        for (uint32_t i = 0; i < conv->problem.dims; i++) {
            request.stride[i] = conv->problem.stride[i];
            request.dilation[i] = conv->problem.dilation[i] - 1;
            request.pad_begin[i] = conv->problem.pad_begin[i];
            request.pad_end[i] = conv->problem.pad_end[i];
        }
        status = rmcp_onednn_conv_create(dnn, &request, &s->desc);
    }
    for (int slot = 0; slot < N_OPERANDS; slot++) rmcp_onednn_desc_deinit(dnn, &desc[slot]);
    if (request.attr) dnn->dnnl_primitive_attr_destroy(request.attr);
    return status;
}

/* oneDNN answers some requests with plain loops; f32 then has a real kernel. */
static bool is_plain_loops(const struct onednn_state *s)
{
    const char *name = NULL;
    dnnl_status_t status =
        s->dnn->dnnl_primitive_desc_query(s->desc, dnnl_query_impl_info_str, 0, &name);
    return !status && name && !strncmp(name, "ref", 3);
}

/* Equal padding of at most half the filter, and every tap meets the input somewhere: what networks
 * are made of. */
static bool is_ordinary(const struct rmcp_convolution *conv, int d)
{
    const int64_t taps = conv->filter[d], step = conv->dilation[d], pad = conv->pad_begin[d];
    if (pad != conv->pad_end[d] || pad > (taps - 1) * step / 2) return false;
    if (taps > 4096 || (taps > 1 && step > conv->input[d])) return false; /* not worth the loop */
    for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t before = pad - tap * step; /* padding left of the tap at output 0 */
        const int64_t o = before > 0 ? (before - 1) / conv->stride[d] + 1 : 0;
        if (o >= conv->output[d] || o * conv->stride[d] - before >= conv->input[d]) return false;
    }
    return true;
}

/* oneDNN's 16-bit kernels (2.6.3 and 3.7.2 alike) take memory that was never written for the zeros
 * of the padding in weight gradients (n3c16w2k16s3p2-1u3, n5c18t11x9h11w5k24r4s3p1x0x0u4x1x1g6),
 * and those of 3.7.2 are wrong or read outside their tensors with unusual padding
 * (n3c34h9w9k32r5s5p0-3x3-0u2x4g2, n2c16h8w1k5r3s1p3-0x2-4u4x3). Its f32 kernels do neither. */
static bool is_safe_in_half(const struct rmcp_convolution *conv)
{
    if (conv->pass == RMCP_CONV_BACKWARD_WEIGHTS) return false;
    return is_ordinary(conv, 0) && is_ordinary(conv, 1) && is_ordinary(conv, 2);
}

static rmcp_onednn_md wanted_desc(const struct onednn_state *s, int slot)
{
    const bool forward = s->conv.pass == RMCP_CONV_FORWARD;
    static const dnnl_query_t plain[N_OPERANDS] = { dnnl_query_src_md, dnnl_query_weights_md,
                                                    dnnl_query_dst_md, dnnl_query_weights_md };
    static const dnnl_query_t gradient[N_OPERANDS] = { dnnl_query_diff_src_md,
                                                       dnnl_query_diff_weights_md,
                                                       dnnl_query_diff_dst_md };
    /* In a backward pass the tensor written and y are gradients. */
    bool is_gradient = !forward && (slot == RMCP_CONV_Y || s->operand[slot].written);
    return s->dnn->dnnl_primitive_desc_query_md(s->desc, is_gradient ? gradient[slot] : plain[slot],
                                                slot == RMCP_CONV_BIAS ? 1 : 0);
}

/* ---- the plan ---- */

static uint64_t reserve(struct onednn_state *s, uint64_t bytes)
{
    uint64_t offset = s->workspace_bytes;
    s->workspace_bytes += rmcp_round_up(bytes, ALIGNMENT);
    return offset;
}

/* Decide how operand `slot` travels, make its reorder and reserve workspace. */
static dnnl_status_t make_operand(struct onednn_state *s, int slot, dnnl_data_type_t type)
{
    const struct rmcp_onednn *dnn = s->dnn;
    struct operand *o = &s->operand[slot];
    dnnl_dims_t dims, strides;
    int n = dims_of(&s->conv, (unsigned)slot, dims, strides);
    dnnl_status_t status = rmcp_onednn_desc_init(dnn, &o->plain, n, dims, type, strides);
    if (status) return status;

    rmcp_onednn_md plain = rmcp_onednn_desc_get(&o->plain);
    o->converted = type != data_type(s->conv.type);
    if (o->converted) o->convert_offset = reserve(s, (uint64_t)o->elements * sizeof(float));
    o->wanted = wanted_desc(s, slot);
    if (dnn->dnnl_memory_desc_equal(plain, o->wanted)) return dnnl_success;

    o->reorder_offset = reserve(s, dnn->dnnl_memory_desc_get_size(o->wanted));
    dnnl_primitive_desc_t desc = NULL;
    status =
        dnn->dnnl_reorder_primitive_desc_create(&desc, o->written ? o->wanted : plain, dnn->engine,
                                                o->written ? plain : o->wanted, dnn->engine, NULL);
    if (!status) status = dnn->dnnl_primitive_create(&o->reorder, desc);
    if (desc) dnn->dnnl_primitive_desc_destroy(desc);
    return status;
}

static void destroy_flight(const struct rmcp_onednn *dnn, struct flight *f)
{
    if (!f) return;
    for (int slot = 0; slot < N_OPERANDS; slot++) {
        if (f->plain[slot]) dnn->dnnl_memory_destroy(f->plain[slot]);
        if (f->wanted[slot]) dnn->dnnl_memory_destroy(f->wanted[slot]);
    }
    if (f->scratchpad) dnn->dnnl_memory_destroy(f->scratchpad);
    if (f->stream) dnn->dnnl_stream_destroy(f->stream);
    free(f);
}

static rmcp_status create_flight(const struct onednn_state *s, struct flight **out)
{
    const struct rmcp_onednn *dnn = s->dnn;
    struct flight *f = calloc(1, sizeof *f);
    if (!f) return rmcp_fail_memory("oneDNN memory objects", sizeof *f);
    dnnl_status_t status =
        dnn->dnnl_stream_create(&f->stream, dnn->engine, dnnl_stream_default_flags);
    for (int slot = 0; slot < N_OPERANDS && !status; slot++) {
        const struct operand *o = &s->operand[slot];
        if (!o->used) continue;
        status =
            dnn->dnnl_memory_create(&f->wanted[slot], o->wanted, dnn->engine, DNNL_MEMORY_NONE);
        if (!status && o->reorder)
            status = dnn->dnnl_memory_create(&f->plain[slot], rmcp_onednn_desc_get(&o->plain),
                                             dnn->engine, DNNL_MEMORY_NONE);
    }
    if (!status)
        status = dnn->dnnl_memory_create(
            &f->scratchpad, dnn->dnnl_primitive_desc_query_md(s->desc, dnnl_query_scratchpad_md, 0),
            dnn->engine, DNNL_MEMORY_NONE);
    if (status) {
        destroy_flight(dnn, f);
        return failed("memory object", status);
    }
    *out = f;
    return RMCP_OK;
}

static rmcp_status take_flight(struct onednn_state *s, struct flight **out)
{
    pthread_mutex_lock(&s->lock);
    struct flight *f = s->idle;
    if (f) s->idle = f->next;
    pthread_mutex_unlock(&s->lock);
    *out = f;
    return f ? RMCP_OK : create_flight(s, out);
}

static void return_flight(struct onednn_state *s, struct flight *f)
{
    pthread_mutex_lock(&s->lock);
    f->next = s->idle;
    s->idle = f;
    pthread_mutex_unlock(&s->lock);
}

static void destroy(void *state)
{
    struct onednn_state *s = state;
    if (!s) return;
    const struct rmcp_onednn *dnn = s->dnn;
    while (s->idle) {
        struct flight *f = s->idle;
        s->idle = f->next;
        destroy_flight(dnn, f);
    }
    for (int slot = 0; slot < N_OPERANDS; slot++) {
        struct operand *o = &s->operand[slot];
        if (o->reorder) dnn->dnnl_primitive_destroy(o->reorder);
        rmcp_onednn_desc_deinit(dnn, &o->plain);
        free(o->prepared);
    }
    if (s->primitive) dnn->dnnl_primitive_destroy(s->primitive);
    if (s->desc) dnn->dnnl_primitive_desc_destroy(s->desc);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Everything but the primitive itself, whose code takes longest to make. */
static rmcp_status create(const struct rmcp_request *request, struct onednn_state **out)
{
    const char *why = "";
    const struct rmcp_onednn *dnn = rmcp_onednn_get(&why);
    if (!dnn) return rmcp_fail(RMCP_E_UNSUPPORTED, "%s", why);
    struct onednn_state *s = calloc(1, sizeof *s);
    if (!s) return rmcp_fail_memory("oneDNN plan", sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->dnn = dnn;
    s->conv = *rmcp_conv_of(request);
    s->threads = (int)request->caps->threads;
    s->own_activation = request->strict && rmcp_conv_activation(&s->conv) != RMCP_NO_ACTIVATION;
    for (int slot = 0; slot < N_OPERANDS; slot++) {
        s->operand[slot].elements = rmcp_conv_elements(&s->conv, (unsigned)slot);
        s->operand[slot].used = s->operand[slot].elements > 0;
        s->operand[slot].written = slot == (int)rmcp_conv_output_slot(&s->conv);
    }

    const int before = set_threads(dnn, s->threads);
    /* bf16 is multiplied in pairs: with an odd number of channels a neighbour, perhaps NaN, meets
     * the zero that fills the pair (n2c1h5w4k8r2s3:bf16:nhwc:fwd). */
    const bool half = is_safe_in_half(&s->conv) && !request->strict;
    dnnl_data_type_t type = half ? data_type(s->conv.type) : dnnl_f32;
    dnnl_status_t status = make_conv(s, type);
    if (type != dnnl_f32 && (status == dnnl_unimplemented || (!status && is_plain_loops(s)))) {
        if (s->desc) dnn->dnnl_primitive_desc_destroy(s->desc);
        s->desc = NULL;
        type = dnnl_f32;
        status = make_conv(s, type);
    }
    for (int slot = 0; slot < N_OPERANDS && !status; slot++)
        if (s->operand[slot].used) status = make_operand(s, slot, type);
    if (!status)
        s->scratchpad_offset =
            reserve(s, dnn->dnnl_memory_desc_get_size(dnn->dnnl_primitive_desc_query_md(
                           s->desc, dnnl_query_scratchpad_md, 0)));
    set_threads(dnn, before);
    if (status) {
        destroy(s);
        return failed("making the convolution", status);
    }
    *out = s;
    return RMCP_OK;
}

/* ---- execution ---- */

static void *place(rmcp_memory memory, uint64_t offset)
{
    return (char *)memory.base + memory.offset + offset;
}

static dnnl_status_t run_reorder(const struct onednn_state *s, const struct flight *f, int slot,
                                 void *plain, void *wanted)
{
    const struct rmcp_onednn *dnn = s->dnn;
    const struct operand *o = &s->operand[slot];
    dnnl_status_t status = dnn->dnnl_memory_set_data_handle(f->plain[slot], plain);
    if (!status) status = dnn->dnnl_memory_set_data_handle(f->wanted[slot], wanted);
    dnnl_exec_arg_t args[] = {
        { DNNL_ARG_FROM, o->written ? f->wanted[slot] : f->plain[slot] },
        { DNNL_ARG_TO, o->written ? f->plain[slot] : f->wanted[slot] },
    };
    return status ? status : dnn->dnnl_primitive_execute(o->reorder, f->stream, 2, args);
}

/* Bring an input into the primitive's format: `copy` and `reordered` are its places. */
static dnnl_status_t bring(const struct onednn_state *s, const struct flight *f, int slot,
                           void *caller, void *copy, void *reordered)
{
    const struct operand *o = &s->operand[slot];
    void *plain = caller;
    if (o->converted) {
        rmcp_convert_to_float(copy, caller, s->conv.type, o->elements, (unsigned)s->threads);
        plain = copy;
    }
    if (o->reorder) return run_reorder(s, f, slot, plain, reordered);
    return s->dnn->dnnl_memory_set_data_handle(f->wanted[slot], plain);
}

/* The activation as a pass of its own over the finished sums. */
static void activate(const struct onednn_state *s, void *data, rmcp_type type)
{
    const int64_t n = s->operand[RMCP_CONV_Y].elements;
#pragma omp parallel for num_threads(s->threads) if (n > 1 << 15)
    for (int64_t i = 0; i < n; i++)
        rmcp_store(data, type, i,
                   (float)rmcp_conv_activate(&s->conv, (double)rmcp_load(data, type, i)));
}

static dnnl_status_t compute(const struct onednn_state *s, const struct flight *f,
                             const rmcp_memory *memory)
{
    static const int forward[N_OPERANDS] = { DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST,
                                             DNNL_ARG_BIAS };
    static const int gradient[N_OPERANDS] = { DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_WEIGHTS,
                                              DNNL_ARG_DIFF_DST, 0 };
    const struct rmcp_onednn *dnn = s->dnn;
    const rmcp_memory workspace = memory[RMCP_SLOT_WORKSPACE];
    dnnl_exec_arg_t args[N_OPERANDS + 1];
    int n_args = 0, out = (int)rmcp_conv_output_slot(&s->conv);
    dnnl_status_t status = dnnl_success;

    for (int slot = 0; slot < N_OPERANDS && !status; slot++) {
        const struct operand *o = &s->operand[slot];
        if (!o->used) continue;
        if (o->prepared)
            status = dnn->dnnl_memory_set_data_handle(f->wanted[slot], o->prepared);
        else if (!o->written)
            status = bring(s, f, slot, place(memory[slot], 0), place(workspace, o->convert_offset),
                           place(workspace, o->reorder_offset));
        else
            status = dnn->dnnl_memory_set_data_handle(
                f->wanted[slot], o->reorder     ? place(workspace, o->reorder_offset)
                                 : o->converted ? place(workspace, o->convert_offset)
                                                : place(memory[slot], 0));
        bool is_gradient =
            s->conv.pass != RMCP_CONV_FORWARD && (slot == RMCP_CONV_Y || slot == out);
        args[n_args].arg = is_gradient ? gradient[slot] : forward[slot];
        args[n_args++].memory = f->wanted[slot];
    }
    if (!status)
        status =
            dnn->dnnl_memory_set_data_handle(f->scratchpad, place(workspace, s->scratchpad_offset));
    args[n_args].arg = DNNL_ARG_SCRATCHPAD;
    args[n_args++].memory = f->scratchpad;
    if (!status) status = dnn->dnnl_primitive_execute(s->primitive, f->stream, n_args, args);

    const struct operand *o = &s->operand[out];
    void *copy = o->converted ? place(workspace, o->convert_offset) : place(memory[out], 0);
    if (!status && o->reorder)
        status = run_reorder(s, f, out, copy, place(workspace, o->reorder_offset));
    if (!status) status = dnn->dnnl_stream_wait(f->stream);
    if (!status && s->own_activation) activate(s, copy, o->converted ? RMCP_F32 : s->conv.type);
    if (!status && o->converted)
        rmcp_convert_from_float(place(memory[out], 0), copy, s->conv.type, o->elements,
                                (unsigned)s->threads);
    return status;
}

static rmcp_status run(const void *state, const rmcp_memory *memory)
{
    struct onednn_state *s = (struct onednn_state *)state; /* only the locked free list changes */
    struct flight *f = NULL;
    rmcp_status status = take_flight(s, &f);
    if (status) return status;
    const int before = set_threads(s->dnn, s->threads);
    dnnl_status_t result = compute(s, f, memory);
    set_threads(s->dnn, before);
    return_flight(s, f);
    return result ? failed("the convolution", result) : RMCP_OK;
}

/* Convert and reorder weights that will not change, once. */
static rmcp_status prepare_weights(struct onednn_state *s, struct flight *f, rmcp_memory weights)
{
    struct operand *o = &s->operand[RMCP_CONV_W];
    const uint64_t copy_bytes = o->converted ? (uint64_t)o->elements * sizeof(float) : 0;
    const uint64_t bytes = o->reorder ? s->dnn->dnnl_memory_desc_get_size(o->wanted) : copy_bytes;
    if (!bytes) return RMCP_OK; /* the caller's own memory is as good */

    void *copy = copy_bytes && o->reorder ? malloc(copy_bytes) : NULL;
    void *prepared = aligned_alloc(ALIGNMENT, rmcp_round_up(bytes, ALIGNMENT));
    rmcp_status status = RMCP_OK;
    if (!prepared || (copy_bytes && o->reorder && !copy)) {
        status = rmcp_fail_memory("prepared weights", (size_t)(bytes + copy_bytes));
    } else {
        dnnl_status_t result =
            bring(s, f, RMCP_CONV_W, place(weights, 0), copy ? copy : prepared, prepared);
        if (!result) result = s->dnn->dnnl_stream_wait(f->stream);
        if (result) status = failed("preparing weights", result);
    }
    if (!status) o->prepared = prepared, prepared = NULL;
    free(prepared);
    free(copy);
    return status;
}

/* ---- the contract ---- */

/* Whether some output reads the tensor along one dimension, and not its padding alone. */
static bool reads_input(const struct rmcp_convolution *conv, int dim)
{
    const int64_t stride = conv->stride[dim];
    for (int64_t t = 0; t < conv->filter[dim]; t++) {
        const int64_t first =
            conv->pad_begin[dim] - t * conv->dilation[dim]; /* element 0 is there */
        const int64_t o = first > 0 ? (first + stride - 1) / stride : 0;
        if (o < conv->output[dim] && o * stride < first + conv->input[dim]) return true;
    }
    return false;
}

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_convolution *conv = request->problem;
    const struct rmcp_caps *caps = request->caps;
    /* A kernel of oneDNN 3.6 (brg_conv_fwd:avx2) follows a null pointer there. */
    for (int dim = 0; dim < RMCP_MAX_DIMS; dim++)
        if (!reads_input(conv, dim)) return rmcp_refuse(way, "every output reads padding alone");
    const char *why = NULL;
    if (!rmcp_onednn_get(&why)) return rmcp_refuse(way, why);

    const double bytes =
        4.0 * ((double)conv->x_elements + (double)conv->w_elements + (double)conv->y_elements);
    way->seconds =
        rmcp_figure(caps, RMCP_FIGURE_CONV_ONEDNN_CALL) +
        conv->flops /
            (rmcp_figure(caps, RMCP_FIGURE_CONV_ONEDNN_EFFICIENCY) * caps->flops_per_second) +
        rmcp_figure(caps, RMCP_FIGURE_CONV_ONEDNN_TRAFFIC) * bytes / caps->bytes_per_second;
    struct onednn_state *s = NULL;
    const rmcp_status status = create(request, &s);
    if (status) return status;
    way->workspace_bytes = s->workspace_bytes;
    destroy(s);
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    struct onednn_state *s = NULL;
    struct flight *f = NULL;
    rmcp_status status = create(request, &s);
    if (status) return status;

    const int before = set_threads(s->dnn, s->threads);
    dnnl_status_t result = s->dnn->dnnl_primitive_create(&s->primitive, s->desc);
    if (result) status = failed("making the primitive", result);
    if (!status) status = create_flight(s, &f);
    if (!status && request->fixed_weights.base)
        status = prepare_weights(s, f, request->fixed_weights);
    set_threads(s->dnn, before);
    if (f) return_flight(s, f);

    struct rmcp_launch *record = status ? NULL : rmcp_launch_append(list, RMCP_LAUNCH_HOST_CALL);
    if (!record) {
        destroy(s);
        return status ? status : RMCP_E_NOMEM;
    }
    record->host = (struct rmcp_host_call){ .function = run, .state = s, .destroy = destroy };
    return RMCP_OK;
}

const struct rmcp_algo rmcp_algo_conv_onednn = {
    .name = "onednn",
    .version = 2,
    .kind = RMCP_LAUNCH_HOST_CALL,
    .consider = consider,
    .emit = emit,
};
