/* packed_args.h: what packed.cl takes by value, the same text for C and OpenCL C. */
#ifndef RMCP_SOFTMAX_KERNELS_PACKED_ARGS_H
#define RMCP_SOFTMAX_KERNELS_PACKED_ARGS_H

#define RMCP_SOFTMAX_KEEP 16 /* elements of a work-item in registers */

struct rmcp_softmax_packed {
    unsigned lines, length;
    unsigned lanes; /* work-items of a line: a power of two, at most a workgroup */
    unsigned log;
    float alpha, beta;
};

#endif
