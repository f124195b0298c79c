/* conv_execute.c: from descriptors to the engine's convolution, and its execution. */
#include "base/round.h"
#include "dropin/miopen/convolution.h"
#include "dropin/miopen/log.h"

#include <string.h>

/* The layout in which the fewest bytes must be copied. */
static rmcp_layout choose_layout(const struct mi_conv *conv)
{
    const struct mi_tensor *tensors[] = { &conv->x, &conv->w, &conv->y };
    int64_t to_copy[2] = { 0, 0 };
    for (int layout = RMCP_NCHW; layout <= RMCP_NHWC; layout++)
        for (int i = 0; i < 3; i++)
            if (!mi_tensor_is_packed(tensors[i], (rmcp_layout)layout))
                to_copy[layout] += mi_tensor_elements(tensors[i]);
    return to_copy[RMCP_NHWC] < to_copy[RMCP_NCHW] ? RMCP_NHWC : RMCP_NCHW;
}

static bool output_fits(const struct mi_conv_call *call, const struct mi_conv *conv)
{
    const struct mi_convolution *c = &call->convolution;
    for (int i = 0; i < c->dims; i++) {
        int64_t window = (conv->w.size[2 + i] - 1) * c->dilation[i] + 1;
        int64_t room = conv->x.size[2 + i] + 2 * (int64_t)c->pad[i] - window;
        if (room < 0 || room / c->stride[i] + 1 != conv->y.size[2 + i]) return false;
    }
    return conv->x.size[0] == conv->y.size[0] && conv->y.size[1] == conv->w.size[0];
}

miopenStatus_t mi_conv_translate(const struct mi_conv_call *call, struct mi_conv *out)
{
    const struct mi_convolution *c = &call->convolution;
    memset(out, 0, sizeof *out);
    out->transposed = c->mode == miopenTranspose;
    out->x = out->transposed ? call->y : call->x;
    out->y = out->transposed ? call->x : call->y;
    out->w = call->w;
    int dims = c->dims;
    if (out->x.dims != dims + 2 || out->w.dims != dims + 2 || out->y.dims != dims + 2)
        return mi_fail(miopenStatusBadParm,
                       "tensors of %d, %d and %d dimensions, a convolution of %d", out->x.dims,
                       out->w.dims, out->y.dims, dims);
    rmcp_conv *p = &out->key.problem.conv;
    if (out->x.type != out->w.type || out->x.type != out->y.type)
        return mi_fail(miopenStatusBadParm, "x, w and y have different types");
    if (out->x.cast_type >= 0 || out->w.cast_type >= 0 || out->y.cast_type >= 0 ||
        !mi_type(out->x.type, &p->type))
        return mi_fail(miopenStatusNotImplemented, "convolutions of data type %d",
                       (int)out->x.type);
    if (c->groups < 1 || out->x.size[1] != out->w.size[1] * c->groups || out->w.size[0] % c->groups)
        return mi_fail(miopenStatusBadParm, "%lld channels do not fit the filter and %d groups",
                       (long long)out->x.size[1], c->groups);
    if (!output_fits(call, out))
        return mi_fail(miopenStatusBadParm, "the output's size does not fit the convolution");
    p->struct_size = sizeof *p;
    p->dims = (uint32_t)dims;
    p->n = out->x.size[0];
    p->c = out->x.size[1];
    p->k = out->w.size[0];
    p->groups = c->groups;
    for (int i = 0; i < dims; i++) {
        p->input[i] = out->x.size[2 + i];
        p->filter[i] = out->w.size[2 + i];
        p->pad_begin[i] = p->pad_end[i] = c->pad[i];
        p->stride[i] = c->stride[i];
        p->dilation[i] = c->dilation[i];
    }
    p->layout = choose_layout(out);
    out->copy_x = !mi_tensor_is_packed(&out->x, (rmcp_layout)p->layout);
    out->copy_w = !mi_tensor_is_packed(&out->w, (rmcp_layout)p->layout);
    out->copy_y = !mi_tensor_is_packed(&out->y, (rmcp_layout)p->layout);
    out->key.operation = MI_OP_CONV;
    out->key.pass = call->pass;
    if (out->transposed && call->pass != RMCP_CONV_BACKWARD_WEIGHTS)
        out->key.pass =
            call->pass == RMCP_CONV_FORWARD ? RMCP_CONV_BACKWARD_DATA : RMCP_CONV_FORWARD;
    return miopenStatusSuccess;
}

/* The caller's workspace from the first place on that is aligned. */
static uint64_t aligned_workspace(const struct mi_conv_memory *memory, rmcp_memory *out)
{
    uint64_t skip = (256 - (uintptr_t)memory->workspace % 256) % 256;
    *out = (rmcp_memory){ NULL, 0 };
    if (!memory->workspace || memory->workspace_bytes <= skip) return 0;
    *out = (rmcp_memory){ (char *)memory->workspace + skip, 0 };
    return memory->workspace_bytes - skip;
}

static const struct mi_choice *choose(const struct mi_plans *plans, uint64_t id, int wanted,
                                      uint64_t room, miopenStatus_t *status)
{
    *status = miopenStatusSuccess;
    const struct mi_choice *fits = NULL;
    for (int i = 0; i < plans->n; i++) {
        const struct mi_choice *choice = &plans->choice[i];
        if (id && choice->id == id) {
            if (choice->workspace <= room) return choice;
            *status =
                mi_fail(miopenStatusUnknownError, "%llu bytes of workspace are needed, not %llu",
                        (unsigned long long)choice->workspace, (unsigned long long)room);
            return NULL;
        }
        if (!id && choice->workspace <= room && (!fits || (int)choice->algorithm == wanted))
            fits = choice;
    }
    if (id)
        *status = mi_fail(miopenStatusBadParm, "no solution %llu", (unsigned long long)id);
    else if (!fits)
        fits = &plans->choice[plans->n - 1]; /* with memory of the handle's own */
    return fits;
}

enum { ALIGN = 256 /* bytes: of what lies in a workspace */ };

/* One of x, w, y on its way: where the caller has it, where the engine finds it. */
struct operand {
    const struct mi_tensor *tensor;
    struct mi_tensor packed;
    rmcp_memory theirs, ours;
    bool copied, written;
};

miopenStatus_t mi_conv_execute(struct mi_handle *handle, struct mi_conv *conv, uint64_t id,
                               int wanted, const struct mi_conv_memory *memory)
{
    const struct mi_engine *e = handle->engine;
    handle->kernel_ms = 0;
    const struct mi_plans *plans;
    miopenStatus_t status = mi_plans_get(handle, &conv->key, &plans);
    if (status != miopenStatusSuccess) return status;
    rmcp_conv_tensors tensors = { .struct_size = sizeof tensors };
    uint64_t room = aligned_workspace(memory, &tensors.workspace);
    uint64_t given = memory->best ? UINT64_MAX : memory->workspace ? memory->workspace_bytes : 0;
    const struct mi_choice *choice = choose(plans, id, wanted, given, &status);
    if (!choice) return status;

    const void *x = conv->transposed ? memory->y : memory->x;
    const void *y = conv->transposed ? memory->x : memory->y;
    uint32_t pass = conv->key.pass;
    bool scaled = memory->alpha != 1 || memory->beta != 0;
    struct operand operand[] = {
        { .tensor = &conv->x, .theirs = { (void *)(uintptr_t)x, 0 }, .copied = conv->copy_x },
        { .tensor = &conv->w,
          .theirs = { (void *)(uintptr_t)memory->w, 0 },
          .copied = conv->copy_w },
        { .tensor = &conv->y, .theirs = { (void *)(uintptr_t)y, 0 }, .copied = conv->copy_y },
    };
    struct operand *result = &operand[pass == RMCP_CONV_FORWARD         ? 2
                                      : pass == RMCP_CONV_BACKWARD_DATA ? 0
                                                                        : 1];
    result->written = true;
    result->copied |= scaled;

    /* Workspace that is not aligned may turn out to be too small: then it is the handle's own. */
    uint64_t own = choice->workspace > room ? rmcp_round_up(choice->workspace, ALIGN) : 0,
             needed = own;
    for (int i = 0; i < 3; i++)
        if (operand[i].copied)
            needed += rmcp_round_up((uint64_t)mi_tensor_elements(operand[i].tensor) *
                                        mi_type_bytes(operand[i].tensor->type),
                                    ALIGN);
    rmcp_memory scratch;
    status = mi_handle_scratch(handle, needed, &scratch);
    if (status != miopenStatusSuccess) return status;
    uint64_t place = own;
    for (int i = 0; i < 3 && status == miopenStatusSuccess; i++) {
        struct operand *o = &operand[i];
        o->ours = o->theirs;
        if (!o->copied) continue;
        o->packed = mi_tensor_packed(o->tensor, (rmcp_layout)conv->key.problem.conv.layout);
        o->ours = (rmcp_memory){ scratch.base, scratch.offset + place };
        place += rmcp_round_up(
            (uint64_t)mi_tensor_elements(o->tensor) * mi_type_bytes(o->tensor->type), ALIGN);
        if (!o->written)
            status = mi_tensor_copy(handle, 1, o->tensor, o->theirs, 0, &o->packed, o->ours);
    }
    if (status != miopenStatusSuccess) return status;

    tensors.x = operand[0].ours;
    tensors.w = operand[1].ours;
    tensors.y = operand[2].ours;
    tensors.bias = (rmcp_memory){ (void *)(uintptr_t)memory->bias, 0 };
    tensors.workspace_bytes = choice->workspace;
    if (own) tensors.workspace = scratch;
    double seconds = 0;
    rmcp_status done =
        handle->profiling
            ? e->rmcp_conv_execute_timed(choice->plan, handle->stream, &tensors, &seconds)
            : e->rmcp_conv_execute(choice->plan, handle->stream, &tensors);
    handle->kernel_ms += (float)(seconds * 1e3);
    status = mi_status(done, "convolution");
    if (status == miopenStatusSuccess && result->copied)
        status = mi_tensor_copy(handle, memory->alpha, &result->packed, result->ours, memory->beta,
                                result->tensor, result->theirs);
    return status;
}
