/* plans.c: the plans that a handle has made. */
#include "dropin/miopen/plans.h"

#include "base/hash.h"
#include "dropin/miopen/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* More shapes than a network has; beyond, the one that was not used for the longest time goes. */
enum { PLACES = 2048, MOST = 1024 };

struct entry {
    uint64_t hash, used; /* used: when, by the table's own count */
    bool measured;
    struct mi_key key;
    struct mi_plans plans;
};

struct mi_plan_table {
    struct entry *place[PLACES];
    int n;
    uint64_t clock;
};

struct mi_plan_table *mi_plans_create(void)
{
    return calloc(1, sizeof(struct mi_plan_table));
}

static void destroy_entry(const struct mi_engine *engine, struct entry *entry)
{
    for (int i = 0; i < entry->plans.n; i++) engine->rmcp_plan_destroy(entry->plans.choice[i].plan);
    free(entry);
}

void mi_plans_destroy(const struct mi_engine *engine, struct mi_plan_table *table)
{
    for (int i = 0; table && i < PLACES; i++)
        if (table->place[i]) destroy_entry(engine, table->place[i]);
    free(table);
}

static size_t key_size(const struct mi_key *key)
{
    size_t head = offsetof(struct mi_key, problem);
    switch (key->operation) {
    case MI_OP_CONV: return head + sizeof key->problem.conv;
    case MI_OP_BATCHNORM: return head + sizeof key->problem.batchnorm;
    case MI_OP_RNN: return head + sizeof key->problem.rnn;
    case MI_OP_CASE: return head + (strlen(key->problem.text) / 8 + 1) * 8;
    default: return head + sizeof key->problem.tensor;
    }
}

static uint64_t hash_key(const struct mi_key *key, size_t size)
{
    uint64_t hash = size;
    const char *bytes = (const char *)key;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

_Static_assert(sizeof(rmcp_conv) % 8 == 0 && sizeof(rmcp_batchnorm) % 8 == 0 &&
                   sizeof(rmcp_tensor) % 8 == 0 && sizeof(struct mi_rnn_problem) % 8 == 0 &&
                   RMCP_CASE_MAX % 8 == 0 && offsetof(struct mi_key, problem) % 8 == 0,
               "keys are hashed in whole words");

/* Where the key is, or the free place where it belongs. */
static size_t find_place(const struct mi_plan_table *table, const struct mi_key *key, size_t size,
                         uint64_t hash)
{
    size_t place = hash % PLACES;
    while (table->place[place] &&
           (table->place[place]->hash != hash || memcmp(&table->place[place]->key, key, size) != 0))
        place = (place + 1) % PLACES;
    return place;
}

static void remove_oldest(const struct mi_engine *engine, struct mi_plan_table *table)
{
    size_t oldest = PLACES;
    for (size_t i = 0; i < PLACES; i++)
        if (table->place[i] &&
            (oldest == PLACES || table->place[i]->used < table->place[oldest]->used))
            oldest = i;
    if (oldest == PLACES) return;
    destroy_entry(engine, table->place[oldest]);
    table->place[oldest] = NULL;
    table->n--;
    /* What follows in the same run may belong before the gap. */
    for (size_t i = (oldest + 1) % PLACES; table->place[i]; i = (i + 1) % PLACES) {
        struct entry *entry = table->place[i];
        table->place[i] = NULL;
        size_t place = entry->hash % PLACES;
        while (table->place[place]) place = (place + 1) % PLACES;
        table->place[place] = entry;
    }
}

/* "RM", 32 bits of the name, MIOpen's kind: the same in every process and release. */
enum { ID_MARK = 0x524d, ID_MARK_AT = 40, ID_NAME_AT = 8 };

uint64_t mi_algorithm_id(const char *name)
{
    const uint64_t hash = rmcp_hash(RMCP_HASH_START, name, strlen(name));
    return (uint64_t)ID_MARK << ID_MARK_AT | (hash & 0xffffffff) << ID_NAME_AT |
           (uint64_t)mi_algorithm_kind(name);
}

bool mi_algorithm_of_id(uint64_t id, miopenConvAlgorithm_t *kind)
{
    *kind = (miopenConvAlgorithm_t)(id & 0xff);
    return id >> ID_MARK_AT == ID_MARK && (id & 0xff) <= miopenConvolutionAlgoImplicitGEMM;
}

miopenConvAlgorithm_t mi_algorithm_kind(const char *name)
{
    if (!strncmp(name, "winograd", 8)) return miopenConvolutionAlgoWinograd;
    if (!strcmp(name, "direct") || !strcmp(name, "depthwise") || !strcmp(name, "reference"))
        return miopenConvolutionAlgoDirect;
    return miopenConvolutionAlgoImplicitGEMM;
}

/* MIOPEN_DEBUG_CONV_…=0 switches a kind of algorithm off. */
static bool is_off(const char *variable)
{
    const char *text = getenv(variable);
    static const char *const no[] = { "0", "no", "off", "false", "disable", "disabled" };
    for (size_t i = 0; text && i < sizeof no / sizeof *no; i++)
        if (!strcasecmp(text, no[i])) return true;
    return false;
}

static bool kind_is_off(miopenConvAlgorithm_t kind)
{
    return is_off(kind == miopenConvolutionAlgoWinograd ? "MIOPEN_DEBUG_CONV_WINOGRAD"
                  : kind == miopenConvolutionAlgoDirect ? "MIOPEN_DEBUG_CONV_DIRECT"
                                                        : "MIOPEN_DEBUG_CONV_IMPLICIT_GEMM");
}

/* The algorithm that the environment asks for, or "": the fastest of those that are not switched
 * off when some are, MIOPEN_DEBUG_FIND_ONLY_SOLVER's when it is one of ours. Never down to none. */
static void wished_algorithm(struct mi_handle *handle, const struct mi_key *key,
                             const rmcp_plan_options *options, char *name, size_t size)
{
    const char *only = getenv("MIOPEN_DEBUG_FIND_ONLY_SOLVER");
    bool some_off = kind_is_off(miopenConvolutionAlgoWinograd) ||
                    kind_is_off(miopenConvolutionAlgoDirect) ||
                    kind_is_off(miopenConvolutionAlgoImplicitGEMM);
    name[0] = 0;
    if (!some_off && !only) return;
    rmcp_candidate list[32];
    list[0].struct_size = sizeof list[0];
    size_t n = sizeof list / sizeof *list;
    if (handle->engine->rmcp_conv_candidates(handle->device, &key->problem.conv,
                                             (rmcp_conv_pass)key->pass, options, list,
                                             &n) != RMCP_OK)
        return;
    double best = 0;
    for (size_t i = 0; i < n && i < sizeof list / sizeof *list; i++) {
        if (list[i].refusal[0]) continue;
        if (only && !strcmp(only, list[i].algorithm)) {
            snprintf(name, size, "%s", list[i].algorithm);
            return;
        }
        if (some_off && !kind_is_off(mi_algorithm_kind(list[i].algorithm)) &&
            (!name[0] || list[i].estimated_seconds < best)) {
            best = list[i].estimated_seconds;
            snprintf(name, size, "%s", list[i].algorithm);
        }
    }
}

static float estimated_ms(struct mi_handle *handle, const struct mi_key *key,
                          const rmcp_plan_options *options, const char *algorithm)
{
    rmcp_candidate list[32];
    list[0].struct_size = sizeof list[0];
    size_t n = sizeof list / sizeof *list;
    if (handle->engine->rmcp_conv_candidates(handle->device, &key->problem.conv,
                                             (rmcp_conv_pass)key->pass, options, list,
                                             &n) != RMCP_OK)
        return 0;
    for (size_t i = 0; i < n && i < sizeof list / sizeof *list; i++)
        if (!strcmp(list[i].algorithm, algorithm)) return (float)(list[i].estimated_seconds * 1e3);
    return 0;
}

static rmcp_status make_conv(struct mi_handle *handle, const struct mi_key *key, rmcp_effort effort,
                             uint64_t limit, struct mi_choice *out)
{
    const struct mi_engine *e = handle->engine;
    rmcp_plan_options options = { .struct_size = sizeof options,
                                  .effort = effort,
                                  .max_workspace = limit };
    char wish[32];
    wished_algorithm(handle, key, &options, wish, sizeof wish);
    options.algorithm = wish[0] ? wish : NULL;
    rmcp_conv_pass pass = (rmcp_conv_pass)key->pass;
    rmcp_status status =
        e->rmcp_conv_plan(handle->device, &key->problem.conv, pass, &options, &out->plan);
    if (status != RMCP_OK && options.algorithm) {
        options.algorithm = NULL;
        status = e->rmcp_conv_plan(handle->device, &key->problem.conv, pass, &options, &out->plan);
    }
    if (status != RMCP_OK) return status;
    const char *name = e->rmcp_plan_algorithm(out->plan);
    out->workspace = e->rmcp_plan_workspace(out->plan);
    out->id = mi_algorithm_id(name);
    out->algorithm = mi_algorithm_kind(name);
    options.algorithm = NULL;
    options.effort = RMCP_ESTIMATE;
    out->estimated_ms = estimated_ms(handle, key, &options, name);
    return RMCP_OK;
}

/* Programs that lack memory for workspace ask for GEMM, or for the solution without workspace. */
static rmcp_status make_conv_plans(struct mi_handle *handle, const struct mi_key *key,
                                   rmcp_effort effort, struct mi_plans *out)
{
    rmcp_status status = make_conv(handle, key, effort, MI_WORKSPACE_LIMIT, &out->choice[0]);
    if (status != RMCP_OK) return status;
    out->n = 1;
    if (out->choice[0].workspace &&
        make_conv(handle, key, effort, RMCP_NO_WORKSPACE, &out->choice[1]) == RMCP_OK)
        out->n = 2;
    struct mi_choice *small = &out->choice[out->n - 1];
    if (!small->workspace) small->algorithm = miopenConvolutionAlgoGEMM;
    return RMCP_OK;
}

static rmcp_status make_rnn(struct mi_handle *handle, const struct mi_key *key, rmcp_plan **out)
{
    const struct mi_rnn_problem *p = &key->problem.rnn;
    rmcp_rnn problem = p->rnn;
    int64_t *batches = malloc((size_t)problem.steps * sizeof *batches), t = 0;
    if (!batches) return RMCP_E_NOMEM;
    for (uint64_t i = 0; i < p->n_runs; i++)
        for (int32_t k = 0; k < p->run[i].steps; k++) batches[t++] = p->run[i].batch;
    problem.batches = batches;
    rmcp_status status = handle->engine->rmcp_rnn_plan(handle->device, &problem,
                                                       (rmcp_rnn_pass)key->pass, NULL, out);
    free(batches);
    return status;
}

static const char *const slot_names[MI_SLOTS] = {
#define F(slot, name) [MI_##slot] = (name),
    MI_SLOT_NAMES(F)
#undef F
};

const char *mi_slot_name(enum mi_slot slot)
{
    return slot_names[slot];
}

static const char *const scalar_names[MI_SCALARS] = {
#define F(scalar, name) [MI_##scalar] = (name),
    MI_SCALAR_NAMES(F)
#undef F
};

const char *mi_scalar_name(enum mi_scalar scalar)
{
    return scalar_names[scalar];
}

/* Which number each name has in the plan. */
static void resolve(const struct mi_engine *e, struct mi_plans *plans)
{
    const rmcp_plan *plan = plans->choice[0].plan;
    rmcp_slot_info slot = { .struct_size = sizeof slot };
    rmcp_scalar_info scalar = { .struct_size = sizeof scalar };
    memset(plans->slot, -1, sizeof plans->slot);
    memset(plans->scalar, -1, sizeof plans->scalar);
    for (uint32_t i = 0; i < MI_PLAN_SLOTS && e->rmcp_plan_slot(plan, i, &slot) == RMCP_OK; i++)
        for (int s = 0; s < MI_SLOTS; s++)
            if (!strcmp(slot.name, slot_names[s])) plans->slot[s] = (int8_t)i;
    for (uint32_t i = 0; i < MI_PLAN_SCALARS && e->rmcp_plan_scalar(plan, i, &scalar) == RMCP_OK;
         i++) {
        plans->standard[i] = scalar.value;
        for (int s = 0; s < MI_SCALARS; s++)
            if (!strcmp(scalar.name, scalar_names[s])) plans->scalar[s] = (int8_t)i;
    }
}

static rmcp_status make(struct mi_handle *handle, const struct mi_key *key, struct mi_plans *out)
{
    const struct mi_engine *e = handle->engine;
    if (key->operation == MI_OP_CONV) return make_conv_plans(handle, key, RMCP_ESTIMATE, out);
    struct mi_choice *choice = &out->choice[0];
    rmcp_status status =
        key->operation == MI_OP_RNN ? make_rnn(handle, key, &choice->plan)
        : key->operation == MI_OP_CASE
            ? e->rmcp_case_plan(handle->device, key->problem.text, NULL, &choice->plan)
        : key->operation == MI_OP_BATCHNORM
            ? e->rmcp_batchnorm_plan(handle->device, &key->problem.batchnorm,
                                     (rmcp_batchnorm_pass)key->pass, NULL, &choice->plan)
            : e->rmcp_tensor_plan(handle->device, &key->problem.tensor, NULL, &choice->plan);
    if (status != RMCP_OK) return status;
    choice->workspace = e->rmcp_plan_workspace(choice->plan);
    out->n = 1;
    if (key->operation == MI_OP_CASE) resolve(e, out);
    return RMCP_OK;
}

miopenStatus_t mi_plans_get(struct mi_handle *handle, const struct mi_key *key,
                            const struct mi_plans **out)
{
    struct mi_plan_table *table = handle->plans;
    size_t size = key_size(key);
    uint64_t hash = hash_key(key, size);
    size_t place = find_place(table, key, size, hash);
    *out = NULL;
    if (!table->place[place]) {
        struct entry *entry = calloc(1, sizeof *entry);
        if (!entry) return mi_fail(miopenStatusAllocFailed, "out of memory");
        entry->hash = hash;
        memcpy(&entry->key, key, size);
        rmcp_status status = make(handle, key, &entry->plans);
        if (status != RMCP_OK) {
            destroy_entry(handle->engine, entry);
            return mi_status(status, "planning");
        }
        if (table->n == MOST) {
            remove_oldest(handle->engine, table);
            place = find_place(table, key, size, hash);
        }
        table->place[place] = entry;
        table->n++;
    }
    table->place[place]->used = ++table->clock;
    *out = &table->place[place]->plans;
    return miopenStatusSuccess;
}

miopenStatus_t mi_plans_measure(struct mi_handle *handle, const struct mi_key *key,
                                const struct mi_plans **out)
{
    miopenStatus_t status = mi_plans_get(handle, key, out);
    if (status != miopenStatusSuccess || key->operation != MI_OP_CONV) return status;
    const size_t size = key_size(key);
    struct entry *entry =
        handle->plans->place[find_place(handle->plans, key, size, hash_key(key, size))];
    struct mi_plans fresh = { 0 };
    if (entry->measured || make_conv_plans(handle, key, RMCP_MEASURE, &fresh) != RMCP_OK)
        return miopenStatusSuccess;
    for (int i = 0; i < entry->plans.n; i++)
        handle->engine->rmcp_plan_destroy(entry->plans.choice[i].plan);
    entry->plans = fresh;
    entry->measured = true;
    return miopenStatusSuccess;
}
