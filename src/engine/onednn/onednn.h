/* onednn.h: the oneDNN library, loaded at run time, releases 2.x and 3.x behind one face.
 *
 * Compiled against the headers of one major release, which then loads libraries of that release.
 * What differs between the two (memory descriptors, implementations of a primitive, one argument
 * of a post-operation) is hidden by the functions at the end. */
#ifndef RMCP_ONEDNN_H
#define RMCP_ONEDNN_H

#include <oneapi/dnnl/dnnl.h>
#include <stdbool.h>

/* One list: F(name) for functions of both releases, F2/F3 for those of one. */
#define RMCP_ONEDNN_COMMON(F)                                                                      \
    F(dnnl_version)                                                                                \
    F(dnnl_get_effective_cpu_isa)                                                                  \
    F(dnnl_engine_create)                                                                          \
    F(dnnl_stream_create)                                                                          \
    F(dnnl_stream_destroy)                                                                         \
    F(dnnl_stream_wait)                                                                            \
    F(dnnl_memory_create)                                                                          \
    F(dnnl_memory_destroy)                                                                         \
    F(dnnl_memory_set_data_handle)                                                                 \
    F(dnnl_memory_desc_equal)                                                                      \
    F(dnnl_memory_desc_get_size)                                                                   \
    F(dnnl_primitive_attr_create)                                                                  \
    F(dnnl_primitive_attr_destroy)                                                                 \
    F(dnnl_primitive_attr_set_scratchpad_mode)                                                     \
    F(dnnl_primitive_attr_set_post_ops)                                                            \
    F(dnnl_post_ops_create)                                                                        \
    F(dnnl_post_ops_destroy)                                                                       \
    F(dnnl_post_ops_append_eltwise)                                                                \
    F(dnnl_primitive_desc_destroy)                                                                 \
    F(dnnl_primitive_desc_query)                                                                   \
    F(dnnl_primitive_desc_query_md)                                                                \
    F(dnnl_reorder_primitive_desc_create)                                                          \
    F(dnnl_primitive_create)                                                                       \
    F(dnnl_primitive_execute)                                                                      \
    F(dnnl_primitive_destroy)                                                                      \
    F(dnnl_sgemm)
#if DNNL_VERSION_MAJOR >= 3
#define RMCP_ONEDNN_OWN(F)                                                                         \
    F(dnnl_memory_desc_create_with_strides)                                                        \
    F(dnnl_memory_desc_create_with_tag)                                                            \
    F(dnnl_memory_desc_destroy)                                                                    \
    F(dnnl_primitive_desc_next_impl)                                                               \
    F(dnnl_convolution_forward_primitive_desc_create)                                              \
    F(dnnl_convolution_backward_data_primitive_desc_create)                                        \
    F(dnnl_convolution_backward_weights_primitive_desc_create)
typedef const_dnnl_memory_desc_t rmcp_onednn_md; /* as the library's functions take it */
#else
#define RMCP_ONEDNN_OWN(F)                                                                         \
    F(dnnl_memory_desc_init_by_strides)                                                            \
    F(dnnl_memory_desc_init_by_tag)                                                                \
    F(dnnl_dilated_convolution_forward_desc_init)                                                  \
    F(dnnl_dilated_convolution_backward_data_desc_init)                                            \
    F(dnnl_dilated_convolution_backward_weights_desc_init)                                         \
    F(dnnl_primitive_desc_iterator_create)                                                         \
    F(dnnl_primitive_desc_iterator_next)                                                           \
    F(dnnl_primitive_desc_iterator_fetch)                                                          \
    F(dnnl_primitive_desc_iterator_destroy)
typedef const dnnl_memory_desc_t *rmcp_onednn_md;
#endif

struct rmcp_onednn {
#define F(name) __typeof__(name) *name;
    RMCP_ONEDNN_COMMON(F)
    RMCP_ONEDNN_OWN(F)
#undef F
    /* Of the OpenMP runtime that the library itself uses; NULL when it uses another one. */
    void (*omp_set_num_threads)(int threads);
    int (*omp_get_max_threads)(void);
    dnnl_engine_t engine;
    bool amx_is_broken; /* AMX kernels of the library would end in an illegal instruction */
};

/* The library, loaded on first use and kept; NULL with the reason in `*why` (static storage). */
const struct rmcp_onednn *rmcp_onednn_get(const char **why);

/* A memory descriptor of ours. */
struct rmcp_onednn_desc {
    dnnl_memory_desc_t desc;
};
rmcp_onednn_md rmcp_onednn_desc_get(const struct rmcp_onednn_desc *desc);
/* `strides` NULL: the library may choose the format. */
dnnl_status_t rmcp_onednn_desc_init(const struct rmcp_onednn *dnn, struct rmcp_onednn_desc *desc,
                                    int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type,
                                    const dnnl_dim_t *strides);
void rmcp_onednn_desc_deinit(const struct rmcp_onednn *dnn, struct rmcp_onednn_desc *desc);

/* Descriptors of primitives come with a list of implementations, of which some must not be used:
 * the first one that may be. On error *desc is NULL; dnnl_unimplemented when there is none. */
#if DNNL_VERSION_MAJOR >= 3
/* `status` is that of making *desc. */
dnnl_status_t rmcp_onednn_first_usable(const struct rmcp_onednn *dnn, dnnl_status_t status,
                                       dnnl_primitive_desc_t *desc);
#else
dnnl_status_t rmcp_onednn_first_usable(const struct rmcp_onednn *dnn, const_dnnl_op_desc_t op,
                                       const_dnnl_primitive_attr_t attr,
                                       const_dnnl_primitive_desc_t hint,
                                       dnnl_primitive_desc_t *desc);
#endif

dnnl_status_t rmcp_onednn_append_activation(const struct rmcp_onednn *dnn, dnnl_post_ops_t ops,
                                            dnnl_alg_kind_t kind, float alpha, float beta);

/* "avx512_core_bf16", or "" when unknown. */
const char *rmcp_onednn_isa(const struct rmcp_onednn *dnn);

#endif
