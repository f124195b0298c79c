/* rnn.c: checks a recurrent network, brings it into canonical form, and says what it has in each
 * slot. */
#include "engine/ops/rnn/rnn.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

extern const struct rmcp_algo *const rmcp_algos_rnn[];

_Static_assert(sizeof(struct rmcp_recurrence) <= RMCP_PROBLEM_BYTES, "runs");

bool rmcp_rec_drops(const struct rmcp_recurrence *rec)
{
    return rec->pass != RMCP_RNN_INFER && rec->problem.dropout > 0 && rec->problem.layers > 1;
}

uint32_t rmcp_rec_threshold(const struct rmcp_recurrence *rec)
{
    const double words = 4294967296.0 * rec->problem.dropout;
    return words < 4294967295.0 ? (uint32_t)words : UINT32_MAX;
}

float rmcp_rec_scale(const struct rmcp_recurrence *rec)
{
    return (float)(1 / (1 - rec->problem.dropout));
}

bool rmcp_rec_has(const struct rmcp_recurrence *rec, uint32_t state)
{
    if (!(rec->problem.given & state)) return false;
    const bool lstm = rec->problem.mode == RMCP_RNN_LSTM;
    const bool backward = rec->pass == RMCP_RNN_BACKWARD_DATA;
    switch (state) {
    case RMCP_RNN_HX: return !backward || rec->problem.mode == RMCP_RNN_GRU;
    case RMCP_RNN_CX: return lstm && rec->pass != RMCP_RNN_BACKWARD_WEIGHTS;
    case RMCP_RNN_HY: return rec->pass != RMCP_RNN_BACKWARD_WEIGHTS;
    case RMCP_RNN_CY: return lstm && rec->pass != RMCP_RNN_BACKWARD_WEIGHTS;
    case RMCP_RNN_DHX: return backward;
    default: return lstm && backward;
    }
}

struct rmcp_slot rmcp_rec_slot(const void *problem, unsigned slot)
{
    enum { READ = 1, WRITTEN = 2 };
    const struct rmcp_recurrence *rec = problem;
    const rmcp_rnn *p = &rec->problem;
    const bool data = rec->pass == RMCP_RNN_BACKWARD_DATA;
    const bool weights = rec->pass == RMCP_RNN_BACKWARD_WEIGHTS;
    const bool forward = !data && !weights, train = rec->pass == RMCP_RNN_TRAIN;
    const int64_t x = rec->rows * p->input, y = rec->rows * rec->width;
    const int64_t states = p->layers * rec->directions * p->batch * p->hidden;
    const int64_t w = rmcp_rec_weight_elements(rec);
    const unsigned out = data ? READ : WRITTEN; /* of hy and cy, or their gradients */
#define STATE(bit, use) states, rmcp_rec_has(rec, bit) ? (use) : 0u
    const struct {
        const char *name;
        int64_t elements;
        unsigned use;
    } slots[RMCP_REC_SLOTS] = {
        [RMCP_REC_X] = { "x", x, forward || (weights && !p->skip) ? READ : 0 },
        /* Gradients of data do not depend on biases, which need not be there. */
        [RMCP_REC_W] = { "w", data ? rmcp_rec_matrix_elements(rec) : w, weights ? 0 : READ },
        [RMCP_REC_HX] = { "hx", STATE(RMCP_RNN_HX, READ) },
        [RMCP_REC_CX] = { "cx", STATE(RMCP_RNN_CX, READ) },
        [RMCP_REC_Y] = { data ? "dy" : "y", y, weights ? 0 : out },
        [RMCP_REC_HY] = { data ? "dhy" : "hy", STATE(RMCP_RNN_HY, out) },
        [RMCP_REC_CY] = { data ? "dcy" : "cy", STATE(RMCP_RNN_CY, out) },
        [RMCP_REC_DX] = { "dx", x, data ? WRITTEN : 0 },
        [RMCP_REC_DW] = { "dw", w, weights ? READ | WRITTEN : 0 },
        [RMCP_REC_DHX] = { "dhx", STATE(RMCP_RNN_DHX, WRITTEN) },
        [RMCP_REC_DCX] = { "dcx", STATE(RMCP_RNN_DCX, WRITTEN) },
        [RMCP_REC_RESERVE] = { "reserve", rmcp_rec_reserve_elements(rec),
                               train             ? WRITTEN
                               : data || weights ? READ
                                                 : 0 },
        [RMCP_REC_GRADIENTS] = { "gradients", rmcp_rec_gradient_elements(rec),
                                 data      ? WRITTEN
                                 : weights ? READ
                                           : 0 },
        [RMCP_REC_STATE] = { "state", 4, train && rmcp_rec_drops(rec) ? READ | WRITTEN : 0 },
    };
#undef STATE
    const unsigned use = slots[slot].use;
    return (struct rmcp_slot){
        .name = slots[slot].name,
        .elements = use ? slots[slot].elements : 0,
        .type = slot >= RMCP_REC_RESERVE ? RMCP_F32 : rec->type,
        .read = use & READ,
        .written = use & WRITTEN,
    };
}

/* ---- checks: each returns a status of its own ---- */

static rmcp_status check_kinds(const rmcp_rnn *p)
{
    const struct {
        const char *name;
        uint32_t value, most;
    } fields[] = {
        { "mode", p->mode, RMCP_RNN_GRU },
        { "type", p->type, RMCP_BF16 },
        { "bidirectional", p->bidirectional, 1 },
        { "bias", p->bias, 1 },
        { "skip", p->skip, 1 },
        { "given", p->given, 63 },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value > fields[i].most)
            return rmcp_fail(RMCP_E_ARG, "%s is %u; the largest that is known is %u",
                             fields[i].name, (unsigned)fields[i].value, (unsigned)fields[i].most);
    if (!(p->dropout >= 0 && p->dropout < 1))
        return rmcp_fail(RMCP_E_ARG, "dropout is %g; it must be from 0 to below 1", p->dropout);
    if (p->skip && p->input != p->hidden)
        return rmcp_fail(RMCP_E_ARG,
                         "skip needs as many inputs as hidden units: %" PRId64 " and %" PRId64,
                         p->input, p->hidden);
    return RMCP_OK;
}

static rmcp_status check_sizes(const rmcp_rnn *p)
{
    const struct {
        const char *name;
        int64_t value, most;
    } fields[] = {
        { "steps", p->steps, INT32_MAX }, { "batch", p->batch, INT32_MAX },
        { "input", p->input, INT32_MAX }, { "hidden", p->hidden, INT32_MAX / 8 },
        { "layers", p->layers, 65536 },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value < 1 || fields[i].value > fields[i].most)
            return rmcp_fail(RMCP_E_ARG, "%s is %" PRId64 "; it must be from 1 to %" PRId64,
                             fields[i].name, fields[i].value, fields[i].most);
    return RMCP_OK;
}

/* Steps of the same batch one after the other become a run. */
static rmcp_status find_runs(struct rmcp_recurrence *rec, const int64_t *batches)
{
    const rmcp_rnn *p = &rec->problem;
    if (!batches) {
        rec->n_runs = 1;
        rec->run[0] = (struct rmcp_rnn_run){ (int32_t)p->steps, (int32_t)p->batch };
        rec->rows = p->steps * p->batch;
        return RMCP_OK;
    }
    if (batches[0] != p->batch)
        return rmcp_fail(RMCP_E_ARG, "batches[0] is %" PRId64 ", but batch is %" PRId64, batches[0],
                         p->batch);
    for (int64_t t = 0; t < p->steps; t++) {
        if (batches[t] < 1 || (t > 0 && batches[t] > batches[t - 1]))
            return rmcp_fail(RMCP_E_ARG,
                             "batches[%" PRId64 "] is %" PRId64
                             "; it must be at least 1 and no more than the one before",
                             t, batches[t]);
        if (t == 0 || batches[t] < batches[t - 1]) {
            if (rec->n_runs == RMCP_RNN_MOST_RUNS)
                return rmcp_fail(RMCP_E_UNSUPPORTED,
                                 "sequences of more than %d different lengths in one batch",
                                 RMCP_RNN_MOST_RUNS);
            rec->run[rec->n_runs++] = (struct rmcp_rnn_run){ 0, (int32_t)batches[t] };
        }
        rec->run[rec->n_runs - 1].steps++;
        rec->rows += batches[t];
    }
    return RMCP_OK;
}

/* Whether the bytes of every tensor fit in 62 bits: the reserve and the weights are the largest. */
static bool fits(const struct rmcp_recurrence *rec)
{
    const rmcp_rnn *p = &rec->problem;
    const int64_t widest = p->input > rec->width ? p->input : rec->width;
    int64_t rows = 64, weights = 64 * 4;
    bool bad = __builtin_mul_overflow(rows, rec->rows, &rows);
    bad = bad || __builtin_mul_overflow(rows, widest, &rows);
    bad = bad || __builtin_mul_overflow(rows, (int64_t)p->layers, &rows);
    bad = bad || __builtin_mul_overflow(weights, (int64_t)p->layers, &weights);
    bad = bad || __builtin_mul_overflow(weights, p->hidden, &weights);
    bad = bad || __builtin_mul_overflow(weights, widest + p->hidden + 2, &weights);
    int64_t states = 64;
    bad = bad || __builtin_mul_overflow(states, p->batch, &states);
    bad = bad || __builtin_mul_overflow(states, rec->width, &states);
    bad = bad || __builtin_mul_overflow(states, (int64_t)p->layers, &states);
    return !bad;
}

rmcp_status rmcp_rec_init(struct rmcp_recurrence *rec, const rmcp_rnn *problem, int pass)
{
    memset(rec, 0, sizeof *rec);
    rmcp_rnn *p = &rec->problem;
    rmcp_status status = rmcp_struct_read(problem, p, sizeof *p, RMCP_FIRST_RNN, "rmcp_rnn");
    if (status) return status;
    if (pass < RMCP_RNN_INFER || pass > RMCP_RNN_BACKWARD_WEIGHTS)
        return rmcp_fail(RMCP_E_ARG,
                         "pass is %d; known are infer (0), train (1), backward data (2) and "
                         "backward weights (3)",
                         pass);
    if (p->layers == 0) p->layers = 1;
    if ((status = check_sizes(p)) || (status = check_kinds(p))) return status;
    rec->pass = (rmcp_rnn_pass)pass;
    rec->type = (rmcp_type)p->type;
    rec->gates = p->mode == RMCP_RNN_LSTM ? 4 : p->mode == RMCP_RNN_GRU ? 3 : 1;
    rec->directions = p->bidirectional ? 2 : 1;
    rec->width = rec->directions * p->hidden;
    const int64_t *batches = p->batches;
    p->batches = NULL; /* equal problems have equal bytes */
    if ((status = find_runs(rec, batches))) return status;
    if (!fits(rec))
        return rmcp_fail(RMCP_E_ARG,
                         "too large: %" PRId64 " rows, input %" PRId64 ", hidden %" PRId64
                         ", %u layers do not fit in 63 bits",
                         rec->rows, p->input, p->hidden, (unsigned)p->layers);
    char text[RMCP_CASE_MAX];
    if (rmcp_rec_print(rec, text, sizeof text - sizeof "rnn:"))
        return rmcp_fail(RMCP_E_UNSUPPORTED,
                         "sequences of too many different lengths in one batch: a case string has "
                         "no room for them");
    return RMCP_OK;
}

/* ---- the operation ---- */

static rmcp_type type_of(const void *problem)
{
    return ((const struct rmcp_recurrence *)problem)->type;
}

static rmcp_status check_options(const void *problem, const rmcp_plan_options *options)
{
    (void)problem;
    if (!options->fixed_weights.base) return RMCP_OK;
    return rmcp_fail(RMCP_E_ARG, "fixed_weights is set, but a recurrent network has none");
}

double rmcp_rec_flops(const void *problem)
{
    const struct rmcp_recurrence *rec = problem;
    double columns = 0;
    for (int64_t layer = 0; layer < rec->problem.layers; layer++)
        columns += (double)(rmcp_rec_columns(rec, layer) + rec->problem.hidden);
    return 2.0 * (double)rec->rows * (double)(rec->width * rec->gates) * columns;
}

double rmcp_rec_bytes(const void *problem)
{
    double bytes = 0;
    for (unsigned slot = 0; slot < RMCP_REC_SLOTS; slot++) {
        const struct rmcp_slot s = rmcp_rec_slot(problem, slot);
        bytes +=
            (double)s.elements * (double)rmcp_type_bytes(s.type) * (double)(s.read + s.written);
    }
    return bytes;
}

enum { PASS, TYPE, MODE, LAYERS, DIRECTIONS, BIAS, LENGTHS, DROPOUT };
static const struct rmcp_trait traits[] = {
    [PASS] = { "pass", (const char *const[]){ "infer", "train", "bwd", "wrw", NULL } },
    [TYPE] = { "type", (const char *const[]){ "f32", "f16", "bf16", NULL } },
    [MODE] = { "mode", (const char *const[]){ "relu", "tanh", "lstm", "gru", NULL } },
    [LAYERS] = { "layers", (const char *const[]){ "1", "more", NULL } },
    [DIRECTIONS] = { "directions", (const char *const[]){ "1", "2", NULL } },
    [BIAS] = { "bias", (const char *const[]){ "no", "yes", NULL } },
    [LENGTHS] = { "lengths", (const char *const[]){ "equal", "different", NULL } },
    [DROPOUT] = { "dropout", (const char *const[]){ "no", "yes", NULL } },
    { NULL, NULL },
};

static unsigned trait_of(const void *problem, unsigned trait)
{
    const struct rmcp_recurrence *rec = problem;
    const rmcp_rnn *p = &rec->problem;
    switch (trait) {
    case PASS: return rec->pass;
    case TYPE: return p->type;
    case MODE: return p->mode;
    case LAYERS: return p->layers > 1;
    case DIRECTIONS: return p->bidirectional;
    case BIAS: return p->bias;
    case LENGTHS: return rec->n_runs > 1;
    default: return rmcp_rec_drops(rec);
    }
}

/* Every mode with few and with many sequences, one and two directions, masks and lengths. */
static const char *const trials[] = {
    "t3n2i5h7l2:lstm:%s:bi:bias:hx:cx:hy:cy:dhx:dcx:drop0.5:batches2x2,1x1",
    "t2n40i6h9:lstm:%s:bias",
    "t3n3i4h5:gru:%s:bi:bias:hx:hy:dhx",
    "t2n40i6h9:gru:%s:bias",
    "t3n2i6h6l2:relu:%s:skip:hx:dhx",
    "t2n40i3h8:tanh:%s:bi",
    NULL
};

/* Everything is computed when the reference begins. */
static double expect_cost(const void *problem, unsigned slot)
{
    (void)problem, (void)slot;
    return 1;
}

const struct rmcp_operation rmcp_operation_rnn = {
    .name = "rnn",
    .problem_bytes = sizeof(struct rmcp_recurrence),
    .n_slots = RMCP_REC_SLOTS,
    .algos = rmcp_algos_rnn,
    .slot = rmcp_rec_slot,
    .type = type_of,
    .check_options = check_options,
    .flops = rmcp_rec_flops,
    .bytes = rmcp_rec_bytes,
    .parse = rmcp_rec_parse,
    .print = rmcp_rec_print,
    .traits = traits,
    .trait = trait_of,
    .draw = rmcp_rec_draw,
    .trials = trials,
    .fill = rmcp_rec_fill,
    .reference_begin = rmcp_rec_reference_begin,
    .reference_end = rmcp_rec_reference_end,
    .expect = rmcp_rec_expect,
    .expect_cost = expect_cost,
};
