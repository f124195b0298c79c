/* products: scores as matrices in the workspace, some heads at a time: a product, softmax of the
 * rows, a product; backward five products and one pass over rows. With factors one more pass over
 * the results. */
#include "base/round.h"
#include "engine/figures/figures.h"
#include "engine/gpu/launch.h"
#include "engine/matmul/matmul.h"
#include "engine/ops/attention/attention.h"

/* Scores of as many heads at a time as fit into this. */
#define MOST_SCORES (UINT64_C(128) << 20)

/* A tensor of f32: the caller's, or a copy in the workspace. */
struct place {
    unsigned slot;
    uint64_t offset;
};

struct walk {
    const struct rmcp_request *request;
    const struct rmcp_form *form;
    struct rmcp_att_sizes s;
    struct rmcp_launch_list *list; /* NULL: only cost and workspace are asked for */
    rmcp_status status;
    const char *refusal;
    double seconds;
    uint64_t end, product_bytes;    /* of the workspace: ours, and behind it that of products */
    struct rmcp_matmul_known known; /* ways of products */
    struct place tensor[RMCP_ATT_SLOTS];
    struct place scores, gradients;
    struct place row_largest, largest; /* with factors: of each row; of each workgroup's results */
    int64_t at_once;                   /* heads                                                  */
};

static struct place take(struct walk *w, int64_t elements)
{
    const struct place place = { RMCP_SLOT_WORKSPACE, w->end };
    w->end += ((uint64_t)elements * sizeof(float) + 255) / 256 * 256;
    return place;
}

static bool is_half(const struct walk *w, unsigned slot)
{
    const struct rmcp_form_tensor *t = &w->form->tensor[slot];
    return t->dims && (t->type == RMCP_F16 || t->type == RMCP_BF16);
}

/* Whether products write to a copy of it, from which its factors are applied. */
static bool is_result(const struct walk *w, unsigned slot)
{
    return w->form->word[RMCP_ATT_SCALED] && w->form->tensor[slot].written &&
           (slot == RMCP_ATT_O || slot >= RMCP_ATT_DQ) && slot <= RMCP_ATT_DV;
}

static int64_t result_groups(const struct walk *w, unsigned slot)
{
    return rmcp_ceil_divide(w->form->tensor[slot].elements, RMCP_ATT_RESULTS);
}

static void arrange(struct walk *w)
{
    int64_t groups = 0;
    for (unsigned slot = 0; slot < RMCP_ATT_SLOTS; slot++) {
        w->tensor[slot] = (struct place){ slot, 0 };
        const bool result = is_result(w, slot);
        if (result && result_groups(w, slot) > groups) groups = result_groups(w, slot);
        if (result || is_half(w, slot)) w->tensor[slot] = take(w, w->form->tensor[slot].elements);
    }
    if (w->form->word[RMCP_ATT_SCALED]) {
        w->row_largest = take(w, w->s.heads * w->s.queries);
        w->largest = take(w, groups);
    }
    const int64_t matrix = w->s.queries * w->s.keys;
    w->at_once = (int64_t)(MOST_SCORES / sizeof(float)) / matrix;
    if (w->at_once < 1) w->at_once = 1;
    if (w->at_once > w->s.heads) w->at_once = w->s.heads;
    w->scores = take(w, w->at_once * matrix);
    if (w->form->word[RMCP_ATT_PASS] == RMCP_ATT_BACKWARD)
        w->gradients = take(w, w->at_once * matrix);
}

/* ---- launches ---- */

static struct rmcp_kernel_launch *launch_of(struct walk *w, const char *stem, rmcp_type type,
                                            int64_t work_items, double bytes)
{
    const struct rmcp_caps *caps = w->request->caps;
    w->seconds +=
        caps->launch_seconds +
        bytes / (rmcp_figure(caps, RMCP_FIGURE_ATTENTION_EFFICIENCY) * caps->bytes_per_second);
    if (!w->list || w->status) return NULL;
    struct rmcp_kernel_launch *launch = NULL;
    w->status = rmcp_kernel_append(w->list, stem, type, "", work_items, &launch);
    return w->status ? NULL : launch;
}

static void argument(struct rmcp_kernel_launch *launch, struct place place)
{
    rmcp_arg_memory(launch, place.slot, place.offset);
}

static void convert(struct walk *w, bool out)
{
    for (unsigned slot = 0; slot < RMCP_ATT_SLOTS; slot++) {
        const struct rmcp_form_tensor *t = &w->form->tensor[slot];
        if (!is_half(w, slot) || t->written != out || is_result(w, slot)) continue;
        const struct place own = { slot, 0 };
        const uint64_t count = (uint64_t)t->elements;
        struct rmcp_kernel_launch *launch =
            launch_of(w, out ? "attention_from_float" : "attention_to_float", (rmcp_type)t->type,
                      t->elements, 6.0 * (double)t->elements);
        if (!launch) continue;
        argument(launch, out ? w->tensor[slot] : own);
        argument(launch, out ? own : w->tensor[slot]);
        rmcp_arg_value(launch, &count, sizeof count);
    }
}

/* One matrix of each head, [rows][columns], from head `first` on. */
static struct rmcp_matrix matrix_of(struct place place, int64_t first, int64_t rows,
                                    int64_t columns, bool transposed)
{
    return (struct rmcp_matrix){
        .slot = place.slot,
        .offset = place.offset + (uint64_t)(first * rows * columns) * sizeof(float),
        .pitch = columns,
        .stride = rows * columns,
        .transposed = transposed,
    };
}

static void multiply(struct walk *w, int64_t heads, int64_t m, int64_t n, int64_t k, double alpha,
                     struct rmcp_matrix a, struct rmcp_matrix b, struct rmcp_matrix c)
{
    const struct rmcp_caps *caps = w->request->caps;
    const struct rmcp_matmul p = {
        .type = RMCP_F32,
        .batch = heads,
        .m = m,
        .n = n,
        .k = k,
        .a = a,
        .b = b,
        .c = c,
        .alpha = (float)alpha,
    };
    if (w->status || w->refusal) return;
    if (w->list) {
        w->status = rmcp_matmul_emit(&p, caps, &w->known, w->end, w->list);
        return;
    }
    const struct rmcp_matmul_cost cost = rmcp_matmul_consider(&p, caps, &w->known);
    w->refusal = cost.refusal;
    w->seconds += cost.seconds;
    if (cost.workspace_bytes > w->product_bytes) w->product_bytes = cost.workspace_bytes;
}

static void rows(struct walk *w, int64_t first, int64_t heads, bool backward)
{
    const struct rmcp_form *form = w->form;
    const int64_t count = heads * w->s.queries;
    const struct rmcp_att_args args = {
        .queries = (unsigned)w->s.queries,
        .keys = (unsigned)w->s.keys,
        .causal = form->word[RMCP_ATT_MASK],
        .bias = form->word[RMCP_ATT_BIASED],
        .saved = form->word[RMCP_ATT_SAVED],
        .scaled = form->word[RMCP_ATT_SCALED],
        .first = (unsigned)(first * w->s.queries),
        .scale = (float)form->number[RMCP_ATT_SCALE],
    };
    const double elements = (double)count * (double)w->s.keys;
    struct rmcp_kernel_launch *launch =
        launch_of(w, backward ? "attention_gradients" : "attention_weights", RMCP_F32, count * 256,
                  elements * (backward ? 16 : 8));
    if (!launch) return;
    /* What the problem does not have is not followed. */
    const struct place none = w->scores;
    argument(launch, w->scores);
    if (backward) argument(launch, w->gradients);
    argument(launch, args.bias ? w->tensor[RMCP_ATT_BIAS] : none);
    argument(launch, backward || args.saved ? w->tensor[RMCP_ATT_M] : none);
    argument(launch, backward || args.saved ? w->tensor[RMCP_ATT_ZINV] : none);
    argument(launch, args.scaled ? w->tensor[RMCP_ATT_FACTORS] : none);
    argument(launch, args.scaled ? w->tensor[RMCP_ATT_STATE] : none);
    argument(launch, args.scaled ? w->row_largest : none);
    rmcp_arg_value(launch, &args, sizeof args);
}

static void some_heads(struct walk *w, int64_t first, int64_t heads)
{
    const int64_t s = w->s.queries, t = w->s.keys, d = w->s.depth;
    const double scale = w->form->number[RMCP_ATT_SCALE];
    const bool backward = w->form->word[RMCP_ATT_PASS] == RMCP_ATT_BACKWARD;
    const struct place *x = w->tensor;
    multiply(w, heads, s, t, d, scale, matrix_of(x[RMCP_ATT_Q], first, s, d, false),
             matrix_of(x[RMCP_ATT_K], first, t, d, true), matrix_of(w->scores, 0, s, t, false));
    if (!backward) {
        rows(w, first, heads, false);
        multiply(w, heads, s, d, t, 1, matrix_of(w->scores, 0, s, t, false),
                 matrix_of(x[RMCP_ATT_V], first, t, d, false),
                 matrix_of(x[RMCP_ATT_O], first, s, d, false));
        return;
    }
    const struct rmcp_matrix out = matrix_of(x[RMCP_ATT_DO], first, s, d, false);
    multiply(w, heads, s, t, d, 1, out, matrix_of(x[RMCP_ATT_V], first, t, d, true),
             matrix_of(w->gradients, 0, s, t, false));
    rows(w, first, heads, true);
    multiply(w, heads, t, d, s, 1, matrix_of(w->scores, 0, s, t, true), out,
             matrix_of(x[RMCP_ATT_DV], first, t, d, false));
    multiply(w, heads, s, d, t, scale, matrix_of(w->gradients, 0, s, t, false),
             matrix_of(x[RMCP_ATT_K], first, t, d, false),
             matrix_of(x[RMCP_ATT_DQ], first, s, d, false));
    multiply(w, heads, t, d, s, scale, matrix_of(w->gradients, 0, s, t, true),
             matrix_of(x[RMCP_ATT_Q], first, s, d, false),
             matrix_of(x[RMCP_ATT_DK], first, t, d, false));
}

/* Place `at` of amax: the largest of `count` numbers. */
static void find_largest(struct walk *w, struct place from, int64_t count, unsigned at)
{
    const unsigned n = (unsigned)count;
    struct rmcp_kernel_launch *launch =
        launch_of(w, "attention_largest", RMCP_F32, 256, 4.0 * (double)count);
    if (!launch) return;
    argument(launch, from);
    argument(launch, w->tensor[RMCP_ATT_AMAX]);
    rmcp_arg_value(launch, &n, sizeof n);
    rmcp_arg_value(launch, &at, sizeof at);
}

static void results(struct walk *w)
{
    static const struct {
        unsigned slot, left, right, to;
    } all[] = {
        { RMCP_ATT_O, RMCP_ATT_FROM_S, RMCP_ATT_FROM_V, RMCP_ATT_TO_O },
        { RMCP_ATT_DQ, RMCP_ATT_FROM_DS, RMCP_ATT_FROM_K, RMCP_ATT_TO_DQ },
        { RMCP_ATT_DK, RMCP_ATT_FROM_DS, RMCP_ATT_FROM_Q, RMCP_ATT_TO_DK },
        { RMCP_ATT_DV, RMCP_ATT_FROM_S, RMCP_ATT_FROM_DO, RMCP_ATT_TO_DV },
    };
    if (!w->form->word[RMCP_ATT_SCALED]) return;
    unsigned at = 0;
    find_largest(w, w->row_largest, w->s.heads * w->s.queries, at++);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        const unsigned slot = all[i].slot;
        const struct rmcp_form_tensor *t = &w->form->tensor[slot];
        if (!is_result(w, slot)) continue;
        const struct rmcp_att_result args = { t->elements, all[i].left, all[i].right, all[i].to };
        struct rmcp_kernel_launch *launch =
            launch_of(w, "attention_result", (rmcp_type)t->type, result_groups(w, slot) * 256,
                      8.0 * (double)t->elements);
        if (launch) {
            argument(launch, w->tensor[slot]);
            argument(launch, (struct place){ slot, 0 });
            argument(launch, w->tensor[RMCP_ATT_FACTORS]);
            argument(launch, w->largest);
            rmcp_arg_value(launch, &args, sizeof args);
        }
        find_largest(w, w->largest, result_groups(w, slot), at++);
    }
}

static struct walk walk(const struct rmcp_request *request, const struct rmcp_matmul_known *known,
                        struct rmcp_launch_list *list)
{
    struct walk w = { .request = request,
                      .form = rmcp_form_of(request),
                      .s = rmcp_att_sizes(rmcp_form_of(request)),
                      .list = list };
    if (known) w.known = *known;
    arrange(&w);
    convert(&w, false);
    for (int64_t first = 0; first < w.s.heads && !w.status && !w.refusal; first += w.at_once)
        some_heads(&w, first, w.s.heads - first < w.at_once ? w.s.heads - first : w.at_once);
    convert(&w, true);
    results(&w);
    return w;
}

/* ---- the algorithm ---- */

static rmcp_status consider(const struct rmcp_request *request, struct rmcp_way *way)
{
    const struct rmcp_form *form = rmcp_form_of(request);
    const struct rmcp_att_sizes s = rmcp_att_sizes(form);
    for (unsigned slot = 0; slot < RMCP_ATT_SLOTS; slot++) {
        if (form->tensor[slot].dims && !rmcp_form_packed(&form->tensor[slot]))
            return rmcp_refuse(way, "a tensor is not packed");
        if (form->tensor[slot].elements > INT32_MAX)
            return rmcp_refuse(way, "2^31 elements of a tensor or more");
    }
    if (s.queries > INT32_MAX / s.keys) return rmcp_refuse(way, "2^31 scores of a head or more");
    if (s.heads * s.queries > INT32_MAX / 256)
        return rmcp_refuse(way, "2^23 queries of all heads or more");
    const struct walk w = walk(request, NULL, NULL);
    if (w.refusal) return rmcp_refuse(way, w.refusal);
    way->seconds = w.seconds;
    way->workspace_bytes = w.end + w.product_bytes;
    *RMCP_WAY_DETAILS(way, struct rmcp_matmul_known) = w.known;
    return RMCP_OK;
}

static rmcp_status emit(const struct rmcp_request *request, const struct rmcp_way *way,
                        struct rmcp_launch_list *list)
{
    return walk(request, RMCP_WAY_DETAILS_CONST(way, struct rmcp_matmul_known), list).status;
}

extern const struct rmcp_algo rmcp_algo_attention_products;
const struct rmcp_algo rmcp_algo_attention_products = {
    .name = "products",
    .version = 2,
    .kind = RMCP_LAUNCH_KERNEL,
    .consider = consider,
    .emit = emit,
};
