/* case.c: recurrent networks' case strings, as text:
 * t5n3i7h8l2:lstm:f32:train:bi:bias:batches3x2,1x3 */
#include "engine/ops/rnn/rnn.h"

#include "engine/core/case_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "rnn:";

/* The number fields in printing order, which is also the order in documentation. */
static const char fields[] = "tnihl";
enum { T, N, I, H, L, N_FIELDS };

struct rec_reader {
    struct rmcp_case_reader in;
    bool given[N_FIELDS];
    int64_t value[N_FIELDS];
    rmcp_rnn problem;
    int pass;
    unsigned seen; /* kinds of words that were there, a mask */
    size_t n_runs;
    struct rmcp_rnn_run run[RMCP_RNN_MOST_RUNS];
};

/* A letter and a number: n8. */
static rmcp_status read_field(struct rec_reader *r)
{
    const char letter = *r->in.at, *found = strchr(fields, letter);
    if (!found) {
        char bad[2] = { letter, 0 }, buffer[64];
        return rmcp_case_complain(&r->in, "no field '%s' (position %zu); fields are t n i h l",
                                  rmcp_quoted(bad, buffer), (size_t)(r->in.at - r->in.text) + 1);
    }
    const size_t field = (size_t)(found - fields);
    if (r->given[field]) return rmcp_case_complain(&r->in, "'%c' is given twice", letter);
    r->given[field] = true;
    r->in.at++;
    return rmcp_case_number(&r->in, letter, &r->value[field]);
}

enum word_kind { TYPE, MODE, PASS, BI, BIAS, SKIP, FIRST_STATE, DROP = FIRST_STATE + 6 };

static const struct word {
    const char *name;
    unsigned kind;
    unsigned value;
} words[] = {
    { "f32", TYPE, RMCP_F32 },
    { "f16", TYPE, RMCP_F16 },
    { "bf16", TYPE, RMCP_BF16 },
    { "relu", MODE, RMCP_RNN_RELU },
    { "tanh", MODE, RMCP_RNN_TANH },
    { "lstm", MODE, RMCP_RNN_LSTM },
    { "gru", MODE, RMCP_RNN_GRU },
    { "infer", PASS, RMCP_RNN_INFER },
    { "train", PASS, RMCP_RNN_TRAIN },
    { "bwd", PASS, RMCP_RNN_BACKWARD_DATA },
    { "wrw", PASS, RMCP_RNN_BACKWARD_WEIGHTS },
    { "bi", BI, 1 },
    { "bias", BIAS, 1 },
    { "skip", SKIP, 1 },
    { "hx", FIRST_STATE, RMCP_RNN_HX },
    { "cx", FIRST_STATE + 1, RMCP_RNN_CX },
    { "hy", FIRST_STATE + 2, RMCP_RNN_HY },
    { "cy", FIRST_STATE + 3, RMCP_RNN_CY },
    { "dhx", FIRST_STATE + 4, RMCP_RNN_DHX },
    { "dcx", FIRST_STATE + 5, RMCP_RNN_DCX },
};
enum { N_WORDS = sizeof words / sizeof *words, FIRST_STATE_WORD = N_WORDS - 6 };

static void apply_word(struct rec_reader *r, const struct word *w)
{
    rmcp_rnn *p = &r->problem;
    switch (w->kind) {
    case TYPE: p->type = w->value; break;
    case MODE: p->mode = w->value; break;
    case PASS: r->pass = (int)w->value; break;
    case BI: p->bidirectional = 1; break;
    case BIAS: p->bias = 1; break;
    case SKIP: p->skip = 1; break;
    default: p->given |= w->value; break;
    }
}

/* batches3x2,1x4: two steps of three sequences, then four of one. It may be longer than a word. */
static rmcp_status read_batches(struct rec_reader *r)
{
    if (r->n_runs) return rmcp_case_complain(&r->in, "a second 'batches'");
    r->in.at += strlen("batches");
    for (;;) {
        int64_t batch = 0, steps = 0;
        rmcp_status status = rmcp_case_number(&r->in, '\0', &batch);
        if (!status && *r->in.at != 'x')
            return rmcp_case_complain(&r->in, "batches are written as 3x2,1x4: sequences, steps");
        if (!status) r->in.at++, status = rmcp_case_number(&r->in, '\0', &steps);
        if (status) return status;
        if (batch < 1 || batch > INT32_MAX || steps < 1 || steps > INT32_MAX)
            return rmcp_case_complain(&r->in, "batches has %" PRId64 "x%" PRId64, batch, steps);
        if (r->n_runs == RMCP_RNN_MOST_RUNS)
            return rmcp_case_complain(&r->in, "more than %d batches", RMCP_RNN_MOST_RUNS);
        if (r->n_runs && r->run[r->n_runs - 1].batch <= batch)
            return rmcp_case_complain(&r->in, "batches must become smaller");
        r->run[r->n_runs++] = (struct rmcp_rnn_run){ (int32_t)steps, (int32_t)batch };
        if (*r->in.at != ',') break;
        r->in.at++;
    }
    if (*r->in.at && *r->in.at != ':')
        return rmcp_case_complain(&r->in, "'batches' does not end after its numbers");
    return RMCP_OK;
}

/* One word behind a colon. */
static rmcp_status read_word(struct rec_reader *r)
{
    if (!strncmp(r->in.at, "batches", strlen("batches"))) return read_batches(r);
    char word[48], buffer[64];
    rmcp_status status = rmcp_case_word(&r->in, word, sizeof word);
    if (status) return status;
    if (!strncmp(word, "drop", 4)) {
        const char *rest = word + 4;
        if (r->seen & 1u << DROP) return rmcp_case_complain(&r->in, "a second 'drop'");
        r->seen |= 1u << DROP;
        status = rmcp_case_real(&r->in, "drop", &rest, &r->problem.dropout);
        if (!status && *rest)
            return rmcp_case_complain(&r->in, "'%s' does not end after its number",
                                      rmcp_quoted(word, buffer));
        return status;
    }
    for (size_t i = 0; i < N_WORDS; i++) {
        if (strcmp(word, words[i].name)) continue;
        if (r->seen & 1u << words[i].kind)
            return rmcp_case_complain(&r->in, "a second word for what '%s' says",
                                      rmcp_quoted(word, buffer));
        r->seen |= 1u << words[i].kind;
        apply_word(r, &words[i]);
        return RMCP_OK;
    }
    return rmcp_case_complain(&r->in,
                              "unknown word '%s'; known are f32 f16 bf16, relu tanh lstm gru, "
                              "infer train bwd wrw, bi, bias, skip, hx cx hy cy dhx dcx, drop0.5, "
                              "batches3x2,1x4",
                              rmcp_quoted(word, buffer));
}

/* What stays of a text: a problem without batches, which are in the runs. */
static rmcp_status assemble(struct rec_reader *r)
{
    rmcp_rnn *p = &r->problem;
    for (int field = I; field <= H; field++)
        if (!r->given[field]) return rmcp_case_complain(&r->in, "'%c' is missing", fields[field]);
    if (!(r->seen & 1u << MODE))
        return rmcp_case_complain(&r->in, "relu, tanh, lstm or gru is missing");
    int64_t steps = 0;
    for (size_t i = 0; i < r->n_runs; i++) steps += r->run[i].steps;
    p->steps = r->given[T] ? r->value[T] : r->n_runs ? steps : 1;
    p->batch = r->given[N] ? r->value[N] : r->n_runs ? r->run[0].batch : 1;
    if (r->n_runs && (p->steps != steps || p->batch != r->run[0].batch))
        return rmcp_case_complain(&r->in, "batches are those of t%" PRId64 "n%d", steps,
                                  (int)r->run[0].batch);
    p->input = r->value[I];
    p->hidden = r->value[H];
    if (r->given[L] && (r->value[L] < 1 || r->value[L] > UINT32_MAX))
        return rmcp_case_complain(&r->in, "l is %" PRId64, r->value[L]);
    p->layers = r->given[L] ? (uint32_t)r->value[L] : 1;
    return RMCP_OK;
}

static rmcp_status read_case(struct rec_reader *r, const char *text)
{
    memset(r, 0, sizeof *r);
    r->problem.struct_size = sizeof r->problem;
    r->pass = -1;
    rmcp_status status = rmcp_case_begin(&r->in, "rnn", text);
    const locale_t before = rmcp_plain_locale_enter();
    while (!status && *r->in.at && *r->in.at != ':') status = read_field(r);
    while (!status && *r->in.at) {
        r->in.at++; /* the colon */
        status = read_word(r);
    }
    if (!status) status = assemble(r);
    rmcp_plain_locale_leave(before);
    return status;
}

/* The canonical form of what was read, which may have batches that nobody has room for. */
static rmcp_status init(struct rmcp_recurrence *rec, const struct rec_reader *r, int pass)
{
    rmcp_rnn problem = r->problem;
    int64_t *batches = NULL;
    if (r->n_runs) {
        if (problem.steps > 1 << 24)
            return rmcp_case_complain(&r->in, "t is %" PRId64, problem.steps);
        batches = malloc((size_t)problem.steps * sizeof *batches);
        if (!batches) return rmcp_fail_memory("batches", (size_t)problem.steps * sizeof *batches);
        int64_t t = 0;
        for (size_t i = 0; i < r->n_runs; i++)
            for (int32_t k = 0; k < r->run[i].steps; k++) batches[t++] = r->run[i].batch;
        problem.batches = batches;
    }
    rmcp_status status = rmcp_rec_init(rec, &problem, pass);
    free(batches);
    return status == RMCP_E_ARG ? rmcp_case_complain(&r->in, "%s", rmcp_last_error()) : status;
}

rmcp_status rmcp_rnn_parse(const char *text, rmcp_rnn *problem, int *pass, int64_t *batches,
                           size_t room)
{
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct rec_reader r;
    struct rmcp_recurrence rec;
    const size_t skip = strncmp(text, prefix, sizeof prefix - 1) ? 0 : sizeof prefix - 1;
    rmcp_status status = read_case(&r, text + skip);
    if (!status) status = init(&rec, &r, RMCP_RNN_INFER);
    if (status) return status;
    if (rec.n_runs > 1 && (!batches || room < (size_t)rec.problem.steps))
        return rmcp_case_complain(&r.in, "room for %zu batches, but it has %" PRId64, room,
                                  rec.problem.steps);
    if (rec.n_runs > 1) rec.problem.batches = batches;
    status =
        rmcp_struct_write(&rec.problem, sizeof rec.problem, problem, RMCP_FIRST_RNN, "rmcp_rnn");
    if (status) return status;
    if (pass) *pass = r.pass;
    if (rec.n_runs > 1) {
        int64_t t = 0;
        for (int64_t i = 0; i < rec.n_runs; i++)
            for (int32_t k = 0; k < rec.run[i].steps; k++) batches[t++] = rec.run[i].batch;
    }
    return RMCP_OK;
}

rmcp_status rmcp_rec_parse(const char *text, void *problems, size_t *count)
{
    struct rec_reader r;
    rmcp_status status = read_case(&r, text);
    if (status) return status;
    struct rmcp_recurrence *recs = problems;
    size_t n = 0;
    for (int pass = 0; pass < RMCP_RNN_PASSES && !status; pass++)
        if (r.pass < 0 || r.pass == pass) status = init(&recs[n++], &r, pass);
    if (!status) *count = n;
    return status;
}

/* ---- printing ---- */

static void put_words(struct rmcp_case_writer *out, const struct rmcp_recurrence *rec, int pass)
{
    static const char *const modes[] = { "relu", "tanh", "lstm", "gru" };
    static const char *const passes[] = { "infer", "train", "bwd", "wrw" };
    const rmcp_rnn *p = &rec->problem;
    rmcp_case_put(out, ":%s:%s", modes[p->mode], rmcp_type_names[p->type]);
    if (pass >= 0) rmcp_case_put(out, ":%s", passes[pass]);
    if (p->bidirectional) rmcp_case_put(out, ":bi");
    if (p->bias) rmcp_case_put(out, ":bias");
    if (p->skip) rmcp_case_put(out, ":skip");
    for (size_t i = FIRST_STATE_WORD; i < N_WORDS; i++)
        if (p->given & words[i].value) rmcp_case_put(out, ":%s", words[i].name);
    if (p->dropout > 0) rmcp_case_put(out, ":drop%.17g", p->dropout);
    for (int64_t i = 0; i < rec->n_runs && rec->n_runs > 1; i++)
        rmcp_case_put(out, "%s%dx%d", i ? "," : ":batches", (int)rec->run[i].batch,
                      (int)rec->run[i].steps);
}

static rmcp_status print(const struct rmcp_recurrence *rec, int pass, const char *start, char *text,
                         size_t size)
{
    const rmcp_rnn *p = &rec->problem;
    struct rmcp_case_writer out = { text, size, 0 };
    rmcp_case_put(&out, "%st%" PRId64 "n%" PRId64 "i%" PRId64 "h%" PRId64, start, p->steps,
                  p->batch, p->input, p->hidden);
    if (p->layers > 1) rmcp_case_put(&out, "l%u", (unsigned)p->layers);
    const locale_t before = rmcp_plain_locale_enter();
    put_words(&out, rec, pass);
    rmcp_plain_locale_leave(before);
    return rmcp_case_end(&out);
}

rmcp_status rmcp_rnn_print(const rmcp_rnn *problem, int pass, char *text, size_t size)
{
    if (!text || !size) return rmcp_fail(RMCP_E_ARG, "no room for the text: %zu bytes", size);
    text[0] = '\0';
    struct rmcp_recurrence rec;
    rmcp_status status = rmcp_rec_init(&rec, problem, pass == -1 ? RMCP_RNN_INFER : pass);
    return status ? status : print(&rec, pass, prefix, text, size);
}

rmcp_status rmcp_rec_print(const void *problem, char *text, size_t size)
{
    const struct rmcp_recurrence *rec = problem;
    return print(rec, (int)rec->pass, "", text, size);
}
