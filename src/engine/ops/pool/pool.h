/* pool.h: pooling as an operation in table form (engine/core/form.h): the largest or the mean
 * element of each window, and the gradients of both. */
#ifndef RMCP_OPS_POOL_H
#define RMCP_OPS_POOL_H

#include "engine/core/form.h"

enum { RMCP_POOL_X, RMCP_POOL_Y, RMCP_POOL_INDEX, RMCP_POOL_DY, RMCP_POOL_DX };

/* A problem with three spatial dimensions, whatever it has; those in front that are not there
 * are 1. Tensors have five strides, in the order n c d h w, 0 where a dimension is not there. */
struct rmcp_pool {
    bool backward;
    bool largest;   /* else the mean                                                      */
    bool inclusive; /* the mean counts the padding                                        */
    bool indexed;   /* there are indices                                                  */
    bool image;     /* indices count in the image; else in the window                     */
    int64_t n, c;
    int64_t in[3], out[3], window[3], stride[3], pad[3];
    int64_t taps;    /* elements of a window                                               */
    int64_t seen;    /* of these, no more than the image has                               */
    int64_t overlap; /* windows that one element may be in                                 */
    double alpha, beta;
};

struct rmcp_pool rmcp_pool_of(const struct rmcp_form *form);

/* The five strides of a tensor. */
void rmcp_pool_strides(const struct rmcp_form_tensor *tensor, int64_t strides[static 5]);

/* Where the window of output `o` begins and ends in dimension d, without the padding; empty when
 * first >= end. */
struct rmcp_pool_range {
    int64_t first, end;
};
struct rmcp_pool_range rmcp_pool_range(const struct rmcp_pool *pool, int d, int64_t o);

/* The rules' evaluate. */
rmcp_status rmcp_pool_evaluate(const struct rmcp_form *form, const struct rmcp_form_values *values);

extern const struct rmcp_operation rmcp_operation_pool;
extern const struct rmcp_algo *const rmcp_algos_pool[];
extern const struct rmcp_algo rmcp_algo_pool_strips, rmcp_algo_pool_wide, rmcp_algo_pool_gather,
    rmcp_algo_pool_tiles, rmcp_algo_pool_back, rmcp_algo_pool_even;

#endif
