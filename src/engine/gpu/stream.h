/* stream.h: launches that go element by element over several tensors, whatever their strides: cut
 * so that 32 bits hold every offset in bytes and that none runs long (engine/kernels/stream.h). */
#ifndef RMCP_GPU_STREAM_H
#define RMCP_GPU_STREAM_H

#include "engine/core/algo.h"
#include "engine/core/form.h"
#include "engine/kernels/stream_args.h"

struct rmcp_stream_loop {
    int64_t size, stride[RMCP_STREAMS];
};

/* One computation over `n` tensors of one size; strides of 0 repeat elements. Zero it first. */
struct rmcp_streams {
    unsigned n, n_loops;
    struct {
        unsigned slot;
        unsigned bytes; /* of an element                                */
        bool absent;    /* only its places count                        */
        int64_t offset; /* of its first element in the slot, in elements */
    } tensor[RMCP_STREAMS];
    struct rmcp_stream_loop loop[RMCP_FORM_DIMS]; /* slowest first */
    int64_t block[RMCP_FORM_DIMS];                /* turns of each loop in one launch */
    int64_t launches;
    unsigned lanes;  /* elements of a chunk; 0: 16 bytes of the first tensor */
    unsigned chunks; /* of a work-item; 0: RMCP_STREAM_CHUNKS */
    bool steady;     /* chunks must begin at multiples of their length: elements are pairs */
};

/* Begin with sizes; then add tensors, the first of which is written. One that the problem does not
 * use is added, too; the kernel must not touch it. `stride` NULL: the tensor's own. */
void rmcp_streams_begin(struct rmcp_streams *streams, uint32_t dims, const int64_t *size);
void rmcp_streams_add(struct rmcp_streams *streams, const struct rmcp_form *form, unsigned slot,
                      const int64_t *stride, int64_t offset);

/* Join and sort the loops, and cut them. */
void rmcp_streams_cut(struct rmcp_streams *streams, const struct rmcp_request *request);

/* NULL when the number of launches is reasonable, else the reason why not. */
const char *rmcp_streams_refuse(const struct rmcp_streams *streams);

/* One launch: its argument, and where each tensor's part begins, in elements. */
struct rmcp_stream_launch {
    struct rmcp_stream args;
    int64_t first[RMCP_STREAMS];
    struct rmcp_kernel_launch *kernel;
};

/* Append launch number `index` of kernel `stem`_`type`, whose work-items take RMCP_STREAM_CHUNKS
 * chunks each, with the memory of the tensors; other arguments, `args` among them, come behind. */
rmcp_status rmcp_streams_append(const struct rmcp_streams *streams, int64_t index,
                                struct rmcp_launch_list *list, const char *stem, rmcp_type type,
                                struct rmcp_stream_launch *out);

/* All launches of a kernel whose arguments are the tensors, the struct and `math`. */
rmcp_status rmcp_streams_emit(const struct rmcp_streams *streams, struct rmcp_launch_list *list,
                              const char *stem, rmcp_type type, const void *math, size_t bytes);

/* Seconds to read and write everything once, with what is fetched in vain where neighbours lie
 * apart. */
double rmcp_streams_seconds(const struct rmcp_streams *streams, const struct rmcp_request *request);

/* And with the launches. */
double rmcp_streams_cost(const struct rmcp_streams *streams, const struct rmcp_request *request);

#endif
