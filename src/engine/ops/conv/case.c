/* case.c: case strings, one problem and pass as text: n1c64h56w56k64r3s3p1:f32:nchw:fwd */
#include "engine/core/case_text.h"
#include "engine/ops/conv/conv.h"

#include <inttypes.h>
#include <string.h>

/* The number fields in printing order, which is also the order in documentation. */
static const char fields[] = "ncthwkrspudg";
enum { N_FIELDS = sizeof fields - 1 };

struct field {
    bool given;
    unsigned n_values;
    int64_t value[RMCP_MAX_DIMS], end[RMCP_MAX_DIMS]; /* end: second half of p1-2 */
};

struct conv_reader {
    struct rmcp_case_reader in;
    struct field field[N_FIELDS];
    rmcp_conv problem;
    int pass;
    bool has_type, has_layout, has_activation;
};

static struct field *field_of(struct conv_reader *r, char letter)
{
    return &r->field[strchr(fields, letter) - fields];
}

/* Letter, then numbers: n8, p1, p1x2 (per dimension), p0-1 (begin and end), t8x3 (depth, filter).
 */
static rmcp_status read_field(struct conv_reader *r)
{
    char letter = *r->in.at;
    if (!letter || !strchr(fields, letter)) {
        char bad[2] = { letter, 0 }, buffer[64];
        return rmcp_case_complain(
            &r->in, "no field '%s' (position %zu); fields are n c t h w k r s p u d g",
            rmcp_quoted(bad, buffer), (size_t)(r->in.at - r->in.text) + 1);
    }
    struct field *f = field_of(r, letter);
    if (f->given) return rmcp_case_complain(&r->in, "'%c' is given twice", letter);
    f->given = true;
    const unsigned most = strchr("pud", letter) ? RMCP_MAX_DIMS : letter == 't' ? 2 : 1;
    r->in.at++;
    for (;;) {
        rmcp_status status = rmcp_case_number(&r->in, letter, &f->value[f->n_values]);
        if (status) return status;
        f->end[f->n_values] = f->value[f->n_values];
        if (letter == 'p' && *r->in.at == '-') {
            r->in.at++;
            if ((status = rmcp_case_number(&r->in, letter, &f->end[f->n_values]))) return status;
        }
        f->n_values++;
        if (*r->in.at != 'x') return RMCP_OK;
        if (f->n_values == most)
            return rmcp_case_complain(&r->in, "'%c' takes %u number%s at most", letter, most,
                                      most > 1 ? "s" : "");
        r->in.at++;
    }
}

static const struct {
    const char *name;
    int value;
} passes[] = { { "fwd", RMCP_CONV_FORWARD },
               { "bwd_data", RMCP_CONV_BACKWARD_DATA },
               { "bwd_weights", RMCP_CONV_BACKWARD_WEIGHTS },
               { "bwd", RMCP_CONV_BACKWARD_DATA },
               { "wrw", RMCP_CONV_BACKWARD_WEIGHTS } };

/* One word behind a colon. */
static rmcp_status read_word(struct conv_reader *r)
{
    rmcp_conv *p = &r->problem;
    char word[40], buffer[64];
    rmcp_status status = rmcp_case_word(&r->in, word, sizeof word);
    if (status) return status;
    for (uint32_t type = 0; rmcp_type_names[type]; type++)
        if (!strcmp(word, rmcp_type_names[type])) {
            if (r->has_type) return rmcp_case_complain(&r->in, "a second type, '%s'", word);
            r->has_type = true;
            p->type = type;
            return RMCP_OK;
        }
    const int layout = rmcp_case_layout(word);
    if (layout >= 0) {
        if (r->has_layout) return rmcp_case_complain(&r->in, "a second layout, '%s'", word);
        r->has_layout = true;
        p->layout = (uint32_t)layout;
        return RMCP_OK;
    }
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (!strcmp(word, passes[i].name)) {
            if (r->pass >= 0) return rmcp_case_complain(&r->in, "a second pass, '%s'", word);
            r->pass = passes[i].value;
            return RMCP_OK;
        }
    if (!strcmp(word, "bias")) {
        if (p->bias) return rmcp_case_complain(&r->in, "'bias' is given twice");
        p->bias = 1;
        return RMCP_OK;
    }
    if (rmcp_case_is_activation(word)) {
        if (r->has_activation)
            return rmcp_case_complain(&r->in, "a second activation, '%s'",
                                      rmcp_quoted(word, buffer));
        r->has_activation = true;
        const struct rmcp_case_activation out = { &p->activation, &p->slope, &p->clamp_low,
                                                  &p->clamp_high };
        return rmcp_case_activation(&r->in, word, out);
    }
    return rmcp_case_complain(&r->in,
                              "unknown word '%s'; known are f32 f16 bf16, nchw nhwc, fwd bwd_data "
                              "bwd_weights, bias, relu, leaky0.1, clamp0x6",
                              rmcp_quoted(word, buffer));
}

/* Spread a field over the dimensions: one number stands for all of them. */
static rmcp_status spread(struct conv_reader *r, char letter, int64_t *begin, int64_t *end)
{
    const struct field *f = field_of(r, letter);
    if (!f->given) return RMCP_OK;
    if (f->n_values != 1 && f->n_values != r->problem.dims)
        return rmcp_case_complain(&r->in, "'%c' has %u numbers for %u dimensions", letter,
                                  f->n_values, (unsigned)r->problem.dims);
    for (uint32_t i = 0; i < r->problem.dims; i++) {
        uint32_t from = f->n_values == 1 ? 0 : i;
        begin[i] = f->value[from];
        if (end) end[i] = f->end[from];
        /* 0 is "default" in the struct, but a case string that says u0 means 0. */
        if (!end && !begin[i])
            return rmcp_case_complain(&r->in, "%c is 0; it must be at least 1", letter);
    }
    return RMCP_OK;
}

static rmcp_status assemble(struct conv_reader *r)
{
    rmcp_conv *p = &r->problem;
    struct field *t = field_of(r, 't'), *h = field_of(r, 'h'), *w = field_of(r, 'w');
    struct field *rows = field_of(r, 'r'), *columns = field_of(r, 's');
    struct field *n = field_of(r, 'n'), *g = field_of(r, 'g');

    static const char required[] = "ckw";
    if (n->given && n->value[0] == 0)
        return rmcp_case_complain(&r->in, "n is 0; it must be at least 1");
    if (g->given && g->value[0] == 0)
        return rmcp_case_complain(&r->in, "g is 0; it must be at least 1");
    for (const char *letter = required; *letter; letter++)
        if (!field_of(r, *letter)->given)
            return rmcp_case_complain(&r->in, "'%c' is missing", *letter);
    if (t->given && !h->given) return rmcp_case_complain(&r->in, "'t' is given without 'h'");
    if (rows->given && !h->given) return rmcp_case_complain(&r->in, "'r' is given without 'h'");
    if (h->given && rows->given != columns->given)
        return rmcp_case_complain(&r->in, "'%c' is given without '%c'", rows->given ? 'r' : 's',
                                  rows->given ? 's' : 'r');

    p->dims = t->given ? 3 : h->given ? 2 : 1;
    p->n = n->given ? n->value[0] : 1;
    p->c = field_of(r, 'c')->value[0];
    p->k = field_of(r, 'k')->value[0];
    p->groups = g->given ? g->value[0] : 1;

    const int64_t height = rows->given ? rows->value[0] : 1;
    uint32_t i = 0;
    if (t->given) {
        p->input[i] = t->value[0];
        p->filter[i++] = t->n_values > 1 ? t->value[1] : height;
    }
    if (h->given) {
        p->input[i] = h->value[0];
        p->filter[i++] = height;
    }
    p->input[i] = w->value[0];
    p->filter[i] = columns->given ? columns->value[0] : 1;

    rmcp_status status;
    if ((status = spread(r, 'p', p->pad_begin, p->pad_end)) ||
        (status = spread(r, 'u', p->stride, NULL)) || (status = spread(r, 'd', p->dilation, NULL)))
        return status;
    struct rmcp_convolution conv;
    if (rmcp_conv_init(&conv, p, RMCP_CONV_FORWARD))
        return rmcp_case_complain(&r->in, "%s", rmcp_last_error());
    *p = conv.problem;
    return RMCP_OK;
}

rmcp_status rmcp_conv_parse(const char *text, rmcp_conv *problem, int *pass)
{
    if (!text) return rmcp_fail(RMCP_E_ARG, "text is NULL");
    struct conv_reader r = { .problem.struct_size = sizeof r.problem, .pass = -1 };
    rmcp_status status = rmcp_case_begin(&r.in, NULL, text);
    const locale_t before = rmcp_plain_locale_enter();
    while (!status && *r.in.at && *r.in.at != ':') status = read_field(&r);
    while (!status && *r.in.at) {
        r.in.at++; /* the colon */
        status = read_word(&r);
    }
    if (!status) status = assemble(&r);
    rmcp_plain_locale_leave(before);
    if (!status)
        status =
            rmcp_struct_write(&r.problem, sizeof r.problem, problem, RMCP_FIRST_CONV, "rmcp_conv");
    if (!status && pass) *pass = r.pass;
    return status;
}

/* ---- printing ---- */

/* One number when all dimensions agree; nothing when they all hold the default. */
static void put_spread(struct rmcp_case_writer *out, char letter, const int64_t *begin,
                       const int64_t *end, uint32_t dims, int64_t standard)
{
    bool same = true, plain = true;
    for (uint32_t i = 0; i < dims; i++) {
        same = same && begin[i] == begin[0] && end[i] == end[0];
        plain = plain && begin[i] == standard && end[i] == standard;
    }
    if (plain) return;
    for (uint32_t i = 0; i < (same ? 1 : dims); i++) {
        rmcp_case_put(out, "%c%" PRId64, i ? 'x' : letter, begin[i]);
        if (end[i] != begin[i]) rmcp_case_put(out, "-%" PRId64, end[i]);
    }
}

rmcp_status rmcp_conv_print(const rmcp_conv *problem, int pass, char *text, size_t size)
{
    if (!text || !size) return rmcp_fail(RMCP_E_ARG, "no room for the text: %zu bytes", size);
    text[0] = '\0';
    struct rmcp_convolution conv;
    rmcp_status status = rmcp_conv_init(&conv, problem, pass == -1 ? RMCP_CONV_FORWARD : pass);
    if (status) return status;

    const rmcp_conv *p = &conv.problem;
    struct rmcp_case_writer out = { text, size, 0 };
    rmcp_case_put(&out, "n%" PRId64 "c%" PRId64, p->n, p->c);
    if (p->dims == 3) rmcp_case_put(&out, "t%" PRId64 "x%" PRId64, conv.input[0], conv.filter[0]);
    if (p->dims >= 2) rmcp_case_put(&out, "h%" PRId64, conv.input[1]);
    rmcp_case_put(&out, "w%" PRId64 "k%" PRId64, conv.input[2], p->k);
    if (p->dims >= 2) rmcp_case_put(&out, "r%" PRId64, conv.filter[1]);
    rmcp_case_put(&out, "s%" PRId64, conv.filter[2]);
    put_spread(&out, 'p', p->pad_begin, p->pad_end, p->dims, 0);
    put_spread(&out, 'u', p->stride, p->stride, p->dims, 1);
    put_spread(&out, 'd', p->dilation, p->dilation, p->dims, 1);
    if (p->groups != 1) rmcp_case_put(&out, "g%" PRId64, p->groups);
    rmcp_case_put(&out, ":%s:%s", rmcp_type_names[p->type],
                  p->layout == RMCP_NHWC ? "nhwc" : "nchw");
    if (pass >= 0) rmcp_case_put(&out, ":%s", passes[pass].name);
    if (p->bias) rmcp_case_put(&out, ":bias");
    const locale_t before = rmcp_plain_locale_enter();
    rmcp_case_put_activation(&out, p->activation, p->slope, p->clamp_low, p->clamp_high);
    rmcp_plain_locale_leave(before);
    return rmcp_case_end(&out);
}
