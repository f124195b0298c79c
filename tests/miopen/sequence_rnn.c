/* sequence_rnn.c: recurrent networks: as PyTorch calls them, with padded steps, with sequence
 * tensors; where their parameters lie. */
#include "sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API (&world.api)

enum { MAX_STEPS = 8, MAX_BATCH = 20 };

/* `lengths` of the sequences; PyTorch packs them when they differ. */
static const struct net {
    const char *name;
    miopenRNNMode_t mode;
    int input, hidden, layers;
    bool both, bias, skip; /* both directions */
    miopenDataType_t type;
    int batch, lengths[MAX_BATCH];
} nets[] = {
#include "sequence_nets.inc"
};

/* How a client describes its sequences. */
enum form { STEPS, PADDED_STEPS, PACKED_TENSOR, STEP_TENSOR, BATCH_TENSOR };
static const struct client {
    const char *name;
    enum form form;
    enum setter setter;
} clients[] = {
    { "torch-1.13-rnn", STEPS, SET_INT },           { "torch-2.12-rnn", STEPS, SET_SIZE },
    { "rnn-padded", PADDED_STEPS, SET_INT },        { "rnn-sequence", PACKED_TENSOR, SET_INT },
    { "rnn-sequence-steps", STEP_TENSOR, SET_INT }, { "rnn-sequence-batch", BATCH_TENSOR, SET_INT },
};

struct what {
    const struct net *net;
    const struct client *client;
};

/* One network with its descriptors and memory. */
struct scene {
    const struct net *net;
    const struct client *client;
    int steps, rows, directions, batches[MAX_STEPS];
    miopenRNNDescriptor_t rnn;
    miopenTensorDescriptor_t xs[MAX_STEPS], ys[MAX_STEPS], h, w_desc;
    miopenSeqTensorDescriptor_t x_sequence, y_sequence;
    struct tensor x, y, state, w;
    struct memory x_memory, hx, cx, w_memory, work;
    size_t work_bytes, reserve_bytes, w_bytes;
};

static int gates(const struct net *net)
{
    return net->mode == miopenLSTM ? 4 : net->mode == miopenGRU ? 3 : 1;
}

static void flat(struct tensor *t, miopenDataType_t type, int a, int b, int c)
{
    *t = (struct tensor){ type, 3, { a, b, c }, { b * c, c, 1 } };
}

/* The tensor of one step as PyTorch describes it: three dimensions when packed, else five. */
static miopenTensorDescriptor_t step_of(const struct scene *s, int batch, int width)
{
    struct tensor t = { s->net->type, 5, { batch, width, 1, 1, 1 }, { width, 1, 1, 1, 1 } };
    for (int i = 1; i < s->net->batch; i++)
        if (s->net->lengths[i] != s->net->lengths[0]) t.n_dims = 3;
    return describe(&t, s->client->setter);
}

static miopenSeqTensorDescriptor_t sequence_of(const struct scene *s, int width)
{
    static const miopenRNNBaseLayout_t layouts[] = { [PACKED_TENSOR] =
                                                         miopenRNNDataSeqMajorNotPadded,
                                                     [STEP_TENSOR] = miopenRNNDataSeqMajorPadded,
                                                     [BATCH_TENSOR] =
                                                         miopenRNNDataBatchMajorPadded };
    miopenSeqTensorDescriptor_t made = NULL;
    uint32_t marker = 0;
    store_exactly(&marker, s->net->type, 0.5f);
    called("CreateSeqTensorDescriptor", API->miopenCreateSeqTensorDescriptor(&made));
    called("SetRNNDataSeqTensorDescriptor",
           API->miopenSetRNNDataSeqTensorDescriptor(made, s->net->type, layouts[s->client->form],
                                                    s->steps, s->net->batch, width, s->net->lengths,
                                                    &marker));
    return made;
}

static void set_up(struct scene *s, const struct what *what)
{
    const struct net *net = what->net;
    *s = (struct scene){ .net = net, .client = what->client };
    s->directions = 1 + net->both;
    for (int i = 0; i < net->batch; i++) {
        s->rows += net->lengths[i];
        if (net->lengths[i] > s->steps) s->steps = net->lengths[i];
        for (int t = 0; t < net->lengths[i]; t++) s->batches[t]++;
    }
    record_note("mode=%d input=%d hidden=%d layers=%d directions=%d bias=%d skip=%d form=%d",
                (int)net->mode, net->input, net->hidden, net->layers, s->directions, net->bias,
                net->skip, (int)what->client->form);
    record_ints("lengths", net->batch, net->lengths);
    called("CreateRNNDescriptor", API->miopenCreateRNNDescriptor(&s->rnn));
    called("SetRNNDescriptor",
           API->miopenSetRNNDescriptor(
               s->rnn, net->hidden, net->layers, net->skip ? miopenRNNskip : miopenRNNlinear,
               net->both ? miopenRNNbidirection : miopenRNNunidirection, net->mode,
               net->bias ? miopenRNNwithBias : miopenRNNNoBias, miopenRNNdefault, net->type));
    if (what->client->form == PADDED_STEPS)
        called("SetRNNPaddingMode", API->miopenSetRNNPaddingMode(s->rnn, miopenRNNIOWithPadding));
    for (int t = 0; t < s->steps; t++) {
        s->xs[t] = step_of(s, s->batches[t], net->input);
        s->ys[t] = step_of(s, s->batches[t], s->directions * net->hidden);
    }
    const bool packed = what->client->form == STEPS || what->client->form == PACKED_TENSOR;
    const int rows = packed ? s->rows : s->steps * net->batch;
    flat(&s->x, net->type, 1, rows, net->input);
    flat(&s->y, net->type, 1, rows, s->directions * net->hidden);
    flat(&s->state, net->type, net->layers * s->directions, net->batch, net->hidden);
    record_tensor("x", &s->x);
    record_tensor("y", &s->y);
    record_tensor("state", &s->state);
    struct tensor state = { net->type,
                            5,
                            { net->layers * s->directions, net->batch, net->hidden, 1, 1 },
                            { net->batch * net->hidden, net->hidden, 1, 1, 1 } };
    if (what->client->form > PADDED_STEPS) {
        state.n_dims = 3;
        s->x_sequence = sequence_of(s, net->input);
        s->y_sequence = sequence_of(s, s->directions * net->hidden);
    }
    s->h = describe(&state, what->client->setter);
}

/* Sizes, and as PyTorch asks where each parameter is. */
static void ask(struct scene *s)
{
    const struct net *net = s->net;
    called("GetRNNParamsSize",
           API->miopenGetRNNParamsSize(world.handle, s->rnn, s->xs[0], &s->w_bytes, net->type));
    record_note("weights=%zu", s->w_bytes);
    flat(&s->w, net->type, (int)(s->w_bytes / type_bytes(net->type)), 1, 1);
    record_tensor("w", &s->w);
    s->w_desc = describe(&s->w, s->client->setter);
    if (s->client->form <= PADDED_STEPS) {
        called("GetRNNWorkspaceSize", API->miopenGetRNNWorkspaceSize(world.handle, s->rnn, s->steps,
                                                                     s->xs, &s->work_bytes));
        called("GetRNNTrainingReserveSize",
               API->miopenGetRNNTrainingReserveSize(world.handle, s->rnn, s->steps, s->xs,
                                                    &s->reserve_bytes));
    } else {
        called("GetRNNTempSpaceSizes", API->miopenGetRNNTempSpaceSizes(
                                           world.handle, s->rnn, s->x_sequence, miopenRNNTraining,
                                           &s->work_bytes, &s->reserve_bytes));
    }
    record_note("workspace=%zu reserve=%zu", s->work_bytes, s->reserve_bytes);
    struct tensor one = { net->type, 2, { 1, 1 }, { 1, 1 } };
    miopenTensorDescriptor_t shape = describe(&one, SET_INT);
    size_t bytes = 0, offset = 0;
    for (int layer = 0; layer < net->layers * s->directions; layer++)
        for (int id = 0; id < 2 * gates(net); id++) {
            /* Without input matrices they cannot be asked for. */
            const bool none = net->skip && layer < s->directions && id < gates(net);
            if (!none)
                called("GetRNNLayerParamOffset", API->miopenGetRNNLayerParamOffset(
                                                     s->rnn, layer, s->xs[0], id, shape, &offset));
            called("GetRNNLayerParamSize", API->miopenGetRNNLayerParamSize(
                                               world.handle, s->rnn, layer, s->xs[0], id, &bytes));
            record_note("matrix=%d,%d,%zu,%zu", layer, id, bytes, none ? (size_t)0 : offset);
            if (!net->bias) continue;
            called("GetRNNLayerBiasOffset",
                   API->miopenGetRNNLayerBiasOffset(s->rnn, layer, s->xs[0], id, shape, &offset));
            called("GetRNNLayerBiasSize",
                   API->miopenGetRNNLayerBiasSize(world.handle, s->rnn, layer, id, &bytes));
            record_note("bias_at=%d,%d,%zu,%zu", layer, id, bytes, offset);
        }
    called("DestroyTensorDescriptor", API->miopenDestroyTensorDescriptor(shape));
}

static void fill(struct scene *s)
{
    s->x_memory = memory_input("x", &s->x, 31);
    s->hx = memory_input("hx", &s->state, 32);
    if (s->net->mode == miopenLSTM) s->cx = memory_input("cx", &s->state, 33);
    s->w_memory = memory_input("w", &s->w, 34);
    s->work = memory_output("work", s->work_bytes);
}

static void tear_down(struct scene *s)
{
    if (!world_wait()) record_note("device=lost");
    memory_close(&s->x_memory, true);
    memory_close(&s->hx, true);
    if (s->cx.base) memory_close(&s->cx, true);
    memory_close(&s->w_memory, true);
    memory_drop(&s->work);
    for (int t = 0; t < s->steps; t++) {
        API->miopenDestroyTensorDescriptor(s->xs[t]);
        API->miopenDestroyTensorDescriptor(s->ys[t]);
    }
    API->miopenDestroyTensorDescriptor(s->h);
    API->miopenDestroyTensorDescriptor(s->w_desc);
    if (s->x_sequence) API->miopenDestroySeqTensorDescriptor(s->x_sequence);
    if (s->y_sequence) API->miopenDestroySeqTensorDescriptor(s->y_sequence);
    called("DestroyRNNDescriptor", API->miopenDestroyRNNDescriptor(s->rnn));
}

/* What the passes write, or a gradient that they read. */
struct passes {
    struct memory y, hy, cy, dy, dhy, dcy, dx, dhx, dcx, dw, reserve;
};

static void run_steps(struct scene *s, struct passes *p)
{
    called("RNNForwardTraining",
           API->miopenRNNForwardTraining(world.handle, s->rnn, s->steps, s->xs, s->x_memory.device,
                                         s->h, s->hx.device, s->h, s->cx.device, s->w_desc,
                                         s->w_memory.device, s->ys, p->y.device, s->h, p->hy.device,
                                         s->h, p->cy.device, s->work.device, s->work_bytes,
                                         p->reserve.device, s->reserve_bytes));
    called("RNNBackwardData",
           API->miopenRNNBackwardData(
               world.handle, s->rnn, s->steps, s->ys, p->y.device, s->ys, p->dy.device, s->h,
               p->dhy.device, s->h, p->dcy.device, s->w_desc, s->w_memory.device, s->h,
               s->hx.device, s->h, s->cx.device, s->xs, p->dx.device, s->h, p->dhx.device, s->h,
               p->dcx.device, s->work.device, s->work_bytes, p->reserve.device, s->reserve_bytes));
    called("RNNBackwardWeights",
           API->miopenRNNBackwardWeights(world.handle, s->rnn, s->steps, s->xs, s->x_memory.device,
                                         s->h, s->hx.device, s->ys, p->y.device, s->w_desc,
                                         p->dw.device, s->work.device, s->work_bytes,
                                         p->reserve.device, s->reserve_bytes));
}

static void run_sequences(struct scene *s, struct passes *p)
{
    called("RNNForward",
           API->miopenRNNForward(world.handle, s->rnn, miopenRNNTraining, s->x_sequence,
                                 s->x_memory.device, s->h, s->hx.device, p->hy.device, s->h,
                                 s->cx.device, p->cy.device, s->y_sequence, p->y.device,
                                 s->w_memory.device, s->w_bytes, s->work.device, s->work_bytes,
                                 p->reserve.device, s->reserve_bytes));
    called("RNNBackwardSeqData",
           API->miopenRNNBackwardSeqData(
               world.handle, s->rnn, s->y_sequence, p->y.device, p->dy.device, s->h, s->hx.device,
               p->dhy.device, p->dhx.device, s->h, s->cx.device, p->dcy.device, p->dcx.device,
               s->x_sequence, p->dx.device, s->w_memory.device, s->w_bytes, s->work.device,
               s->work_bytes, p->reserve.device, s->reserve_bytes));
    called("RNNBackwardWeightsSeqTensor",
           API->miopenRNNBackwardWeightsSeqTensor(
               world.handle, s->rnn, s->x_sequence, s->x_memory.device, s->h, s->hx.device,
               s->y_sequence, p->y.device, p->dw.device, s->w_bytes, s->work.device, s->work_bytes,
               p->reserve.device, s->reserve_bytes));
}

static void training(const void *pointer)
{
    struct scene s;
    set_up(&s, pointer);
    ask(&s);
    fill(&s);
    const bool lstm = s.net->mode == miopenLSTM;
    const size_t state = s.hx.bytes;
    struct passes p = { .y = memory_output("y", tensor_bytes(&s.y)),
                        .hy = memory_output("hy", state),
                        .dy = memory_input("dy", &s.y, 35),
                        .dhy = memory_input("dhy", &s.state, 36),
                        .dx = memory_output("dx", tensor_bytes(&s.x)),
                        .dhx = memory_output("dhx", state),
                        .reserve = memory_output("kept", s.reserve_bytes) };
    if (lstm) {
        p.cy = memory_output("cy", state);
        p.dcy = memory_input("dcy", &s.state, 37);
        p.dcx = memory_output("dcx", state);
    }
    /* Gradients are added to what is there: PyTorch gives zeros. */
    p.dw = memory_zero("dw", s.w_bytes);
    if (s.client->form <= PADDED_STEPS)
        run_steps(&s, &p);
    else
        run_sequences(&s, &p);
    tear_down(&s);
    memory_close(&p.dy, true);
    memory_close(&p.dhy, true);
    struct memory *written[] = { &p.y, &p.hy, &p.cy, &p.dx, &p.dhx, &p.dcx, &p.dw };
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (written[i]->base) memory_close(written[i], false);
    if (lstm) memory_close(&p.dcy, true);
    memory_drop(&p.reserve);
}

/* As PyTorch without gradients. */
static void inference(const void *pointer)
{
    struct scene s;
    set_up(&s, pointer);
    ask(&s);
    fill(&s);
    struct memory y = memory_output("y", tensor_bytes(&s.y)), hy = memory_output("hy", s.hx.bytes),
                  cy = { 0 }, kept = { 0 };
    if (s.net->mode == miopenLSTM) cy = memory_output("cy", s.hx.bytes);
    if (s.client->form <= PADDED_STEPS) {
        called("RNNForwardInference",
               API->miopenRNNForwardInference(world.handle, s.rnn, s.steps, s.xs, s.x_memory.device,
                                              s.h, s.hx.device, s.h, s.cx.device, s.w_desc,
                                              s.w_memory.device, s.ys, y.device, s.h, hy.device,
                                              s.h, cy.device, s.work.device, s.work_bytes));
    } else {
        kept = memory_output("kept", s.reserve_bytes);
        called("RNNForward", API->miopenRNNForward(
                                 world.handle, s.rnn, miopenRNNInference, s.x_sequence,
                                 s.x_memory.device, s.h, s.hx.device, hy.device, s.h, s.cx.device,
                                 cy.device, s.y_sequence, y.device, s.w_memory.device, s.w_bytes,
                                 s.work.device, s.work_bytes, kept.device, s.reserve_bytes));
    }
    tear_down(&s);
    memory_close(&y, false);
    memory_close(&hy, false);
    if (cy.base) memory_close(&cy, false);
    memory_drop(&kept);
}

/* One matrix and one bias written into zeros and read again. */
static void parameters(const void *pointer)
{
    struct scene s;
    set_up(&s, pointer);
    ask(&s);
    const struct net *net = s.net;
    s.w_memory = memory_zero("w", s.w_bytes);
    miopenTensorDescriptor_t shape = NULL;
    called("CreateTensorDescriptor", API->miopenCreateTensorDescriptor(&shape));
    called("GetRNNParamsDescriptor",
           API->miopenGetRNNParamsDescriptor(world.handle, s.rnn, s.xs[0], shape, net->type));
    int dims[MAX_DIMS] = { 0 }, strides[MAX_DIMS] = { 0 }, n = 0;
    miopenDataType_t type;
    API->miopenGetTensorDescriptorSize(shape, &n);
    if (n > 0 && n <= MAX_DIMS) API->miopenGetTensorDescriptor(shape, &type, dims, strides);
    record_ints("all", n, dims);
    const int layer = net->layers * s.directions - 1;
    /* An input matrix, where there is one. */
    const int id = gates(net) * (net->skip && net->layers == 1 ? 2 : 1) - 1;
    called("GetRNNLayerParam",
           API->miopenGetRNNLayerParam(world.handle, s.rnn, layer, s.xs[0], s.w_desc,
                                       s.w_memory.device, id, shape, NULL));
    API->miopenGetTensorDescriptorSize(shape, &n);
    if (n > 0 && n <= MAX_DIMS) API->miopenGetTensorDescriptor(shape, &type, dims, strides);
    record_ints("param", n, dims);
    struct tensor matrix, line;
    flat(&matrix, net->type, 1, dims[0], dims[1]);
    flat(&line, net->type, 1, 1, net->hidden);
    struct memory in = memory_input("in", &matrix, 38), out = memory_output("out", in.bytes);
    called("SetRNNLayerParam",
           API->miopenSetRNNLayerParam(world.handle, s.rnn, layer, s.xs[0], s.w_desc,
                                       s.w_memory.device, id, shape, in.device));
    called("GetRNNLayerParam",
           API->miopenGetRNNLayerParam(world.handle, s.rnn, layer, s.xs[0], s.w_desc,
                                       s.w_memory.device, id, shape, out.device));
    struct memory b_in = memory_input("b_in", &line, 39),
                  b_out = memory_output("b_out", b_in.bytes);
    called("GetRNNLayerBias",
           API->miopenGetRNNLayerBias(world.handle, s.rnn, layer, s.xs[0], s.w_desc,
                                      s.w_memory.device, id, shape, NULL));
    API->miopenGetTensorDescriptorSize(shape, &n);
    record_note("bias_dims=%d", n);
    called("SetRNNLayerBias",
           API->miopenSetRNNLayerBias(world.handle, s.rnn, layer, s.xs[0], s.w_desc,
                                      s.w_memory.device, id, shape, b_in.device));
    called("GetRNNLayerBias",
           API->miopenGetRNNLayerBias(world.handle, s.rnn, layer, s.xs[0], s.w_desc,
                                      s.w_memory.device, id, shape, b_out.device));
    if (!world_wait()) record_note("device=lost");
    memory_close(&in, true);
    memory_close(&out, false);
    memory_close(&b_in, true);
    memory_close(&b_out, false);
    memory_close(&s.w_memory, false);
    API->miopenDestroyTensorDescriptor(shape);
    for (int t = 0; t < s.steps; t++) {
        API->miopenDestroyTensorDescriptor(s.xs[t]);
        API->miopenDestroyTensorDescriptor(s.ys[t]);
    }
    API->miopenDestroyTensorDescriptor(s.h);
    API->miopenDestroyTensorDescriptor(s.w_desc);
    called("DestroyRNNDescriptor", API->miopenDestroyRNNDescriptor(s.rnn));
}

static void run_net(const struct net *net)
{
    static const struct client plain = { "rnn-parameters", STEPS, SET_INT };
    /* Padding is only seen where lengths differ; without it the longest comes first. */
    bool differ = false, sorted = true;
    for (int b = 1; b < net->batch; b++) {
        differ |= net->lengths[b] != net->lengths[0];
        sorted &= net->lengths[b] <= net->lengths[b - 1];
    }
    for (size_t k = 0; k < sizeof clients / sizeof *clients; k++) {
        const struct client *client = &clients[k];
        if (!differ && client->form == PADDED_STEPS) continue;
        if (!sorted && client->form < STEP_TENSOR) continue;
        const struct what what = { net, client };
        struct sequence train = { "rnn", client->name, net->name, "training", training, &what },
                        infer = { "rnn", client->name, net->name, "inference", inference, &what };
        sequence_run(&train, false);
        sequence_run(&infer, false);
    }
    const struct what what = { net, &plain };
    struct sequence one = { "parameters", plain.name, net->name, "parameters", parameters, &what };
    sequence_run(&one, false);
}

static int draw(uint32_t *state, int least, int most)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return least + (int)((*state >> 4) % (uint32_t)(most - least + 1));
}

/* Any network; half of them with sequences of different lengths, half of those not in order. */
static void run_random(uint32_t seed)
{
    char name[32];
    uint32_t state = seed * 2654435761u | 1;
    for (int i = 0; i < 8; i++) draw(&state, 0, 1);
    const miopenRNNMode_t mode = (miopenRNNMode_t)draw(&state, 0, 3);
    const bool skip = draw(&state, 0, 7) == 0;
    const int hidden = draw(&state, 1, 20), steps = draw(&state, 1, MAX_STEPS);
    struct net net = { name,
                       mode,
                       skip ? hidden : draw(&state, 1, 20),
                       hidden,
                       draw(&state, 1, 3),
                       draw(&state, 0, 1),
                       draw(&state, 0, 2) > 0,
                       skip,
                       draw(&state, 0, 4) ? miopenFloat : miopenHalf,
                       draw(&state, 1, MAX_BATCH),
                       { 0 } };
    const int kind = draw(&state, 0, 3); /* 0, 1: all as long; 2: longest first; 3: any order */
    int longest = steps;
    for (int i = 0; i < net.batch; i++) {
        net.lengths[i] = kind < 2 || (kind == 2 && i == 0) ? steps : draw(&state, 1, longest);
        if (kind == 2) longest = net.lengths[i];
    }
    snprintf(name, sizeof name, "random-%u", seed);
    run_net(&net);
}

void rnn_sequences(void)
{
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) run_net(&nets[i]);
    const char *more = getenv("RMCP_SEQUENCE_NETS"), *colon = more ? strchr(more, ':') : NULL;
    const unsigned long n = more ? strtoul(more, NULL, 10) : 0;
    const char *const given = colon ? colon + 1 : getenv("RMCP_SEED");
    uint32_t seed = given ? (uint32_t)strtoul(given, NULL, 10) : (uint32_t)time(NULL) % 1000000;
    for (unsigned long i = 0; i < n; i++) run_random(seed++);
}
