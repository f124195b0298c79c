/* norms.c: problems from text, and executing them on host arrays. */
#include "norms.h"

#include "base/convert.h"

#include <stdlib.h>
#include <string.h>

struct rmcp_norm norm_of(const char *text)
{
    rmcp_batchnorm problem = { .struct_size = sizeof problem };
    struct rmcp_norm norm;
    int pass = -1;
    if (rmcp_batchnorm_parse(text, &problem, &pass)) fail_msg("%s", rmcp_last_error());
    if (rmcp_norm_init(&norm, &problem, pass)) fail_msg("%s", rmcp_last_error());
    return norm;
}

void norm_arrays_init(struct norm_arrays *a, const struct rmcp_norm *norm, enum rmcp_data data,
                      uint64_t seed)
{
    for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++) {
        const struct rmcp_slot s = rmcp_norm_slot(norm, slot);
        a->n[slot] = s.elements;
        a->of[slot] = malloc((size_t)(s.elements + 1) * sizeof(float));
        void *host = malloc((size_t)(s.elements + 1) * sizeof(float));
        assert_true(a->of[slot] && host);
        if (s.read)
            rmcp_norm_fill(norm, slot, data, seed, host);
        else
            memset(host, 0xff, (size_t)s.elements * rmcp_type_bytes(s.type));
        for (int64_t i = 0; i < s.elements; i++) a->of[slot][i] = rmcp_load(host, s.type, i);
        free(host);
    }
}

void norm_arrays_deinit(struct norm_arrays *a)
{
    for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++) free(a->of[slot]);
}

rmcp_memory *norm_memory(rmcp_batchnorm_tensors *t, unsigned slot)
{
    rmcp_memory *const all[RMCP_NORM_SLOTS] = {
        [RMCP_NORM_X] = &t->x,
        [RMCP_NORM_Y] = &t->y,
        [RMCP_NORM_DX] = &t->dx,
        [RMCP_NORM_DY] = &t->dy,
        [RMCP_NORM_SCALE] = &t->scale,
        [RMCP_NORM_BIAS] = &t->bias,
        [RMCP_NORM_DSCALE] = &t->dscale,
        [RMCP_NORM_DBIAS] = &t->dbias,
        [RMCP_NORM_RUNNING_MEAN] = &t->running_mean,
        [RMCP_NORM_RUNNING_VARIANCE] = &t->running_variance,
        [RMCP_NORM_SAVED_MEAN] = &t->saved_mean,
        [RMCP_NORM_SAVED_INVERSE] = &t->saved_inverse,
    };
    return all[slot];
}

static void copy(rmcp_device *device, const struct rmcp_norm *norm, struct norm_arrays *a,
                 rmcp_batchnorm_tensors *t, unsigned slot, bool back)
{
    const struct rmcp_slot s = rmcp_norm_slot(norm, slot);
    const uint64_t bytes = (uint64_t)s.elements * rmcp_type_bytes(s.type);
    if (!bytes || (back && !s.written)) return;
    void *host = malloc(bytes);
    assert_non_null(host);
    rmcp_memory *memory = norm_memory(t, slot);
    if (back) {
        assert_int_equal(rmcp_copy_to_host(device, NULL, host, *memory, bytes), RMCP_OK);
        for (int64_t i = 0; i < s.elements; i++) a->of[slot][i] = rmcp_load(host, s.type, i);
    } else {
        for (int64_t i = 0; i < s.elements; i++) rmcp_store(host, s.type, i, a->of[slot][i]);
        assert_int_equal(rmcp_buffer_create(device, bytes, memory), RMCP_OK);
        assert_int_equal(rmcp_copy_to_device(device, NULL, *memory, host, bytes), RMCP_OK);
    }
    free(host);
}

void norm_run(rmcp_device *device, const struct rmcp_norm *norm, const char *algorithm,
              struct norm_arrays *a)
{
    const rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = algorithm };
    rmcp_batchnorm_tensors t = { .struct_size = sizeof t };
    rmcp_plan *plan = NULL;
    if (rmcp_batchnorm_plan(device, &norm->problem, norm->pass, &options, &plan))
        fail_msg("%s", rmcp_last_error());
    t.workspace_bytes = rmcp_plan_workspace(plan);
    if (t.workspace_bytes)
        assert_int_equal(rmcp_buffer_create(device, t.workspace_bytes, &t.workspace), RMCP_OK);
    for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++) copy(device, norm, a, &t, slot, false);
    if (rmcp_batchnorm_execute(plan, NULL, &t)) fail_msg("%s", rmcp_last_error());
    assert_int_equal(rmcp_device_wait(device, NULL), RMCP_OK);
    for (unsigned slot = 0; slot < RMCP_NORM_SLOTS; slot++) {
        copy(device, norm, a, &t, slot, true);
        rmcp_buffer_destroy(device, *norm_memory(&t, slot));
    }
    rmcp_buffer_destroy(device, t.workspace);
    rmcp_plan_destroy(plan);
}

size_t norm_algorithms(rmcp_device *device, const struct rmcp_norm *norm,
                       char names[NORM_MOST_ALGOS][32])
{
    rmcp_candidate list[NORM_MOST_ALGOS] = { { .struct_size = sizeof *list } };
    size_t n = NORM_MOST_ALGOS, taken = 0;
    assert_int_equal(rmcp_batchnorm_candidates(device, &norm->problem, norm->pass, NULL, list, &n),
                     RMCP_OK);
    assert_true(n <= NORM_MOST_ALGOS);
    for (size_t i = 0; i < n; i++)
        if (!*list[i].refusal) memcpy(names[taken++], list[i].algorithm, sizeof *names);
    assert_true(taken > 0);
    return taken;
}
