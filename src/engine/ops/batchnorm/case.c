/* case.c: batch normalisation's case strings, as text: n8c64h56w56:f32:nchw:train:running:relu */
#include "engine/ops/batchnorm/batchnorm.h"

#include "engine/core/case_text.h"

#include <inttypes.h>
#include <string.h>

static const char prefix[] = "batchnorm:";

/* The number fields in printing order, which is also the order in documentation. */
static const char fields[] = "ncthw";
enum { N, C, T, H, W, N_FIELDS };

struct norm_reader {
    struct rmcp_case_reader in;
    bool given[N_FIELDS];
    int64_t value[N_FIELDS];
    rmcp_batchnorm problem;
    int pass;
    unsigned seen; /* kinds of words that were there, a mask */
};

/* A letter and a number: n8. */
static rmcp_status read_field(struct norm_reader *r)
{
    const char letter = *r->in.at, *found = strchr(fields, letter);
    if (!found) {
        char bad[2] = { letter, 0 }, buffer[64];
        return rmcp_case_complain(&r->in, "no field '%s' (position %zu); fields are n c t h w",
                                  rmcp_quoted(bad, buffer), (size_t)(r->in.at - r->in.text) + 1);
    }
    const size_t field = (size_t)(found - fields);
    if (r->given[field]) return rmcp_case_complain(&r->in, "'%c' is given twice", letter);
    r->given[field] = true;

    r->in.at++;
    return rmcp_case_number(&r->in, letter, &r->value[field]);
}

enum word_kind { TYPE, LAYOUT, PASS, MODE, RUNNING, SAVED, ACTIVATION, EPSILON, MOMENTUM };
static const char *const kind_names[] = { "type",       "layout",    "pass",
                                          "mode",       "'running'", "'saved'",
                                          "activation", "epsilon",   "momentum" };

static const struct word {
    const char *name;
    enum word_kind kind;
    int value;
} words[] = {
    { "f32", TYPE, RMCP_F32 },
    { "f16", TYPE, RMCP_F16 },
    { "bf16", TYPE, RMCP_BF16 },
    { "nchw", LAYOUT, RMCP_NCHW },
    { "nhwc", LAYOUT, RMCP_NHWC },
    { "ncw", LAYOUT, RMCP_NCHW },
    { "nwc", LAYOUT, RMCP_NHWC },
    { "ncdhw", LAYOUT, RMCP_NCHW },
    { "ndhwc", LAYOUT, RMCP_NHWC },
    { "train", PASS, RMCP_BATCHNORM_TRAIN },
    { "infer", PASS, RMCP_BATCHNORM_INFER },
    { "bwd", PASS, RMCP_BATCHNORM_BACKWARD },
    { "spatial", MODE, RMCP_SPATIAL },
    { "activation", MODE, RMCP_PER_ACTIVATION },
    { "running", RUNNING, 1 },
    { "saved", SAVED, 1 },
    { "relu", ACTIVATION, RMCP_RELU },
    /* a number follows */
    { "leaky", ACTIVATION, RMCP_LEAKY_RELU },
    { "clamp", ACTIVATION, RMCP_CLAMP },
    { "eps", EPSILON, 0 },
    { "mom", MOMENTUM, 0 },
};
enum { N_WORDS = sizeof words / sizeof *words, FIRST_NUMBER = N_WORDS - 4 };

/* The row of a word; `*rest` is what follows its name. NULL when there is none. */
static const struct word *find_word(const char *word, const char **rest)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        const size_t length = strlen(words[i].name);
        if (strncmp(word, words[i].name, length)) continue;
        if (i < FIRST_NUMBER && word[length]) continue;
        *rest = word + length;
        return &words[i];
    }
    return NULL;
}

static rmcp_status apply_word(struct norm_reader *r, const struct word *w, const char *word,
                              const char **rest)
{
    rmcp_batchnorm *p = &r->problem;
    rmcp_status status;
    switch (w->kind) {
    case TYPE: p->type = (uint32_t)w->value; return RMCP_OK;
    case LAYOUT: p->layout = (uint32_t)w->value; return RMCP_OK;
    case PASS: r->pass = w->value; return RMCP_OK;
    case MODE: p->mode = (uint32_t)w->value; return RMCP_OK;
    case RUNNING: p->running = 1; return RMCP_OK;
    case SAVED: p->saved = 1; return RMCP_OK;
    case ACTIVATION:
        *rest += strlen(*rest);
        return rmcp_case_activation(&r->in, word,
                                    (struct rmcp_case_activation){ &p->activation, &p->slope,
                                                                   &p->clamp_low, &p->clamp_high });
    case EPSILON:
        status = rmcp_case_real(&r->in, "eps", rest, &p->epsilon);
        /* 0 is "default" in the struct, but a case string that says eps0 means 0. */
        return status ? status : p->epsilon == 0 ? rmcp_case_complain(&r->in, "eps is 0") : RMCP_OK;
    default:
        status = rmcp_case_real(&r->in, "mom", rest, &p->momentum);
        return status             ? status
               : p->momentum == 0 ? rmcp_case_complain(&r->in, "mom is 0")
                                  : RMCP_OK;
    }
}

/* One word behind a colon. */
static rmcp_status read_word(struct norm_reader *r)
{
    char word[48], buffer[64];
    const char *rest = NULL;
    rmcp_status status = rmcp_case_word(&r->in, word, sizeof word);
    if (status) return status;
    const struct word *w = find_word(word, &rest);
    if (!w)
        return rmcp_case_complain(
            &r->in,
            "unknown word '%s'; known are f32 f16 bf16, nchw nhwc, train infer bwd, "
            "spatial activation, running, saved, relu, leaky0.1, clamp0x6, eps1e-5, "
            "mom0.1",
            rmcp_quoted(word, buffer));
    if (r->seen & 1u << w->kind)
        return rmcp_case_complain(&r->in, "a second %s, '%s'", kind_names[w->kind],
                                  rmcp_quoted(word, buffer));
    r->seen |= 1u << w->kind;
    status = apply_word(r, w, word, &rest);
    if (!status && *rest)
        return rmcp_case_complain(&r->in, "'%s' does not end after its number",
                                  rmcp_quoted(word, buffer));
    return status;
}

static rmcp_status assemble(struct norm_reader *r)
{
    rmcp_batchnorm *p = &r->problem;
    if (!r->given[C]) return rmcp_case_complain(&r->in, "'c' is missing");
    if (!r->given[W]) return rmcp_case_complain(&r->in, "'w' is missing");
    if (r->given[T] && !r->given[H]) return rmcp_case_complain(&r->in, "'t' is given without 'h'");
    p->n = r->given[N] ? r->value[N] : 1;
    p->c = r->value[C];
    p->dims = 0;
    for (int field = T; field <= W; field++)
        if (r->given[field]) p->input[p->dims++] = r->value[field];
    struct rmcp_norm norm;
    if (rmcp_norm_init(&norm, p, RMCP_BATCHNORM_TRAIN))
        return rmcp_case_complain(&r->in, "%s", rmcp_last_error());
    *p = norm.problem;
    return RMCP_OK;
}

static rmcp_status read_case(struct norm_reader *r, const char *text)
{
    *r = (struct norm_reader){ .problem.struct_size = sizeof r->problem, .pass = -1 };
    rmcp_status status = rmcp_case_begin(&r->in, "batchnorm", text);
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

rmcp_status rmcp_batchnorm_parse(const char *text, rmcp_batchnorm *problem, int *pass)
{
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct norm_reader r;
    const size_t skip = strncmp(text, prefix, sizeof prefix - 1) ? 0 : sizeof prefix - 1;
    rmcp_status status = read_case(&r, text + skip);
    if (!status)
        status = rmcp_struct_write(&r.problem, sizeof r.problem, problem, RMCP_FIRST_BATCHNORM,
                                   "rmcp_batchnorm");
    if (!status && pass) *pass = r.pass;
    return status;
}

rmcp_status rmcp_norm_parse(const char *text, void *problems, size_t *count)
{
    struct norm_reader r;
    rmcp_status status = read_case(&r, text);
    if (status) return status;
    struct rmcp_norm *norms = problems;
    size_t n = 0;
    for (int pass = 0; pass < RMCP_BATCHNORM_PASSES && !status; pass++)
        if (r.pass < 0 || r.pass == pass) status = rmcp_norm_init(&norms[n++], &r.problem, pass);
    if (!status) *count = n;
    return status;
}

/* ---- printing ---- */

static void put_words(struct rmcp_case_writer *out, const rmcp_batchnorm *p, int pass)
{
    static const char *const passes[] = { "train", "infer", "bwd" };
    static const char *const layouts[] = { "nchw", "nhwc" };
    rmcp_case_put(out, ":%s:%s", rmcp_type_names[p->type], layouts[p->layout]);
    if (pass >= 0) rmcp_case_put(out, ":%s", passes[pass]);
    if (p->mode == RMCP_PER_ACTIVATION) rmcp_case_put(out, ":activation");
    if (p->running) rmcp_case_put(out, ":running");
    if (p->saved) rmcp_case_put(out, ":saved");
    rmcp_case_put_activation(out, p->activation, p->slope, p->clamp_low, p->clamp_high);
    if (p->epsilon != 1e-5) rmcp_case_put(out, ":eps%.17g", p->epsilon);
    if (p->momentum != 0.1) rmcp_case_put(out, ":mom%.17g", p->momentum);
}

static rmcp_status print(const rmcp_batchnorm *p, int pass, const char *start, char *text,
                         size_t size)
{
    struct rmcp_case_writer out = { text, size, 0 };
    rmcp_case_put(&out, "%sn%" PRId64 "c%" PRId64, start, p->n, p->c);
    for (uint32_t i = 0; i < p->dims; i++)
        rmcp_case_put(&out, "%c%" PRId64, "thw"[RMCP_MAX_DIMS - p->dims + i], p -> input[i]);
    const locale_t before = rmcp_plain_locale_enter();
    put_words(&out, p, pass);
    rmcp_plain_locale_leave(before);
    return rmcp_case_end(&out);
}

rmcp_status rmcp_batchnorm_print(const rmcp_batchnorm *problem, int pass, char *text, size_t size)
{
    if (!text || !size) return rmcp_fail(RMCP_E_ARG, "no room for the text: %zu bytes", size);
    text[0] = '\0';
    struct rmcp_norm norm;
    rmcp_status status = rmcp_norm_init(&norm, problem, pass == -1 ? RMCP_BATCHNORM_TRAIN : pass);
    return status ? status : print(&norm.problem, pass, prefix, text, size);
}

rmcp_status rmcp_norm_print(const void *problem, char *text, size_t size)
{
    const struct rmcp_norm *norm = problem;
    return print(&norm->problem, (int)norm->pass, "", text, size);
}
