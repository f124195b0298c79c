/* steps.c: the list of steps, and how each is done. */
#include "help/owner/steps.h"

#include "base/error.h"
#include "engine/ops/conv/conv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct owner_stage_info owner_stages[OWNER_N_STAGES] = {
    [OWNER_LOOK] = { "look", "properties", "asks the driver about the card", 60 },
    [OWNER_COPY] = { "copies", "copies", "copies memory to the card and back", 60 },
    [OWNER_KERNEL] = { "kernel", "first kernel", "runs one tiny kernel", 60 },
    [OWNER_SMALL] = { "small", "small convolutions",
                      "runs every algorithm, pass and type on small problems", 60 },
    [OWNER_LARGE] = { "large", "large convolutions",
                      "the same on large problems: the card gets warm", 120 },
    [OWNER_TIME] = { "times", "times", "measures layers of ResNet-50", 120 },
    [OWNER_PATTERN] = { "patterns", "silicon-bug patterns",
                        "runs code that the chip's known bugs may break: wrong results, a crash of "
                        "this\n"
                        "program, a hang of the card, a reboot. Save your work first. Each one is "
                        "asked for.",
                        60 },
};

static const uint64_t copies[] = { 4, 1 << 20, 64 << 20 };
static const char *const small_case = "n2c16h9w9k24r3s3p1", *const small_narrow =
                                                                "n2c32h9w9k32r3s3p1g32";
static const char *const large_case = "n4c64h28w28k64r3s3p1", *const large_narrow =
                                                                  "n4c256h28w28k256r3s3p1g256";
static const char *const timed[] = {
    "n8c3h224w224k64r7s7p3u2", "n8c64h56w56k64r3s3p1", "n8c128h28w28k128r3s3p1",
    "n8c256h14w14k256r3s3p1",  "n8c512h7w7k512r3s3p1", "n8c256h56w56k64r1s1",
};
static const char *const passes[] = { "fwd", "bwd_data", "bwd_weights" };
static const char *const types[] = { "f32", "f16", "bf16" };
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static size_t n_algorithms(enum rmcp_launch_kind kind)
{
    size_t n = 0;
    for (const struct rmcp_algo *const *algo = rmcp_algos_conv; *algo; algo++)
        n += (*algo)->kind == kind && !(*algo)->judge;
    return n;
}

static const struct rmcp_algo *algorithm_at(enum rmcp_launch_kind kind, size_t index)
{
    for (const struct rmcp_algo *const *algo = rmcp_algos_conv; *algo; algo++)
        if ((*algo)->kind == kind && !(*algo)->judge && !index--) return *algo;
    return NULL;
}

/* Steps of the two stages of convolutions: algorithm by algorithm, type by type, pass by pass. */
static bool conv_step(size_t index, enum owner_stage stage, enum rmcp_launch_kind kind,
                      struct owner_step *out)
{
    const struct rmcp_algo *algo = algorithm_at(kind, index / 9);
    if (!algo) return false;
    const bool narrow = !strcmp(algo->name, "narrow"), large = stage == OWNER_LARGE;
    out->stage = stage;
    out->algorithm = algo->name;
    out->text = large ? narrow ? large_narrow : large_case : narrow ? small_narrow : small_case;
    snprintf(out->name, sizeof out->name, "%s %s %s %s", large ? "large" : "small", algo->name,
             types[index / 3 % 3], passes[index % 3]);
    return true;
}

bool owner_step_at(size_t index, enum rmcp_launch_kind kind, struct owner_step *out)
{
    *out = (struct owner_step){ .stage = OWNER_LOOK, .name = "properties" };
    if (!index--) return true;
    if (index < LENGTH(copies)) {
        out->stage = OWNER_COPY;
        out->bytes = copies[index];
        snprintf(out->name, sizeof out->name, "copy %" PRIu64 " bytes", out->bytes);
        return true;
    }
    index -= LENGTH(copies);
    if (!index--) {
        out->stage = OWNER_KERNEL;
        out->text = "n1c1h1w1k1r1s1:f32:nchw:fwd";
        out->algorithm = kind == RMCP_LAUNCH_KERNEL ? "direct" : algorithm_at(kind, 0)->name;
        snprintf(out->name, sizeof out->name, "tiny kernel");
        return true;
    }
    const size_t n_conv = n_algorithms(kind) * 9;
    if (index < n_conv) return conv_step(index, OWNER_SMALL, kind, out);
    index -= n_conv;
    if (index < n_conv) return conv_step(index, OWNER_LARGE, kind, out);
    index -= n_conv;
    if (index < LENGTH(timed) * 3) {
        out->stage = OWNER_TIME;
        out->text = timed[index / 3];
        snprintf(out->name, sizeof out->name, "time %s %s", out->text, passes[index % 3]);
        return true;
    }
    index -= LENGTH(timed) * 3;
    if (kind != RMCP_LAUNCH_KERNEL) return false;
    for (const struct owner_pattern *p = owner_patterns; p->kernel; p++)
        for (int target = 0; target < 2; target++)
            if (!index--) {
                out->stage = OWNER_PATTERN;
                out->pattern = p;
                out->target = target ? "gfx1030" : "gfx1010";
                snprintf(out->name, sizeof out->name, "pattern %s %s", p->rule, out->target);
                return true;
            }
    return false;
}

bool owner_step_find(const char *name, enum rmcp_launch_kind kind, struct owner_step *out)
{
    for (size_t i = 0; owner_step_at(i, kind, out); i++)
        if (!strcmp(out->name, name)) return true;
    return false;
}

/* ---- doing it ---- */

static enum journal_state failed(char *detail, size_t size)
{
    snprintf(detail, size, "%s", rmcp_last_error());
    return JOURNAL_FAILED;
}

static enum journal_state look(rmcp_device *device, char *detail, size_t size)
{
    const rmcp_device_info *info = &device->info;
    snprintf(detail, size, "%s; chip %s; %u compute units; %" PRIu64 " MiB; %s%s%s", info->name,
             info->chip, info->compute_units, info->memory_bytes >> 20, info->driver,
             *info->why ? "; " : "", info->why);
    return JOURNAL_PASSED;
}

static enum journal_state copy(rmcp_device *device, uint64_t bytes, char *detail, size_t size)
{
    unsigned char *sent = malloc(bytes), *got = calloc(1, bytes);
    rmcp_memory memory = { NULL, 0 };
    rmcp_status status = sent && got ? RMCP_OK : rmcp_fail_memory("a copy", bytes);
    for (uint64_t i = 0; i < bytes && !status; i++)
        sent[i] = (unsigned char)(i * 167 + (i >> 8) * 13 + 1);
    if (!status) status = rmcp_buffer_create(device, bytes, &memory);
    if (!status) status = rmcp_copy_to_device(device, NULL, memory, sent, bytes);
    if (!status) status = rmcp_copy_to_host(device, NULL, got, memory, bytes);
    enum journal_state state = status ? failed(detail, size) : JOURNAL_PASSED;
    for (uint64_t i = 0; i < bytes && state == JOURNAL_PASSED; i++)
        if (sent[i] != got[i]) {
            snprintf(detail, size, "byte %" PRIu64 " came back as %u, not %u", i, got[i], sent[i]);
            state = JOURNAL_FAILED;
        }
    rmcp_buffer_destroy(device, memory);
    free(sent);
    free(got);
    return state;
}

static rmcp_status read_step(const struct owner_step *step, rmcp_conv *problem, int *pass)
{
    *problem = (rmcp_conv){ .struct_size = sizeof *problem };
    rmcp_status status = rmcp_conv_parse(step->text, problem, pass);
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(step->name), tail = strlen(passes[i]);
        if (length > tail && step->name[length - tail - 1] == ' ' &&
            !strcmp(step->name + length - tail, passes[i]))
            *pass = i;
        char word[8];
        snprintf(word, sizeof word, " %s ", types[i]);
        if (strstr(step->name, word)) problem->type = (uint32_t)i;
    }
    return status;
}

static enum journal_state convolve(rmcp_device *device, const struct owner_step *step, char *detail,
                                   size_t size)
{
    rmcp_conv problem;
    int pass = 0;
    if (read_step(step, &problem, &pass)) return failed(detail, size);
    rmcp_plan *plan = NULL;
    rmcp_plan_options options = { .struct_size = sizeof options, .algorithm = step->algorithm };
    rmcp_status status = rmcp_conv_plan(device, &problem, (rmcp_conv_pass)pass, &options, &plan);
    rmcp_plan_destroy(plan);
    if (status == RMCP_E_UNSUPPORTED) {
        failed(detail, size);
        return JOURNAL_SKIPPED;
    }
    double worst = 0;
    for (int data = 0; data < RMCP_N_DATA && !status; data++) {
        struct rmcp_judgement judgement;
        status = rmcp_conv_judge(device, &problem, (rmcp_conv_pass)pass, step->algorithm,
                                 (enum rmcp_data)data, 1, 0, &judgement);
        if (!status && !judgement.passed) {
            snprintf(detail, size, "%s", judgement.why);
            return JOURNAL_FAILED;
        }
        if (!status && judgement.worst > worst) worst = judgement.worst;
    }
    if (status) return failed(detail, size);
    snprintf(detail, size, "largest error %.3f of its bound", worst);
    return JOURNAL_PASSED;
}

static enum journal_state measure(rmcp_device *device, const struct owner_step *step, char *detail,
                                  size_t size)
{
    rmcp_conv problem;
    int pass = 0;
    rmcp_conv_info shape = { .struct_size = sizeof shape };
    rmcp_plan *plan = NULL;
    rmcp_conv_tensors tensors = { .struct_size = sizeof tensors };
    rmcp_status status = read_step(step, &problem, &pass);
    if (!status) status = rmcp_conv_describe(&problem, &shape);
    if (!status) status = rmcp_conv_plan(device, &problem, (rmcp_conv_pass)pass, NULL, &plan);
    tensors.workspace_bytes = rmcp_plan_workspace(plan);
    if (!status) status = rmcp_buffer_create(device, shape.x_bytes, &tensors.x);
    if (!status) status = rmcp_buffer_create(device, shape.w_bytes, &tensors.w);
    if (!status) status = rmcp_buffer_create(device, shape.y_bytes, &tensors.y);
    if (!status && tensors.workspace_bytes)
        status = rmcp_buffer_create(device, tensors.workspace_bytes, &tensors.workspace);
    double best = 0;
    for (int i = 0; i < 6 && !status; i++) {
        double seconds = 0;
        status = rmcp_conv_execute_timed(plan, NULL, &tensors, &seconds);
        if (i && (!best || seconds < best)) best = seconds; /* the first warms up */
    }
    enum journal_state state = status ? failed(detail, size) : JOURNAL_PASSED;
    if (!status)
        snprintf(detail, size, "%s, best of 5: %.3f ms, %.3f TFLOP/s", rmcp_plan_algorithm(plan),
                 best * 1e3, best > 0 ? shape.flops / best * 1e-12 : 0);
    rmcp_memory all[] = { tensors.x, tensors.w, tensors.y, tensors.workspace };
    for (size_t i = 0; i < LENGTH(all); i++) rmcp_buffer_destroy(device, all[i]);
    rmcp_plan_destroy(plan);
    return state;
}

enum journal_state owner_step_run(rmcp_device *device, const struct owner_step *step, char *detail,
                                  size_t size)
{
    *detail = '\0';
    switch (step->stage) {
    case OWNER_LOOK: return look(device, detail, size);
    case OWNER_COPY: return copy(device, step->bytes, detail, size);
    case OWNER_KERNEL:
    case OWNER_SMALL:
    case OWNER_LARGE: return convolve(device, step, detail, size);
    case OWNER_TIME: return measure(device, step, detail, size);
    default: return owner_pattern_run(device, step->pattern, step->target, detail, size);
    }
}
