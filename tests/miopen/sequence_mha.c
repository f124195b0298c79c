/* sequence_mha.c: multi-head attention as problems of Find 2.0: forward, then backward with what it
 * has left. */
#include "sequence.h"

#include <string.h>

#define API (&world.api)

/* Numbers of tensors, from miopenTensorMhaK on. */
enum { FIRST = miopenTensorMhaK, IDS = miopenTensorMhaBias - miopenTensorMhaK + 1 };

static const struct mha {
    const char *name;
    miopenDataType_t type;
    int n, heads, length, depth;
    float scale;
    bool causal, bias, factors;
    float drop;
} cases[] = {
    { "plain", miopenFloat, 2, 2, 5, 4, 0.5f, false, false, false, 0 },
    { "one", miopenFloat, 1, 1, 1, 1, 1, false, false, false, 0 },
    { "wave", miopenFloat, 1, 3, 32, 8, 0.25f, false, false, false, 0 },
    { "block", miopenFloat, 1, 2, 100, 16, 0.25f, false, false, false, 0 },
    { "long", miopenFloat, 1, 1, 300, 8, 0.25f, false, false, false, 0 },
    { "causal", miopenFloat, 2, 2, 9, 8, 0.25f, true, false, false, 0 },
    { "bias", miopenFloat, 1, 2, 20, 8, 0.25f, false, true, false, 0 },
    { "factors", miopenFloat, 2, 2, 12, 8, 0.5f, false, false, true, 0 },
    { "drop", miopenFloat, 1, 2, 40, 8, 0.25f, false, false, true, 0.25f },
    { "half", miopenHalf, 1, 2, 10, 8, 0.25f, false, false, true, 0 },
    { "bfloat", miopenBFloat16, 1, 2, 10, 8, 0.25f, true, false, false, 0 },
};

/* Scales and descales of one f32 each; those of a pass, and 0 at the end. */
static const int scale_ids[2][14] = {
    { miopenTensorMhaDescaleK, miopenTensorMhaDescaleQ, miopenTensorMhaDescaleV,
      miopenTensorMhaDescaleS, miopenTensorMhaScaleS, miopenTensorMhaScaleO },
    { miopenTensorMhaDescaleK, miopenTensorMhaDescaleQ, miopenTensorMhaDescaleV,
      miopenTensorMhaDescaleS, miopenTensorMhaScaleS, miopenTensorMhaDescaleO,
      miopenTensorMhaDescaleDO, miopenTensorMhaDescaleDS, miopenTensorMhaScaleDS,
      miopenTensorMhaScaleDQ, miopenTensorMhaScaleDK, miopenTensorMhaScaleDV },
};
static const int amax_ids[2][5] = { { miopenTensorMhaAmaxO, miopenTensorMhaAmaxS },
                                    { miopenTensorMhaAmaxDQ, miopenTensorMhaAmaxDK,
                                      miopenTensorMhaAmaxDV, miopenTensorMhaAmaxDS } };

/* What is scaled on the way out is scaled back on the way in. */
static float factor_of(const struct mha *m, int id)
{
    if (!m->factors) return 1;
    switch (id) {
    case miopenTensorMhaScaleS:
    case miopenTensorMhaScaleO: return 2;
    case miopenTensorMhaDescaleS:
    case miopenTensorMhaDescaleO: return 0.5f;
    case miopenTensorMhaDescaleDS: return 0.25f;
    case miopenTensorMhaScaleDS: return 4;
    default: return (float)(id % 4 + 2) / 4; /* those of inputs, and of gradients */
    }
}

/* One pass: its tensors by number, and what is told of them. */
struct pass {
    struct tensor shape[IDS];
    bool used[IDS];
    void *device[IDS];
};

static void use(struct pass *p, int id, const struct tensor *shape, void *device)
{
    p->shape[id - FIRST] = *shape;
    p->used[id - FIRST] = true;
    p->device[id - FIRST] = device;
}

static bool run_pass(const struct mha *m, bool backward, const struct pass *p)
{
    miopenMhaDescriptor_t desc = NULL;
    miopenProblem_t problem = NULL;
    miopenSolution_t solution = NULL;
    size_t n = 0, workspace = 0, count = 0;
    float scale = 0;
    miopenMhaMask_t mask = miopenMhaMaskCausal;
    miopenTensorArgument_t arguments[IDS + 1];
    called("CreateMhaDescriptor", API->miopenCreateMhaDescriptor(&desc));
    called("SetMhaDescriptor", API->miopenSetMhaDescriptor(desc, m->scale));
    called("GetMhaDescriptor", API->miopenGetMhaDescriptor(desc, &scale));
    if (scale != m->scale) record_note("changed=scale");
    called("CreateMhaProblem",
           API->miopenCreateMhaProblem(&problem, desc,
                                       backward ? miopenProblemDirectionBackward
                                                : miopenProblemDirectionForward));
    for (int i = 0; i < IDS; i++) {
        if (!p->used[i]) continue;
        const miopenTensorArgumentId_t id = (miopenTensorArgumentId_t)(i + FIRST);
        miopenTensorDescriptor_t tensor = describe(&p->shape[i], SET_INT);
        miopenStatus_t status = API->miopenSetProblemTensorDescriptor(problem, id, tensor);
        if (status) called("SetProblemTensorDescriptor", status);
        API->miopenDestroyTensorDescriptor(tensor);
        arguments[count++] = (miopenTensorArgument_t){ id, NULL, p->device[i] };
    }
    if (m->causal)
        arguments[count++] = (miopenTensorArgument_t){ miopenTensorMhaMask, NULL, &mask };
    called("FindSolutions",
           API->miopenFindSolutions(world.handle, problem, NULL, &solution, &n, 1));
    bool done = false;
    if (n) {
        called("GetSolutionWorkspaceSize",
               API->miopenGetSolutionWorkspaceSize(solution, &workspace));
        struct memory work = memory_output("work", workspace);
        done = called("RunSolution", API->miopenRunSolution(world.handle, solution, count,
                                                            arguments, work.device, workspace)) ==
               miopenStatusSuccess;
        if (!world_wait()) record_note("device=lost");
        memory_drop(&work);
        called("DestroySolution", API->miopenDestroySolution(solution));
    } else {
        record_note("fallback=none");
    }
    called("DestroyProblem", API->miopenDestroyProblem(problem));
    return done;
}

static struct tensor tensor_of(miopenDataType_t type, int n, int heads, int rows, int columns)
{
    struct tensor t = { type, 4, { n, heads, rows, columns }, { 0 } };
    tensor_pack(&t, false);
    return t;
}

static void body(const void *what)
{
    const struct mha *m = what;
    const struct tensor whole = tensor_of(m->type, m->n, m->heads, m->length, m->depth);
    const struct tensor rows = tensor_of(miopenFloat, m->n, m->heads, m->length, 1);
    const struct tensor scores = tensor_of(miopenFloat, m->n, m->heads, m->length, m->length);
    const struct tensor one = tensor_of(miopenFloat, 1, 1, 1, 1);
    const struct tensor wide = tensor_of(miopenInt64, 1, 1, 1, 1);
    const int64_t seed = 0x123456789, offset = 77;
    const size_t bytes = tensor_bytes(&whole);
    record_tensor("x", &whole);
    record_tensor("rows", &rows);
    record_tensor("scores", &scores);
    record_note("scale=%g causal=%d bias=%d factors=%d drop=%g seed=%lld offset=%lld",
                (double)m->scale, m->causal, m->bias, m->factors, (double)m->drop, (long long)seed,
                (long long)offset);

    struct memory in[] = {
        memory_input("q", &whole, 71),     memory_input("k", &whole, 72),
        memory_input("v", &whole, 73),     memory_input("do", &whole, 74),
        memory_input("bias", &scores, 75), memory_copy("drop", &m->drop, sizeof m->drop),
        memory_copy("seed", &seed, 8),     memory_copy("offset", &offset, 8),
    };
    struct memory out[] = {
        memory_output("o", bytes),
        memory_output("m", tensor_bytes(&rows)),
        memory_output("zinv", tensor_bytes(&rows)),
        memory_output("dq", bytes),
        memory_output("dk", bytes),
        memory_output("dv", bytes),
        memory_output("amax", 6 * sizeof(float)),
    };
    float values[IDS];
    for (int i = 0; i < IDS; i++) values[i] = factor_of(m, i + FIRST);
    struct memory factors = memory_copy("factors", values, sizeof values);
    bool done = true;
    for (int backward = 0; backward < 2 && done; backward++) {
        struct pass p;
        memset(&p, 0, sizeof p);
        use(&p, miopenTensorMhaQ, &whole, in[0].device);
        use(&p, miopenTensorMhaK, &whole, in[1].device);
        use(&p, miopenTensorMhaV, &whole, in[2].device);
        use(&p, miopenTensorMhaO, &whole, out[0].device);
        use(&p, miopenTensorMhaM, &rows, out[1].device);
        use(&p, miopenTensorMhaZInv, &rows, out[2].device);
        if (m->bias) use(&p, miopenTensorMhaBias, &scores, in[4].device);
        use(&p, miopenTensorMhaDropoutProbability, &one, in[5].device);
        use(&p, miopenTensorMhaDropoutSeed, &wide, in[6].device);
        use(&p, miopenTensorMhaDropoutOffset, &wide, in[7].device);
        for (int i = 0; scale_ids[backward][i]; i++)
            use(&p, scale_ids[backward][i], &one,
                (float *)factors.device + (scale_ids[backward][i] - FIRST));
        for (int i = 0; amax_ids[backward][i]; i++)
            use(&p, amax_ids[backward][i], &one, (float *)out[6].device + 2 * backward + i);
        if (backward) {
            use(&p, miopenTensorMhaDO, &whole, in[3].device);
            use(&p, miopenTensorMhaDQ, &whole, out[3].device);
            use(&p, miopenTensorMhaDK, &whole, out[4].device);
            use(&p, miopenTensorMhaDV, &whole, out[5].device);
        }
        done = run_pass(m, backward, &p);
    }
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) memory_close(&in[i], true);
    memory_close(&factors, true);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) memory_close(&out[i], false);
}

void mha_sequences(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sequence one = { "mha", "mha", cases[i].name, "train", body, &cases[i] };
        sequence_run(&one, false);
    }
}
