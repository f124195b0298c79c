/* command_line.c: what MIOpenDriver would be told to do the same. */
#include "dropin/miopen/command_line.h"

#include "dropin/miopen/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A packed sequence has a number for each step. */
struct text {
    char at[16384];
    size_t length;
};

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text->at + text->length, sizeof text->at - text->length, format, arguments);
    va_end(arguments);
    size_t room = sizeof text->at - text->length - 1;
    text->length += n < 0 ? 0 : (size_t)n > room ? room : (size_t)n;
}

/* A line that was cut is marked: with what is left it would be another call. */
static void log_text(struct text *text)
{
    static const char cut[] = " (too long)";
    if (text->length == sizeof text->at - 1)
        memcpy(text->at + sizeof text->at - sizeof cut, cut, sizeof cut);
    mi_log_command(text->at);
}

static const char *type_suffix(uint32_t type)
{
    return type == RMCP_F16 ? "fp16" : type == RMCP_BF16 ? "bfp16" : "";
}

static void add_layout(struct text *text, const char *option, const struct mi_tensor *tensor)
{
    if (!mi_tensor_is_packed(tensor, RMCP_NCHW) && mi_tensor_is_packed(tensor, RMCP_NHWC))
        add(text, " --%s_layout %s", option, tensor->dims == 5 ? "NDHWC" : "NHWC");
}

void mi_command_conv(const struct mi_conv *conv)
{
    const rmcp_conv *p = &conv->key.problem.conv;
    const struct mi_tensor *x = conv->transposed ? &conv->y : &conv->x;
    const struct mi_tensor *y = conv->transposed ? &conv->x : &conv->y;
    /* 1 forward, 2 backward data, 4 backward weights: as the caller sees it. */
    int pass = conv->key.pass == RMCP_CONV_BACKWARD_WEIGHTS                ? 4
               : (conv->key.pass == RMCP_CONV_FORWARD) != conv->transposed ? 1
                                                                           : 2;
    uint32_t last = p->dims - 1, row = p->dims > 1 ? p->dims - 2 : 0;
    bool one = p->dims == 1, deep = p->dims == 3;
    struct text text = { .length = 0 };
    add(&text, "conv%s -n %lld -c %lld", type_suffix(p->type), (long long)x->size[0],
        (long long)x->size[1]);
    if (deep) add(&text, " --in_d %lld", (long long)x->size[2]);
    /* All output channels: the weights of a transposed one have those of a group. */
    add(&text, " -H %lld -W %lld -k %lld", one ? 1LL : (long long)x->size[2 + row],
        (long long)x->size[2 + last], (long long)(conv->transposed ? p->c : conv->w.size[0]));
    if (deep) add(&text, " --fil_d %lld", (long long)p->filter[0]);
    add(&text, " -y %lld -x %lld", one ? 1LL : (long long)p->filter[row],
        (long long)p->filter[last]);
    if (deep) add(&text, " --pad_d %lld", (long long)p->pad_begin[0]);
    add(&text, " -p %lld -q %lld", one ? 0LL : (long long)p->pad_begin[row],
        (long long)p->pad_begin[last]);
    if (deep) add(&text, " --conv_stride_d %lld", (long long)p->stride[0]);
    add(&text, " -u %lld -v %lld", one ? 1LL : (long long)p->stride[row],
        (long long)p->stride[last]);
    if (deep) add(&text, " --dilation_d %lld", (long long)p->dilation[0]);
    add(&text, " -l %lld -j %lld", one ? 1LL : (long long)p->dilation[row],
        (long long)p->dilation[last]);
    if (deep) add(&text, " --spatial_dim 3");
    add_layout(&text, "in", x);
    add_layout(&text, "fil", &conv->w);
    add_layout(&text, "out", y);
    add(&text, " -m %s -g %lld -F %d -t 1", conv->transposed ? "trans" : "conv",
        (long long)p->groups, pass);
    log_text(&text);
}

void mi_command_batchnorm(const struct mi_key *key)
{
    const rmcp_batchnorm *p = &key->problem.batchnorm;
    struct text text = { .length = 0 };
    add(&text, "bnorm%s -n %lld -c %lld", type_suffix(p->type), (long long)p->n, (long long)p->c);
    if (p->type != RMCP_F32) { /* parameters are f32 */
        text.length = 0;
        add(&text, "bnorm%sfp32 -n %lld -c %lld", type_suffix(p->type), (long long)p->n,
            (long long)p->c);
    }
    if (p->dims == 3) add(&text, " -D %lld", (long long)p->input[0]);
    add(&text, " -H %lld -W %lld -m %d", p->dims == 1 ? 1LL : (long long)p->input[p->dims - 2],
        (long long)p->input[p->dims - 1], p->mode == RMCP_SPATIAL ? 1 : 0);
    add(&text, "%s",
        key->pass == RMCP_BATCHNORM_BACKWARD ? " --forw 0 -b 1"
        : key->pass == RMCP_BATCHNORM_INFER  ? " --forw 2 -b 0"
                                             : " --forw 1 -b 0");
    if (p->saved) add(&text, " -s 1");
    if (p->running) add(&text, " -r 1");
    add(&text, " --layout %s",
        p->dims == 3 ? (p->layout == RMCP_NHWC ? "NDHWC" : "NCDHW")
                     : (p->layout == RMCP_NHWC ? "NHWC" : "NCHW"));
    log_text(&text);
}

/* Sequences of each step; once when all steps have as many. */
void mi_command_rnn(const struct mi_key *key)
{
    static const char *const modes[] = { "relu", "tanh", "lstm", "gru" };
    const struct mi_rnn_problem *p = &key->problem.rnn;
    const uint32_t pass = key->pass;
    struct text text = { .length = 0 };
    add(&text, "rnn%s -n %lld", type_suffix(p->rnn.type), (long long)p->rnn.batch);
    for (uint64_t i = 0; p->n_runs > 1 && i < p->n_runs; i++)
        for (int32_t k = i == 0; k < p->run[i].steps; k++) add(&text, ",%d", p->run[i].batch);
    add(&text, " -k %lld -H %lld -W %lld -l %u -r %u -b %u -m %s -p %u", (long long)p->rnn.steps,
        (long long)p->rnn.hidden, (long long)p->rnn.input, (unsigned)p->rnn.layers,
        (unsigned)p->rnn.bidirectional, (unsigned)p->rnn.bias,
        modes[p->rnn.mode <= RMCP_RNN_GRU ? p->rnn.mode : 0], (unsigned)p->rnn.skip);
    if (p->rnn.dropout > 0) add(&text, " -U 1 -P %g", p->rnn.dropout);
    add(&text, " -c %d -F %d -t 1", pass == RMCP_RNN_INFER,
        pass == RMCP_RNN_BACKWARD_DATA      ? 2
        : pass == RMCP_RNN_BACKWARD_WEIGHTS ? 4
                                            : 1);
    log_text(&text);
}

void mi_command_tensor(const char *operation, const struct mi_tensor *tensor, double alpha,
                       double alpha2, double beta)
{
    if (!mi_log_wants_commands()) return;
    static const char *const names[] = { "set", "scale", "add", "mul", "min", "max" };
    struct text text = { .length = 0 };
    add(&text, "tensorop%s", tensor->type == miopenHalf ? "fp16" : "");
    int number = 0;
    while (number < 5 && strcmp(names[number], operation) != 0) number++;
    if (number >= 2) add(&text, " -A %g -B %g -G %g", alpha, alpha2, beta);
    static const char options[] = "ncHW";
    for (int i = 0; i < 4; i++)
        add(&text, " -%c %lld", options[i], i < tensor->dims ? (long long)tensor->size[i] : 1LL);
    add(&text, " -o %d", number);
    if (number < 2) add(&text, " -v %g", alpha);
    log_text(&text);
}
