/* onednn.c: the oneDNN library, loaded at run time, releases 2.x and 3.x behind one face. */
#include "engine/onednn/onednn.h"

#include "base/dynlib.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct rmcp_symbol symbols[] = {
#define F(name) { #name, offsetof(struct rmcp_onednn, name), false },
    RMCP_ONEDNN_COMMON(F) RMCP_ONEDNN_OWN(F)
#undef F
        { "omp_set_num_threads", offsetof(struct rmcp_onednn, omp_set_num_threads), true },
    { "omp_get_max_threads", offsetof(struct rmcp_onednn, omp_get_max_threads), true },
    { NULL, 0, false },
};

enum { OTHER_MAJOR = DNNL_VERSION_MAJOR >= 3 ? 2 : 3, MOST_MINOR = 20, N_NAMES = MOST_MINOR + 3 };

/* Names of one major release's library: the one found at build time where it is given, the usual
 * one, and those with a minor release (Debian's), newest first. Ends with NULL. */
struct names {
    char text[N_NAMES][24];
    const char *list[N_NAMES + 1];
};

static void list_names(struct names *names, const char *first, int major)
{
    size_t n = 0;
    if (first) snprintf(names->text[n++], sizeof *names->text, "%s", first);
    snprintf(names->text[n++], sizeof *names->text, "libdnnl.so.%d", major);
    for (int minor = MOST_MINOR; minor >= 0; minor--)
        snprintf(names->text[n++], sizeof *names->text, "libdnnl.so.%d.%d", major, minor);
    for (size_t i = 0; i < n; i++) names->list[i] = names->text[i];
    names->list[n] = NULL;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct rmcp_onednn library;
static bool loaded;
static char load_error[160];

/* Some hypervisors announce AMX but hide the processor's description of its tiles (CPUID leaf 1D).
 * oneDNN then makes tiles of no rows, and its AMX kernels stop with an illegal instruction. */
static bool amx_is_broken(void)
{
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 24 & 1)) return false; /* no AMX */
    return !__get_cpuid_count(0x1d, 1, &a, &b, &c, &d) || !b || !c;
#else
    return false;
#endif
}

/* There may be one that we cannot use. */
static void explain_missing(void)
{
    static const struct rmcp_symbol version[] = { { "dnnl_version", 0, false },
                                                  { NULL, 0, false } };
    struct names others;
    char ignored[8];
    const dnnl_version_t *(*get_version)(void) = NULL;
    list_names(&others, NULL, OTHER_MAJOR);
    void *other = rmcp_dynlib_open(others.list, version, &get_version, ignored, sizeof ignored);
    if (other)
        snprintf(load_error, sizeof load_error,
                 "this librmcp was built for oneDNN %d, and here is oneDNN %d.%d, whose interface "
                 "differs",
                 DNNL_VERSION_MAJOR, get_version()->major, get_version()->minor);
    else
        snprintf(load_error, sizeof load_error, "oneDNN is not installed: there is no %s",
                 RMCP_ONEDNN_SONAME);
    rmcp_dynlib_close(other);
}

static void load(void)
{
    char why[128];
    struct names names;
    list_names(&names, RMCP_ONEDNN_SONAME, DNNL_VERSION_MAJOR);
    void *handle = rmcp_dynlib_open(names.list, symbols, &library, why, sizeof why);
    if (!handle) {
        explain_missing();
        return;
    }
    library.amx_is_broken = amx_is_broken();
    const int major = library.dnnl_version()->major;
    if (major != DNNL_VERSION_MAJOR)
        snprintf(load_error, sizeof load_error, "oneDNN is release %d.x, built for %d.x", major,
                 DNNL_VERSION_MAJOR);
    else if (library.dnnl_engine_create(&library.engine, dnnl_cpu, 0))
        snprintf(load_error, sizeof load_error, "oneDNN cannot use this processor");
    else
        loaded = true; /* and kept to the end: the engine belongs to the process */
    if (!loaded) rmcp_dynlib_close(handle);
}

const struct rmcp_onednn *rmcp_onednn_get(const char **why)
{
    pthread_once(&once, load);
    if (why) *why = load_error;
    return loaded ? &library : NULL;
}

const char *rmcp_onednn_isa(const struct rmcp_onednn *dnn)
{
    switch (dnn->dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41: return "sse41";
    case dnnl_cpu_isa_avx: return "avx";
    case dnnl_cpu_isa_avx2: return "avx2";
    case dnnl_cpu_isa_avx2_vnni: return "avx2_vnni";
    case dnnl_cpu_isa_avx512_core: return "avx512_core";
    case dnnl_cpu_isa_avx512_core_vnni: return "avx512_core_vnni";
    case dnnl_cpu_isa_avx512_core_bf16: return "avx512_core_bf16";
    case dnnl_cpu_isa_avx512_core_amx: return "avx512_core_amx";
#if DNNL_VERSION_MAJOR >= 3
    case dnnl_cpu_isa_avx2_vnni_2: return "avx2_vnni_2";
    case dnnl_cpu_isa_avx512_core_fp16: return "avx512_core_fp16";
    case dnnl_cpu_isa_avx512_core_amx_fp16: return "avx512_core_amx_fp16";
#endif
    default: return "";
    }
}

/* Whether a kernel that the library offers must be passed over for its next one. */
static bool must_skip(const struct rmcp_onednn *dnn, const_dnnl_primitive_desc_t desc)
{
    const char *name = NULL;
    if (!dnn->amx_is_broken ||
        dnn->dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name) || !name)
        return false;
    return strstr(name, "amx") != NULL;
}

/* ---- where 2.x and 3.x differ ---- */

#if DNNL_VERSION_MAJOR >= 3

rmcp_onednn_md rmcp_onednn_desc_get(const struct rmcp_onednn_desc *desc)
{
    return desc->desc;
}

dnnl_status_t rmcp_onednn_desc_init(const struct rmcp_onednn *dnn, struct rmcp_onednn_desc *desc,
                                    int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type,
                                    const dnnl_dim_t *strides)
{
    return strides
               ? dnn->dnnl_memory_desc_create_with_strides(&desc->desc, n_dims, dims, type, strides)
               : dnn->dnnl_memory_desc_create_with_tag(&desc->desc, n_dims, dims, type,
                                                       dnnl_format_tag_any);
}

void rmcp_onednn_desc_deinit(const struct rmcp_onednn *dnn, struct rmcp_onednn_desc *desc)
{
    if (desc->desc) dnn->dnnl_memory_desc_destroy(desc->desc);
    desc->desc = NULL;
}

dnnl_status_t rmcp_onednn_first_usable(const struct rmcp_onednn *dnn, dnnl_status_t status,
                                       dnnl_primitive_desc_t *desc)
{
    while (!status && must_skip(dnn, *desc)) status = dnn->dnnl_primitive_desc_next_impl(*desc);
    if (status && *desc) {
        dnn->dnnl_primitive_desc_destroy(*desc);
        *desc = NULL;
    }
    return status == dnnl_last_impl_reached ? dnnl_unimplemented : status;
}

dnnl_status_t rmcp_onednn_append_activation(const struct rmcp_onednn *dnn, dnnl_post_ops_t ops,
                                            dnnl_alg_kind_t kind, float alpha, float beta)
{
    return dnn->dnnl_post_ops_append_eltwise(ops, kind, alpha, beta);
}

#else

rmcp_onednn_md rmcp_onednn_desc_get(const struct rmcp_onednn_desc *desc)
{
    return &desc->desc;
}

dnnl_status_t rmcp_onednn_desc_init(const struct rmcp_onednn *dnn, struct rmcp_onednn_desc *desc,
                                    int n_dims, const dnnl_dim_t *dims, dnnl_data_type_t type,
                                    const dnnl_dim_t *strides)
{
    return strides ? dnn->dnnl_memory_desc_init_by_strides(&desc->desc, n_dims, dims, type, strides)
                   : dnn->dnnl_memory_desc_init_by_tag(&desc->desc, n_dims, dims, type,
                                                       dnnl_format_tag_any);
}

void rmcp_onednn_desc_deinit(const struct rmcp_onednn *dnn, struct rmcp_onednn_desc *desc)
{
    (void)dnn, (void)desc;
}

dnnl_status_t rmcp_onednn_first_usable(const struct rmcp_onednn *dnn, const_dnnl_op_desc_t op,
                                       const_dnnl_primitive_attr_t attr,
                                       const_dnnl_primitive_desc_t hint,
                                       dnnl_primitive_desc_t *desc)
{
    dnnl_primitive_desc_iterator_t iterator = NULL;
    dnnl_status_t status =
        dnn->dnnl_primitive_desc_iterator_create(&iterator, op, attr, dnn->engine, hint);
    while (!status) {
        *desc = dnn->dnnl_primitive_desc_iterator_fetch(iterator);
        if (*desc && !must_skip(dnn, *desc)) break;
        if (!*desc) {
            status = dnnl_out_of_memory;
            break;
        }
        dnn->dnnl_primitive_desc_destroy(*desc);
        *desc = NULL;
        status = dnn->dnnl_primitive_desc_iterator_next(iterator);
    }
    if (iterator) dnn->dnnl_primitive_desc_iterator_destroy(iterator);
    return status == dnnl_iterator_ends ? dnnl_unimplemented : status;
}

dnnl_status_t rmcp_onednn_append_activation(const struct rmcp_onednn *dnn, dnnl_post_ops_t ops,
                                            dnnl_alg_kind_t kind, float alpha, float beta)
{
    return dnn->dnnl_post_ops_append_eltwise(ops, 1.0f, kind, alpha, beta);
}

#endif
