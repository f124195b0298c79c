/* stream.c: launches that go element by element over several tensors. */
#include "engine/gpu/stream.h"

#include "base/round.h"
#include "engine/gpu/launch.h"

enum { UNIT_ITEMS = 2048 /* that keep a compute unit busy */, MOST_LAUNCHES = 1024 };

void rmcp_streams_begin(struct rmcp_streams *streams, uint32_t dims, const int64_t *size)
{
    *streams = (struct rmcp_streams){ .n_loops = dims };
    for (uint32_t d = 0; d < dims; d++) streams->loop[d].size = size[d];
}

void rmcp_streams_add(struct rmcp_streams *streams, const struct rmcp_form *form, unsigned slot,
                      const int64_t *stride, int64_t offset)
{
    const struct rmcp_form_tensor *tensor = &form->tensor[slot];
    const unsigned t = streams->n++;
    const bool absent = !tensor->dims;
    streams->tensor[t].slot = absent ? streams->tensor[0].slot : slot;
    streams->tensor[t].bytes = absent ? 1 : (unsigned)rmcp_type_bytes((rmcp_type)tensor->type);
    streams->tensor[t].absent = absent;
    streams->tensor[t].offset = offset;
    for (unsigned d = 0; d < streams->n_loops; d++)
        streams->loop[d].stride[t] = stride ? stride[d] : absent ? 0 : tensor->stride[d];
}

/* Whether loop `outer` goes on where `inner` ends, in all tensors. */
static bool one(const struct rmcp_streams *streams, const struct rmcp_stream_loop *outer,
                const struct rmcp_stream_loop *inner)
{
    for (unsigned t = 0; t < streams->n; t++)
        if (outer->stride[t] != inner->size * inner->stride[t]) return false;
    return true;
}

/* Leave out loops that do not turn, sort by the first tensor's strides, join what is one. */
static void simplify(struct rmcp_streams *streams)
{
    struct rmcp_stream_loop loop[RMCP_FORM_DIMS];
    unsigned n = 0;
    for (unsigned d = 0; d < streams->n_loops; d++) {
        if (streams->loop[d].size == 1) continue;
        unsigned at = n++;
        for (; at > 0 && loop[at - 1].stride[0] < streams->loop[d].stride[0]; at--)
            loop[at] = loop[at - 1];
        loop[at] = streams->loop[d];
    }
    unsigned joined = 0;
    for (unsigned i = 0; i < n; i++) {
        if (joined && one(streams, &streams->loop[joined - 1], &loop[i])) {
            loop[i].size *= streams->loop[joined - 1].size;
            joined--;
        }
        streams->loop[joined++] = loop[i];
    }
    if (!joined) streams->loop[joined++] = (struct rmcp_stream_loop){ .size = 1 };
    streams->n_loops = joined;
}

/* The loop with the widest reach in one tensor, when a launch spans too many of its bytes; else -1.
 */
static int too_wide(const struct rmcp_streams *streams)
{
    for (unsigned t = 0; t < streams->n; t++) {
        const int64_t most = ((INT64_C(1) << 32) - 64) / streams->tensor[t].bytes;
        int64_t span = 1, widest = 0;
        int found = -1;
        for (unsigned i = 0; i < streams->n_loops; i++) {
            const int64_t reach = (streams->block[i] - 1) * streams->loop[i].stride[t];
            span += reach;
            if (reach > widest) widest = reach, found = (int)i;
        }
        if (span > most) return found;
    }
    return -1;
}

static int64_t elements(const struct rmcp_streams *streams)
{
    int64_t product = 1;
    for (unsigned i = 0; i < streams->n_loops; i++) product *= streams->block[i];
    return product;
}

/* Memory is read in sectors of 32 bytes; of what is fetched beside an element about half is found
 * in a cache when its turn comes. */
double rmcp_streams_seconds(const struct rmcp_streams *streams, const struct rmcp_request *request)
{
    double bytes = request->operation->bytes(request->problem), turns = 1;
    const struct rmcp_stream_loop *inner = &streams->loop[streams->n_loops - 1];
    for (unsigned i = 0; i < streams->n_loops; i++) turns *= (double)streams->loop[i].size;
    for (unsigned t = 0; t < streams->n; t++) {
        const double element = streams->tensor[t].bytes, apart = (double)inner->stride[t] * element;
        if (inner->stride[t] > 1) bytes += turns * ((apart < 32 ? apart : 32) - element) / 2;
    }
    return bytes / request->caps->bytes_per_second;
}

void rmcp_streams_cut(struct rmcp_streams *streams, const struct rmcp_request *request)
{
    simplify(streams);
    if (!streams->lanes) streams->lanes = 16 / streams->tensor[0].bytes;
    for (unsigned i = 0; i < streams->n_loops; i++) streams->block[i] = streams->loop[i].size;
    const int64_t limit = INT64_C(1) << 29;
    const int64_t busy = (int64_t)request->caps->compute_units * UNIT_ITEMS * streams->lanes;
    int64_t most =
        rmcp_launch_quota(elements(streams), busy, rmcp_streams_seconds(streams, request));
    if (most > limit) most = limit;
    for (int i; (i = too_wide(streams)) >= 0;)
        streams->block[i] = rmcp_ceil_divide(streams->block[i], 2);
    for (unsigned i = 0; elements(streams) > most;) {
        if (streams->block[i] == 1)
            i++;
        else
            streams->block[i] = rmcp_ceil_divide(streams->block[i], 2);
    }
    streams->launches = 1;
    for (unsigned i = 0; i < streams->n_loops; i++)
        streams->launches *= rmcp_ceil_divide(streams->loop[i].size, streams->block[i]);
}

const char *rmcp_streams_refuse(const struct rmcp_streams *streams)
{
    /* Of a row that is cut pieces begin at even elements, as all but tiny ones do. */
    if (streams->steady && streams->block[streams->n_loops - 1] % 2 && streams->launches > 1)
        return "rows so long that a launch would tear pairs";
    return streams->launches > MOST_LAUNCHES
               ? "the tensors reach so far that it would take more than 1024 launches"
               : NULL;
}

static struct rmcp_stream arguments(const struct rmcp_streams *streams, int64_t index,
                                    int64_t *first)
{
    int64_t size[RMCP_FORM_DIMS];
    for (unsigned t = 0; t < streams->n; t++) first[t] = streams->tensor[t].offset;
    for (unsigned i = streams->n_loops; i-- > 0;) {
        const struct rmcp_stream_loop *loop = &streams->loop[i];
        const int64_t blocks = rmcp_ceil_divide(loop->size, streams->block[i]);
        const int64_t begin = index % blocks * streams->block[i];
        index /= blocks;
        size[i] = loop->size - begin < streams->block[i] ? loop->size - begin : streams->block[i];
        for (unsigned t = 0; t < streams->n; t++) first[t] += begin * loop->stride[t];
    }
    const unsigned inner = streams->n_loops - 1;
    const int64_t lanes = streams->lanes, length = size[inner];
    struct rmcp_stream s = {
        .n_outer = inner,
        .length = (unsigned)length,
        /* rows so long that the chunks at their ends do not count */
        .align = streams->loop[inner].stride[0] == 1 && length >= 16 * lanes && !streams->steady,
    };
    const int64_t chunks = rmcp_ceil_divide(length + (s.align ? lanes - 1 : 0), lanes);
    int64_t count = chunks;
    s.chunks = rmcp_divider_of(chunks);
    for (unsigned i = 0; i < inner; i++) {
        const struct rmcp_stream_loop *loop = &streams->loop[inner - 1 - i];
        s.outer[i].size = rmcp_divider_of(size[inner - 1 - i]);
        for (unsigned t = 0; t < streams->n; t++) s.outer[i].step[t] = (unsigned)loop->stride[t];
        count *= size[inner - 1 - i];
    }
    for (unsigned t = 0; t < streams->n; t++) s.step[t] = (unsigned)streams->loop[inner].stride[t];
    s.count = (unsigned)count;
    return s;
}

rmcp_status rmcp_streams_append(const struct rmcp_streams *streams, int64_t index,
                                struct rmcp_launch_list *list, const char *stem, rmcp_type type,
                                struct rmcp_stream_launch *out)
{
    out->args = arguments(streams, index, out->first);
    const int64_t items =
        rmcp_ceil_divide(out->args.count, streams->chunks ? streams->chunks : RMCP_STREAM_CHUNKS);
    const rmcp_status status = rmcp_kernel_append(list, stem, type, "", items, &out->kernel);
    if (status) return status;
    for (unsigned t = 0; t < streams->n; t++) {
        const uint64_t begin = (uint64_t)out->first[t] * streams->tensor[t].bytes;
        rmcp_arg_memory(out->kernel, streams->tensor[t].slot,
                        streams->tensor[t].absent ? 0 : begin);
    }
    return RMCP_OK;
}

rmcp_status rmcp_streams_emit(const struct rmcp_streams *streams, struct rmcp_launch_list *list,
                              const char *stem, rmcp_type type, const void *math, size_t bytes)
{
    for (int64_t i = 0; i < streams->launches; i++) {
        struct rmcp_stream_launch launch;
        const rmcp_status status = rmcp_streams_append(streams, i, list, stem, type, &launch);
        if (status) return status;
        rmcp_arg_value(launch.kernel, &launch.args, sizeof launch.args);
        rmcp_arg_value(launch.kernel, math, bytes);
    }
    return RMCP_OK;
}

double rmcp_streams_cost(const struct rmcp_streams *streams, const struct rmcp_request *request)
{
    return rmcp_streams_seconds(streams, request) +
           (double)streams->launches * request->caps->launch_seconds;
}
