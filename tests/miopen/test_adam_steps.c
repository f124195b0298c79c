/* Steps of Adam through the drop-in: one plan does all of them, whatever number, rate and betas
 * they have, and gives the bits of plans made for each. The engine is fake_engine.c, which counts
 * plans; RMCP_LIBRARY names it. */
#include "hostile.h"
#include "rmcp.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 37, STEPS = 100 };

struct state {
    float param[N], mean[N], square[N];
};

static struct {
    void *library;
    int *plans;
    rmcp_status (*open)(const char *, const rmcp_device_options *, rmcp_device **);
    rmcp_status (*plan)(rmcp_device *, const char *, const rmcp_plan_options *, rmcp_plan **);
    rmcp_status (*run)(const rmcp_plan *, void *, const rmcp_slots *);
    void (*destroy)(rmcp_plan *);
    void (*close)(rmcp_device *);
    const char *(*error)(void);
} engine;

static void find(const char *name, void *pointer)
{
    void *symbol = dlsym(engine.library, name);
    assert_non_null(symbol);
    memcpy(pointer, &symbol, sizeof symbol);
}

static void begin(struct state *s)
{
    *s = (struct state){ .param = { 0 } };
    for (int i = 0; i < N; i++) s->param[i] = (float)(i % 7) - 3;
}

static void gradient(int step, float *grad)
{
    for (int i = 0; i < N; i++) grad[i] = (float)((i * 5 + step * 3) % 11 - 5) / 8;
}

/* A schedule: warm-up, then less; beta1 goes the other way. */
static float rate(int step)
{
    return step < 20 ? (float)step * 1e-3f : 0.02f / (float)(1 + step / 10);
}

static float beta1(int step)
{
    return step % 2 ? 0.9f : 0.85f;
}

/* One step by a plan of its own. */
static void planned(rmcp_device *device, int step, const float *grad, struct state *s)
{
    char text[200];
    snprintf(text, sizeof text,
             "adam:%d:f32:adamw:lr%.9g:beta1%.9g:beta2%.9g:eps%.9g:decay%.9g:number%d", N,
             (double)rate(step), (double)beta1(step), (double)0.99f, (double)1e-8f, (double)0.01f,
             step);
    rmcp_plan *plan = NULL;
    if (engine.plan(device, text, NULL, &plan)) fail_msg("%s: %s", text, engine.error());
    const rmcp_memory memory[] = {
        { s->param, 0 }, { (void *)(uintptr_t)grad, 0 }, { s->mean, 0 }, { s->square, 0 }
    };
    const rmcp_slots slots = { .struct_size = sizeof slots, .count = 4, .memory = memory };
    assert_int_equal(engine.run(plan, NULL, &slots), RMCP_OK);
    engine.destroy(plan);
}

static void test_a_hundred_steps(void **state)
{
    (void)state;
    miopenHandle_t handle;
    miopenTensorDescriptor_t tensor;
    GOOD(miopenCreate(&handle));
    GOOD(miopenCreateTensorDescriptor(&tensor));
    GOOD(miopenSetTensorDescriptor(tensor, miopenFloat, 1, (const int[]){ N }, NULL));
    engine.library = dlopen(getenv("RMCP_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(engine.library);
    find("fake_engine_plans", &engine.plans);
    find("rmcp_device_open", &engine.open);
    find("rmcp_case_plan", &engine.plan);
    find("rmcp_plan_run", &engine.run);
    find("rmcp_plan_destroy", &engine.destroy);
    find("rmcp_device_close", &engine.close);
    find("rmcp_last_error", &engine.error);
    rmcp_device *device;
    assert_int_equal(engine.open("cpu", NULL, &device), RMCP_OK);

    struct state ours, theirs;
    float grad[N];
    begin(&ours);
    begin(&theirs);
    int before = *engine.plans;
    for (int step = 1; step <= STEPS; step++) {
        gradient(step, grad);
        GOOD(miopenFusedAdam(handle, tensor, ours.param, tensor, grad, tensor, ours.mean, tensor,
                             ours.square, NULL, NULL, NULL, NULL, (unsigned)step, rate(step),
                             beta1(step), 0.99f, 0.01f, 1e-8f, false, false, true, NULL, NULL, NULL,
                             NULL));
        const int plans = *engine.plans - before;
        if (plans != 1) fail_msg("%d plans after step %d", plans, step);
        planned(device, step, grad, &theirs);
        before++;
        if (memcmp(&ours, &theirs, sizeof ours)) fail_msg("other bits in step %d", step);
    }
    /* What is no step changes nothing. */
    for (int i = 0; i < 3; i++) {
        const float wrong[] = { 0.9f, 1, -0.5f };
        BAD_PARM(miopenFusedAdam(handle, tensor, ours.param, tensor, grad, tensor, ours.mean,
                                 tensor, ours.square, NULL, NULL, NULL, NULL, i > 0, 0.1f, wrong[i],
                                 0.99f, 0, 1e-8f, false, false, true, NULL, NULL, NULL, NULL));
        assert_memory_equal(&ours, &theirs, sizeof ours);
    }
    engine.close(device);
    GOOD(miopenDestroyTensorDescriptor(tensor));
    GOOD(miopenDestroy(handle));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_hundred_steps) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
