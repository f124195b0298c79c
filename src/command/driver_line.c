/* driver_line.c: a line that MIOPEN_ENABLE_LOGGING_CMD prints, "… MIOpenDriver conv -n 1 -c 3 …",
 * as case strings. Defaults are MIOpenDriver's. */
#include "command/cli.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 32 };

/* An option; those without a name of their own in a case string (-i, -V, -t …) are in `ignored`. */
struct option {
    const char *name;
    char letter;
    const char *otherwise;
};

struct line {
    const char *command; /* "conv" */
    const struct option *options;
    const char *value[MOST_OPTIONS];
    const char *type; /* "f16" */
    struct cli_driver_cases *out;
};

#include "command/driver_options.inc"

/* Files, iterations, times, searches: a case string says nothing of them. */
static const char ignored[] = "iVtwsPodebaDSGCqfjkl";
static const char *const ignored_names[] = {
    "iter",        "verify",   "time",    "wall",     "search",      "printconv",
    "print",       "in_data",  "weights", "bias",     "in_bias",     "dout_data",
    "solution",    "gpualloc", "rnnalgo", "datatype", "use_padding", "verification_cache",
    "dump_output", NULL,
};

/* ---- reading ---- */

static int find(const struct line *line, char letter)
{
    for (int i = 0; line->options[i].name; i++)
        if (line->options[i].letter == letter) return i;
    return -1;
}

static const char *text_of(const struct line *line, char letter)
{
    const int i = find(line, letter);
    return i < 0 ? "" : line->value[i];
}

/* A value that means nothing here. */
static rmcp_status refuse(const struct line *line, const char *option, const char *value)
{
    return rmcp_fail(RMCP_E_ARG, "MIOpenDriver %.20s: '%.40s' is no %s that is known",
                     line->command, value, option);
}

/* A whole number from 0 on; the first that is none is an error. */
static rmcp_status number_of(const struct line *line, char letter, int64_t *out)
{
    const char *text = text_of(line, letter);
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value < 0)
        return rmcp_fail(RMCP_E_ARG, "MIOpenDriver's option -%c is '%.40s'; it must be a number",
                         letter, text);
    *out = value;
    return RMCP_OK;
}

/* Several at once: "nHW" into out[0], out[1], out[2]. */
static rmcp_status numbers_of(const struct line *line, const char *letters, int64_t *out)
{
    rmcp_status status = RMCP_OK;
    for (int i = 0; letters[i] && !status; i++) status = number_of(line, letters[i], &out[i]);
    return status;
}

/* Which of several passes: from 0, which mostly is all of them, to `most`. */
static rmcp_status passes_of(const struct line *line, char letter, int64_t most, int64_t *out)
{
    const rmcp_status status = number_of(line, letter, out);
    if (status || *out <= most) return status;
    return rmcp_fail(RMCP_E_ARG, "MIOpenDriver %.20s: -%c is %" PRId64 "; it must be 0 to %" PRId64,
                     line->command, letter, *out, most);
}

enum { REAL = 64 };

/* Digits as they were written, if they are a number, and fewer than REAL characters. */
static rmcp_status check_real(const struct line *line, char letter)
{
    const char *text = text_of(line, letter);
    char *end;
    strtod(text, &end);
    return *text && !*end && end - text < REAL
               ? RMCP_OK
               : rmcp_fail(RMCP_E_ARG, "MIOpenDriver's option -%c is '%.40s'", letter, text);
}

/* The next word of `*at`, which is cut there; NULL at the end. */
static const char *next_word(char **at)
{
    while (isspace((unsigned char)**at)) ++*at;
    char *word = *at;
    while (**at && !isspace((unsigned char)**at)) ++*at;
    if (*at == word) return NULL;
    if (**at) *(*at)++ = '\0';
    return word;
}

/* -1: none of the command's; -2: one that does not matter. */
static int option_of(const struct line *line, const char *word)
{
    const bool is_long = word[0] == '-' && word[1] == '-';
    for (int i = 0; line->options[i].name; i++)
        if (is_long ? !strcmp(word + 2, line->options[i].name)
                    : word[1] == line->options[i].letter && !word[2])
            return i;
    if (!is_long && word[1] && !word[2] && strchr(ignored, word[1])) return -2;
    for (int i = 0; is_long && ignored_names[i]; i++)
        if (!strcmp(word + 2, ignored_names[i])) return -2;
    return -1;
}

static rmcp_status read_options(struct line *line, char *at)
{
    const char *word, *value;
    for (int i = 0; line->options[i].name; i++) line->value[i] = line->options[i].otherwise;
    while ((word = next_word(&at))) {
        const int i = word[0] == '-' ? option_of(line, word) : -1;
        if (i == -1)
            return rmcp_fail(RMCP_E_ARG, "MIOpenDriver %s: '%.40s' is not known", line->command,
                             word);
        if (!(value = next_word(&at)))
            return rmcp_fail(RMCP_E_ARG, "MIOpenDriver %s: '%.40s' has no value", line->command,
                             word);
        if (i >= 0) line->value[i] = value;
    }
    const int padding = find(line, 'z');
    if (padding >= 0 && strcmp(line->value[padding], "default") != 0)
        return rmcp_fail(RMCP_E_ARG, "MIOpenDriver's padding mode '%.40s': give the padding",
                         line->value[padding]);
    return RMCP_OK;
}

/* ---- writing ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static rmcp_status
add(struct line *line, const char *format, ...)
{
    struct cli_driver_cases *out = line->out;
    if (out->n == CLI_DRIVER_CASES) return rmcp_fail(RMCP_E_ARG, "too many cases in one line");
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(out->text[out->n], sizeof out->text[0], format, arguments);
    va_end(arguments);
    if (n < 0 || (size_t)n >= sizeof out->text[0])
        return rmcp_fail(RMCP_E_ARG, "MIOpenDriver %s: too long a line", line->command);
    out->n++;
    return RMCP_OK;
}

/* Whether channels come last; "" when it was left out. */
static rmcp_status read_layout(const struct line *line, char letter, const char **out)
{
    const char *text = text_of(line, letter);
    const bool last = !strcmp(text, "NHWC") || !strcmp(text, "NDHWC");
    *out = last ? "nhwc" : *text ? "nchw" : "";
    if (last || !*text || !strcmp(text, "NCHW") || !strcmp(text, "NCDHW")) return RMCP_OK;
    return refuse(line, "layout", text);
}

/* One layout for all of a convolution's tensors: logs leave out those that are NCHW, as are those
 * with one channel or one pixel. */
static rmcp_status read_layouts(const struct line *line, const char **out)
{
    *out = "";
    for (const char *letter = "IfO"; *letter; letter++) {
        const char *layout;
        const rmcp_status status = read_layout(line, *letter, &layout);
        if (status) return status;
        if (**out && *layout && strcmp(*out, layout) != 0)
            return rmcp_fail(RMCP_E_ARG,
                             "MIOpenDriver %.20s: tensors of several layouts, for which "
                             "there is no case string",
                             line->command);
        if (*layout) *out = layout;
    }
    if (!**out) *out = "nchw";
    return RMCP_OK;
}

/* The size of the convolution's input that a transposed one makes of x; false: there is none. */
static bool reaches(int64_t x, int64_t w, int64_t stride, int64_t pad, int64_t dilation,
                    int64_t more, int64_t *out)
{
    int64_t window, reach, margin;
    return w > 0 && x > 0 && !__builtin_mul_overflow(w - 1, dilation, &window) &&
           !__builtin_mul_overflow(x - 1, stride, &reach) &&
           !__builtin_mul_overflow(pad, -2, &margin) &&
           !__builtin_add_overflow(reach, margin, &reach) &&
           !__builtin_add_overflow(reach, window, &reach) &&
           !__builtin_add_overflow(reach, more, &reach) && !__builtin_add_overflow(reach, 1, out) &&
           *out > 0;
}

static rmcp_status read_conv(struct line *line)
{
    enum { D, H, W };
    int64_t dims, forward, n, c, k, groups, x[3], w[3], stride[3], pad[3], dilation[3], more[3];
    const char *layout = "", *mode = text_of(line, 'm');
    rmcp_status status = number_of(line, '_', &dims);
    if (!status) status = passes_of(line, 'F', 7, &forward);
    if (!status) status = read_layouts(line, &layout);
    if (!status) status = number_of(line, 'n', &n);
    if (!status) status = number_of(line, 'c', &c);
    if (!status) status = number_of(line, 'k', &k);
    if (!status) status = number_of(line, 'g', &groups);
    if (!status) status = numbers_of(line, "!HW", x);
    if (!status) status = numbers_of(line, "@yx", w);
    if (!status) status = numbers_of(line, "#uv", stride);
    if (!status) status = numbers_of(line, "$pq", pad);
    if (!status) status = numbers_of(line, "^lj", dilation);
    if (!status) status = numbers_of(line, "%YX", more);
    if (status) return status;
    const bool deep = dims == 3, transposed = !strcmp(mode, "trans");
    if (!transposed && strcmp(mode, "conv") != 0) return refuse(line, "mode", mode);
    if (dims != 2 && dims != 3)
        return rmcp_fail(RMCP_E_ARG, "MIOpenDriver conv: %" PRId64 " spatial dimensions", dims);
    /* The convolution that a transposed one transposes goes from its output to its input. */
    for (int i = deep ? D : H; transposed && i <= W; i++)
        if (!reaches(x[i], w[i], stride[i], pad[i], dilation[i], more[i], &x[i]))
            return rmcp_fail(RMCP_E_ARG, "MIOpenDriver conv: no such transposed convolution");
    if (transposed) {
        const int64_t swap = c;
        c = k;
        k = swap;
    }
    char depth[64] = "", first[3][40] = { "", "", "" };
    if (deep) {
        snprintf(depth, sizeof depth, "t%" PRId64 "x%" PRId64, x[D], w[D]);
        snprintf(first[0], sizeof first[0], "%" PRId64 "x", pad[D]);
        snprintf(first[1], sizeof first[1], "%" PRId64 "x", stride[D]);
        snprintf(first[2], sizeof first[2], "%" PRId64 "x", dilation[D]);
    }
    static const char *const passes[] = { "fwd", "bwd_data", "bwd_weights" };
    for (int pass = 0; pass < 3 && !status; pass++) {
        if (forward && !(forward & 1 << pass)) continue;
        const char *name = passes[transposed && pass < 2 ? !pass : pass];
        status = add(line,
                     "n%" PRId64 "c%" PRId64 "%sh%" PRId64 "w%" PRId64 "k%" PRId64 "r%" PRId64
                     "s%" PRId64 "p%s%" PRId64 "x%" PRId64 "u%s%" PRId64 "x%" PRId64 "d%s%" PRId64
                     "x%" PRId64 "g%" PRId64 ":%s:%s:%s",
                     n, c, depth, x[H], x[W], k, w[H], w[W], first[0], pad[H], pad[W], first[1],
                     stride[H], stride[W], first[2], dilation[H], dilation[W], groups, line->type,
                     layout, name);
    }
    return status;
}

/* "8x64x7x7", from --input or from the sizes of each dimension. */
static rmcp_status read_sizes(const struct line *line, char *out, size_t size)
{
    const char *input = text_of(line, ' ');
    const size_t plain = strspn(input, "0123456789x");
    int64_t s[5];
    if (*input) {
        /* Strides may follow behind a comma. */
        if ((input[plain] && input[plain] != ',') || plain >= size)
            return rmcp_fail(RMCP_E_ARG, "MIOpenDriver's option --input is '%.60s'", input);
        snprintf(out, size, "%.*s", (int)plain, input);
        return RMCP_OK;
    }
    rmcp_status status = numbers_of(line, "ncDHW", s);
    if (status) return status;
    if (s[2])
        snprintf(out, size, "%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64, s[0], s[1],
                 s[2], s[3], s[4]);
    else
        snprintf(out, size, "%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64, s[0], s[1], s[3], s[4]);
    return RMCP_OK;
}

static rmcp_status read_norm(struct line *line)
{
    int64_t s[5], forward, back, mode, save, run;
    const char *layout = "";
    rmcp_status status = numbers_of(line, "ncDHW", s);
    if (!status) status = passes_of(line, 'F', 2, &forward);
    if (!status) status = passes_of(line, 'b', 1, &back);
    if (!status) status = number_of(line, 'm', &mode);
    if (!status) status = read_layout(line, 'L', &layout);
    if (!status && mode > 1) status = refuse(line, "mode", text_of(line, 'm'));
    if (!status) status = number_of(line, 's', &save);
    if (!status) status = number_of(line, 'r', &run);
    if (status) return status;
    char depth[32] = "", head[256];
    if (s[2]) snprintf(depth, sizeof depth, "t%" PRId64, s[2]);
    snprintf(head, sizeof head,
             "batchnorm:n%" PRId64 "c%" PRId64 "%sh%" PRId64 "w%" PRId64 ":%s:%s:%s%s", s[0], s[1],
             depth, s[3], s[4], line->type, layout, mode ? "spatial" : "activation",
             save ? ":saved" : "");
    if (forward == 1) status = add(line, "%s:train%s", head, run ? ":running" : "");
    if (!status && forward == 2) status = add(line, "%s:infer", head);
    if (!status && (back || !forward)) status = add(line, "%s:bwd", head);
    return status;
}

/* One case for each direction that is asked for: 1 forward, 2 backward, 0 both. */
static rmcp_status both_ways(struct line *line, const char *head, const char *tail)
{
    int64_t forward;
    rmcp_status status = passes_of(line, 'F', 2, &forward);
    if (!status && forward != 2) status = add(line, "%s:fwd%s", head, tail);
    if (!status && (forward == 0 || forward == 2)) status = add(line, "%s:bwd%s", head, tail);
    return status;
}

static rmcp_status read_pool(struct line *line)
{
    int64_t window[3], stride[3], pad[3], place;
    char sizes[96], head[128], tail[256];
    const char *mode = text_of(line, 'm'), *index = text_of(line, 'I');
    rmcp_status status = read_sizes(line, sizes, sizeof sizes);
    if (!status) status = numbers_of(line, "Zyx", window);
    if (!status) status = numbers_of(line, "svu", stride);
    if (!status) status = numbers_of(line, "opq", pad);
    if (!status) status = passes_of(line, 'M', 1, &place);
    if (!status && strcmp(mode, "max") && strcmp(mode, "avg") && strcmp(mode, "avg_in"))
        status = refuse(line, "mode", mode);
    if (status) return status;
    static const char *const bits[] = { "8", "16", "32", "64" };
    const char *width = bits[place ? 2 : 0]; /* logs do not say: wide enough */
    for (int i = 0; i < 4; i++)
        if (!strncmp(index, "miopenIndexUint", 15) && !strcmp(index + 15, bits[i])) width = bits[i];
    int crosses = 0;
    for (const char *p = sizes; *p; p++) crosses += *p == 'x';
    char first[3][32] = { "", "", "" };
    const int64_t deep[] = { window[0], stride[0], pad[0] };
    for (int i = 0; crosses == 4 && i < 3; i++)
        snprintf(first[i], sizeof first[i], "%" PRId64 "x", deep[i]);
    snprintf(head, sizeof head, "pool:%s:%s", sizes, line->type);
    snprintf(tail, sizeof tail,
             ":%s%s%s%s:window%s%" PRId64 "x%" PRId64 ":stride%s%" PRId64 "x%" PRId64
             ":pad%s%" PRId64 "x%" PRId64,
             strcmp(mode, "max") ? mode : "max:u", strcmp(mode, "max") ? "" : width,
             strcmp(mode, "max") ? ""
             : place             ? ":image"
                                 : ":mask",
             "", first[0], window[1], window[2], first[1], stride[1], stride[2], first[2], pad[1],
             pad[2]);
    return both_ways(line, head, tail);
}

static rmcp_status read_activation(struct line *line)
{
    static const char *const modes[] = { "passthru", "logistic", "tanh",  "relu", "softrelu", "abs",
                                         "power",    "clipped",  "leaky", "elu",  "clamp" };
    int64_t mode;
    char sizes[96], head[128], tail[3 * REAL + 64];
    rmcp_status status = read_sizes(line, sizes, sizeof sizes);
    if (!status) status = number_of(line, 'm', &mode);
    for (const char *p = "ABG"; *p && !status; p++) status = check_real(line, *p);
    if (status) return status;
    if (mode >= (int64_t)(sizeof modes / sizeof *modes))
        return rmcp_fail(RMCP_E_ARG, "MIOpenDriver activ: mode %" PRId64, mode);
    snprintf(head, sizeof head, "act:%s:%s", sizes, line->type);
    snprintf(tail, sizeof tail, ":%s:alpha%s:beta%s:gamma%s", modes[mode], text_of(line, 'A'),
             text_of(line, 'B'), text_of(line, 'G'));
    return both_ways(line, head, tail);
}

static rmcp_status read_softmax(struct line *line)
{
    static const char *const algorithms[] = { "fast", "accurate", "log" };
    static const char *const modes[] = { "instance", "channel" };
    int64_t algorithm, mode;
    char sizes[96], head[128], tail[2 * REAL + 64];
    rmcp_status status = read_sizes(line, sizes, sizeof sizes);
    if (!status) status = number_of(line, 'a', &algorithm);
    if (!status) status = number_of(line, 'm', &mode);
    for (const char *p = "AB"; *p && !status; p++) status = check_real(line, *p);
    if (status) return status;
    if (algorithm > 2 || mode > 1)
        return rmcp_fail(RMCP_E_ARG, "MIOpenDriver softmax: algorithm %" PRId64 ", mode %" PRId64,
                         algorithm, mode);
    snprintf(head, sizeof head, "softmax:%s:%s", sizes, line->type);
    snprintf(tail, sizeof tail, ":%s:%s:alpha%s:beta%s", algorithms[algorithm], modes[mode],
             text_of(line, 'A'), text_of(line, 'B'));
    return both_ways(line, head, tail);
}

static rmcp_status read_lrn(struct line *line)
{
    int64_t n;
    char sizes[96], head[128], tail[3 * REAL + 64];
    /* A word by hand, a number in a log. */
    const char *mode = text_of(line, 'm');
    const bool crosses = !strncmp(mode, "cross", 5) || !strcmp(mode, "1");
    if (!crosses && strncmp(mode, "within", 6) && strcmp(mode, "0"))
        return refuse(line, "mode", mode);
    rmcp_status status = read_sizes(line, sizes, sizeof sizes);
    if (!status) status = number_of(line, 'N', &n);
    for (const char *p = "ABK"; *p && !status; p++) status = check_real(line, *p);
    if (status) return status;
    snprintf(head, sizeof head, "lrn:%s:%s", sizes, line->type);
    snprintf(tail, sizeof tail, ":%s:n%" PRId64 ":alpha%s:beta%s:k%s", crosses ? "cross" : "within",
             n, text_of(line, 'A'), text_of(line, 'B'), text_of(line, 'K'));
    return both_ways(line, head, tail);
}

/* "4" or "4,4,3": sequences of each step, the last for all that follow. As runs: "4x2,3x1". */
static rmcp_status read_batches(const struct line *line, int64_t steps, int64_t *batch, char *runs,
                                size_t size)
{
    const char *at = text_of(line, 'n');
    int64_t last = -1, run = 0;
    size_t used = 0;
    *batch = 0;
    for (int64_t t = 0; t < steps; t++) {
        int64_t now = last;
        if (*at) {
            char *end;
            errno = 0;
            now = strtoll(at, &end, 10);
            if (end == at || errno || (*end && *end != ',') || now < 1)
                return rmcp_fail(RMCP_E_ARG, "MIOpenDriver rnn: -n is '%.60s'", at);
            at = *end ? end + 1 : end;
        }
        if (now < 1) return rmcp_fail(RMCP_E_ARG, "MIOpenDriver rnn: no batch size");
        if (!*batch) *batch = now;
        if (last > 0 && now != last) {
            used +=
                (size_t)snprintf(runs + used, size - used, "%" PRId64 "x%" PRId64 ",", last, run);
            run = 0;
            if (used + 64 > size) return rmcp_fail(RMCP_E_ARG, "MIOpenDriver rnn: too long a line");
        }
        last = now;
        run++;
        /* All that follow are the same: no need to count them one by one. */
        if (!*at) {
            run += steps - t - 1;
            break;
        }
    }
    snprintf(runs + used, size - used, "%" PRId64 "x%" PRId64, last, run);
    if (!used) runs[0] = '\0';
    return RMCP_OK;
}

static rmcp_status read_rnn(struct line *line)
{
    int64_t v[10], batch;
    char runs[256], head[640];
    const char *mode = text_of(line, 'm');
    /* layers, steps, two directions, hidden, inputs, bias, skip, inference, dropout, which passes
     */
    rmcp_status status = numbers_of(line, "lkrHWbpcUF", v);
    if (!status) status = passes_of(line, 'F', 7, &v[9]);
    if (!status) status = check_real(line, 'P');
    if (!status && strcmp(mode, "relu") && strcmp(mode, "tanh") && strcmp(mode, "lstm") &&
        strcmp(mode, "gru"))
        status = refuse(line, "mode", mode);
    if (!status) status = read_batches(line, v[1], &batch, runs, sizeof runs);
    if (status) return status;
    const bool lstm = !strcmp(mode, "lstm"), drops = v[8] && strtod(text_of(line, 'P'), NULL) > 0;
    snprintf(head, sizeof head,
             "rnn:t%" PRId64 "n%" PRId64 "i%" PRId64 "h%" PRId64 "l%" PRId64
             ":%s:%s%s%s%s%s%s%s%s%s",
             v[1], batch, v[4], v[3], v[0], mode, line->type, v[2] ? ":bi" : "",
             v[5] ? ":bias" : "", v[6] ? ":skip" : "", *runs ? ":batches" : "", runs, ":hx",
             lstm ? ":cx" : "", drops ? ":drop" : "");
    if (drops) strncat(head, text_of(line, 'P'), sizeof head - strlen(head) - 1);
    const char *const ends = lstm ? ":hy:cy" : ":hy";
    if (!v[9] || v[9] & 1) status = add(line, "%s:%s%s", head, v[7] ? "infer" : "train", ends);
    if (!status && (!v[9] || v[9] & 2) && !v[7])
        status = add(line, "%s:bwd%s:dhx%s", head, ends, lstm ? ":dcx" : "");
    /* Gradients of weights read no state but hx. */
    if (!status && (!v[9] || v[9] & 4) && !v[7]) {
        char *cx = strstr(head, ":cx");
        if (cx) memmove(cx, cx + 3, strlen(cx + 3) + 1);
        status = add(line, "%s:wrw", head);
    }
    return status;
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    const struct option *options;
    rmcp_status (*read)(struct line *line);
} commands[] = {
    { "conv", conv_options, read_conv },
    { "bnorm", norm_options, read_norm },
    { "pool", pool_options, read_pool },
    { "activ", activation_options, read_activation },
    { "softmax", softmax_options, read_softmax },
    { "lrn", lrn_options, read_lrn },
    { "rnn", rnn_options, read_rnn },
};

/* What follows a command's name is its type; batch norm's parameters are always f32. */
static const char *type_of(const char *suffix)
{
    static const char *const types[][2] = { { "", "f32" },
                                            { "fp16", "f16" },
                                            { "bfp16", "bf16" },
                                            { "fp16fp32", "f16" },
                                            { "bfp16fp32", "bf16" } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(suffix, types[i][0])) return types[i][1];
    return NULL;
}

bool cli_is_driver_line(const char *text)
{
    return strstr(text, "MIOpenDriver ") != NULL;
}

static rmcp_status read_line(char *at, struct cli_driver_cases *out)
{
    const char *word = next_word(&at);
    if (!word) return rmcp_fail(RMCP_E_ARG, "MIOpenDriver without an operation");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const size_t length = strlen(commands[i].name);
        const char *type = strncmp(word, commands[i].name, length) ? NULL : type_of(word + length);
        if (!type) continue;
        struct line line = {
            .command = word, .options = commands[i].options, .type = type, .out = out
        };
        rmcp_status status = read_options(&line, at);
        if (!status) status = commands[i].read(&line);
        if (!status && !out->n)
            status = rmcp_fail(RMCP_E_ARG, "MIOpenDriver %.20s: no pass is asked for", word);
        return status;
    }
    return rmcp_fail(RMCP_E_ARG, "MIOpenDriver's operation '%.40s' is not known", word);
}

rmcp_status cli_driver_line(const char *text, struct cli_driver_cases *out)
{
    static const char program[] = "MIOpenDriver ";
    const char *at = strstr(text, program);
    out->n = 0;
    if (!at) return rmcp_fail(RMCP_E_ARG, "no line for MIOpenDriver");
    char *words = strdup(at + sizeof program - 1);
    if (!words) return rmcp_fail_memory("line", strlen(at));
    const rmcp_status status = read_line(words, out);
    free(words);
    return status;
}
