/* packed: softmax on a GPU along lines that lie one behind the other, at the memory's speed. */
#include "gpu/launch.h"
#include "ops/softmax/kernels/packed_args.h"
#include "ops/softmax/softmax.h"

enum { THREADS = 256, UNIT_GROUPS = 8 };

static bool is_forward(const struct rmcp_form *form)
{
    return form->word[RMCP_SOFTMAX_PASS] == RMCP_SOFTMAX_FORWARD;
}

/* Elements of a line. */
static int64_t length_of(const struct rmcp_form *form)
{
    int64_t length = 1;
    for (unsigned d = 0; d < form->dims; d++)
        if (rmcp_softmax_along(form, d)) length *= form->size[d];
    return length;
}

/* Work-items of a line: neighbours read neighbours, so short lines have few. */
static int64_t lanes_of(int64_t length)
{
    int64_t lanes = 1;
    while (lanes < THREADS && lanes * 4 < length) lanes *= 2;
    return lanes;
}

static const char *refuse(const struct rmcp_request *request)
{
    const struct rmcp_form *form = request->problem;
    for (unsigned slot = 0; form->rules->tensors[slot]; slot++)
        if (!rmcp_form_packed(&form->tensor[slot])) return "a tensor has gaps or another order";
    for (unsigned d = 2; d < form->dims; d++)
        if (!rmcp_softmax_along(form, d) && form->size[d] > 1)
            return "elements of a line are not neighbours";
    if (length_of(form) > INT32_MAX / 2) return "a line has 2^30 elements or more";
    if (form->tensor[is_forward(form) ? RMCP_SOFTMAX_Y : RMCP_SOFTMAX_DX].elements /
            length_of(form) >
        INT32_MAX)
        return "2^31 lines or more";
    return NULL;
}

/* A line is one workgroup's: few long ones leave compute units idle. */
static double seconds(const struct rmcp_request *request)
{
    const struct rmcp_form *form = request->problem;
    const struct rmcp_caps *caps = request->caps;
    const int64_t length = length_of(form), lanes = lanes_of(length);
    const double bytes =
        request->operation->bytes(form) * (length <= RMCP_SOFTMAX_KEEP * lanes ? 1 : 1.5);
    const double groups =
        (double)form->tensor[is_forward(form) ? RMCP_SOFTMAX_Y : RMCP_SOFTMAX_DX].elements /
        (double)length / (double)(THREADS / lanes);
    const double busy =
        groups / ((double)(caps->compute_units ? caps->compute_units : 1) * UNIT_GROUPS);
    return bytes / caps->bytes_per_second / (busy < 1 ? busy : 1);
}

static double cost(const struct rmcp_request *request)
{
    return seconds(request) + request->caps->launch_seconds;
}

static rmcp_status emit(const struct rmcp_request *request, struct rmcp_launch_list *list)
{
    const struct rmcp_form *form = request->problem;
    const bool forward = is_forward(form);
    const int64_t length = length_of(form), lanes = lanes_of(length);
    const int64_t lines =
        form->tensor[forward ? RMCP_SOFTMAX_Y : RMCP_SOFTMAX_DX].elements / length;
    const int64_t quota = rmcp_launch_quota(
        lines, (int64_t)request->caps->compute_units * UNIT_GROUPS * THREADS / lanes,
        seconds(request));
    const uint64_t line_bytes = (uint64_t)length * rmcp_type_bytes((rmcp_type)form->type);
    rmcp_status status = RMCP_OK;
    for (int64_t first = 0; first < lines && !status; first += quota) {
        const int64_t now = lines - first < quota ? lines - first : quota;
        const struct rmcp_softmax_packed args = {
            .lines = (unsigned)now,
            .length = (unsigned)length,
            .lanes = (unsigned)lanes,
            .log = rmcp_softmax_log(form),
            .alpha = (float)form->number[RMCP_SOFTMAX_ALPHA],
            .beta = (float)form->number[RMCP_SOFTMAX_BETA],
        };
        static const unsigned slots[2][3] = { { RMCP_SOFTMAX_Y, RMCP_SOFTMAX_DY, RMCP_SOFTMAX_DX },
                                              { RMCP_SOFTMAX_X, RMCP_SOFTMAX_Y } };
        struct rmcp_kernel_launch *launch = NULL;
        status = rmcp_kernel_append(list, "softmax_packed", (rmcp_type)form->type,
                                    forward ? "_forward" : "_backward", now * lanes, &launch);
        if (status) break;
        for (unsigned t = 0; t < (forward ? 2u : 3u); t++)
            rmcp_arg_memory(launch, slots[forward][t], (uint64_t)first * line_bytes);
        rmcp_arg_value(launch, &args, sizeof args);
    }
    return status;
}

extern const struct rmcp_algo rmcp_algo_softmax_packed;
const struct rmcp_algo rmcp_algo_softmax_packed = {
    .name = "packed",
    .version = 1,
    .kind = RMCP_LAUNCH_KERNEL,
    .refuse = refuse,
    .cost = cost,
    .emit = emit,
};
