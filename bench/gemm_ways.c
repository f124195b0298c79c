/* gemm_ways.c: every way to compute a matrix product on a GPU, measured beside its estimate: what
 * the GEMM figures of src/engine/figures are fitted to. usage: gemm_ways DEVICE CASE… */
#include "base/clock.h"
#include "engine/core/plan.h"
#include "engine/matmul/ways.h"
#include "engine/ops/gemm/gemm.h"

#include <math.h>
#include <stdio.h>

/* The way that the algorithm below is made of. */
static struct rmcp_matmul_way forced;

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    (void)way;
    return rmcp_matmul_emit_way(&rmcp_gemm_of(request)->product, &forced, request->caps, 0, list);
}

static const struct rmcp_algo one_way = { .name = "way", .kind = RMCP_LAUNCH_KERNEL, .emit = emit };

/* Seconds of one execution: the best of some rounds of several without a pause. */
static rmcp_status measure(rmcp_device *device, const rmcp_plan *plan, const rmcp_memory *memory,
                           uint64_t workspace, double *seconds)
{
    enum { ROUNDS = 4, REPEATS = 10 };
    rmcp_status status = RMCP_OK;
    *seconds = HUGE_VAL;
    for (int round = 0; round <= ROUNDS && !status; round++) {
        const double start = rmcp_clock();
        for (int i = 0; i < REPEATS && !status; i++)
            status = rmcp_plan_execute(plan, NULL, memory, workspace, NULL);
        if (!status) status = rmcp_device_wait(device, NULL);
        if (round) *seconds = fmin(*seconds, (rmcp_clock() - start) / (double)REPEATS);
    }
    return status;
}

static rmcp_status try_way(rmcp_device *device, const struct rmcp_gemm_form *form,
                           const struct rmcp_matmul_way *way, rmcp_memory *memory)
{
    const uint64_t bytes = rmcp_matmul_parts_bytes(&form->product, way);
    const struct rmcp_request request = { .operation = &rmcp_operation_gemm,
                                          .problem = form,
                                          .caps = &device->caps };
    const struct rmcp_choice choice = { .algo = &one_way, .way.workspace_bytes = bytes };
    rmcp_plan *plan = NULL;
    double seconds = 0;
    forced = *way;
    rmcp_status status = rmcp_plan_build_unguarded(device, &request, &choice, &plan);
    if (!status && bytes) status = rmcp_buffer_create(device, bytes, &memory[RMCP_SLOT_WORKSPACE]);
    if (!status) status = measure(device, plan, memory, bytes, &seconds);
    if (!status)
        printf("    %-8s %2d%s splits %-3d %9.2f us, estimated %9.2f\n",
               way->tile ? way->tile->name : "thin", (int)way->few, way->turned ? "t" : " ",
               (int)way->splits, 1e6 * seconds, 1e6 * way->seconds);
    rmcp_buffer_destroy(device, memory[RMCP_SLOT_WORKSPACE]);
    memory[RMCP_SLOT_WORKSPACE] = (rmcp_memory){ NULL, 0 };
    rmcp_plan_destroy(plan);
    return status;
}

static rmcp_status try_case(rmcp_device *device, const char *text)
{
    rmcp_gemm gemm = { .struct_size = sizeof gemm };
    struct rmcp_gemm_form form;
    rmcp_memory memory[RMCP_MOST_SLOTS] = { { NULL, 0 } };
    rmcp_status status = rmcp_gemm_parse(text, &gemm);
    if (!status) status = rmcp_gemm_form_init(&form, &gemm);
    if (status) return status;
    printf("%s\n", text);
    for (unsigned slot = 0; slot < RMCP_GEMM_SLOTS && !status; slot++)
        if (form.span[slot])
            status = rmcp_buffer_create(device, (uint64_t)form.span[slot] * sizeof(float),
                                        &memory[slot]);
    struct rmcp_matmul_way ways[RMCP_MATMUL_MOST_WAYS];
    const size_t n = rmcp_matmul_list(&form.product, &device->caps, ways);
    for (size_t i = 0; i < n && !status; i++) status = try_way(device, &form, &ways[i], memory);
    for (unsigned slot = 0; slot < RMCP_GEMM_SLOTS; slot++)
        rmcp_buffer_destroy(device, memory[slot]);
    return status;
}

int main(int argc, char **argv)
{
    rmcp_device *device = NULL;
    rmcp_status status = argc > 2 ? rmcp_device_open(argv[1], NULL, &device) : RMCP_E_ARG;
    for (int i = 2; i < argc && !status; i++) status = try_case(device, argv[i]);
    if (argc <= 2)
        fputs("usage: gemm_ways DEVICE CASE…\n", stderr);
    else if (status)
        fprintf(stderr, "gemm_ways: %s\n", rmcp_last_error());
    rmcp_device_close(device);
    return status != RMCP_OK;
}
