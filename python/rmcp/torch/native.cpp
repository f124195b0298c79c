// native.cpp: the short way of rmcp.torch through PyTorch's dispatcher, for shapes that Python has seen.
//
// It decides nothing. A call whose signature is known goes to a plan that is known; everything else goes to the
// Python form (the operators rmcp_slow::*), which decides, warns, raises, plans, and tells the result to admit() and
// learn(). Tensors that are not plain memory, tracers, modes and transforms are such "everything else".
#include "rmcp.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_convolution.h>
#include <ATen/ops/convolution_ops.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>
#include <torch/version.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using at::IntArrayRef;
using at::Tensor;
using c10::DispatchKey;
using c10::DispatchKeySet;
// The third argument of aten::convolution; releases differ in what they call an optional one.
template <class R, class A, class B, class C, class... Rest> std::decay_t<C> third(R (*)(A, B, C, Rest...));
using MaybeTensor = decltype(third((at::_ops::convolution::schema *)nullptr));

constexpr size_t MOST_SIGNATURES = 1024, MOST_COUNTERS = 10000, MOST_WORDS = 64, MOST_DIMS = 3;
constexpr size_t ALIGNMENT = 256;                                   // of workspace, by rmcp.h
enum Slot { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, WITH_BIAS, SLOTS }; // the first three: operations

// librmcp's functions and PyTorch's two for the current stream; Python finds them.
struct Functions {
    decltype(&rmcp_conv_plan) plan;
    decltype(&rmcp_plan_destroy) destroy;
    decltype(&rmcp_plan_workspace) workspace;
    decltype(&rmcp_plan_algorithm) algorithm;
    decltype(&rmcp_conv_execute) execute;
    decltype(&rmcp_last_error) last_error;
    c10::Stream (*current_stream)(c10::DeviceIndex); // a CUDAStream or HIPStream is nothing but a Stream
    void *(*stream_handle)(const c10::Stream *);
} functions;

// ---- what is known ----

struct Counter {
    std::string text, device, algorithm, reason;
    int operation;
    bool timed;
    std::atomic<int64_t> calls{0}, nanoseconds{0};
};

struct Plan {
    rmcp_plan *handle;
    uint64_t workspace_bytes;
    std::shared_ptr<Counter> counter; // may be missing
    ~Plan() { functions.destroy(handle); }
};

using Space = std::array<int64_t, MOST_DIMS>;

// The arguments of aten::convolution behind the tensors, one number for each dimension.
struct Conf {
    size_t n;
    Space stride, padding, dilation, output_padding;
    bool transposed;
    int64_t groups;
    static IntArrayRef list(const Space &values, size_t n) { return {values.data(), n}; }
};

// A layer shape on a device, with its plans by the options they were made with.
struct Layer : torch::CustomClassHolder {
    Conf conf;
    bool last;
    std::vector<int64_t> input_size, weight_size, output_size;
    std::atomic<Plan *> plans[SLOTS][4] = {};
    c10::MemoryFormat format() const
    {
        if (!last) return c10::MemoryFormat::Contiguous;
        return conf.n == 2 ? c10::MemoryFormat::ChannelsLast : c10::MemoryFormat::ChannelsLast3d;
    }
    ~Layer() override
    {
        for (auto &slot : plans)
            for (auto &plan : slot) delete plan.load();
    }
};
using LayerPtr = c10::intrusive_ptr<Layer>;

// What a signature leads to: a layer, or PyTorch's own kernel and its row in the table.
struct Known {
    LayerPtr layer;
    std::shared_ptr<Counter> refusal;
};

struct Words {
    int64_t at[MOST_WORDS];
    size_t n = 0;
    void add(int64_t word) { at[n++] = word; }
    void add(IntArrayRef words)
    {
        add((int64_t)words.size());
        for (int64_t word : words) add(word);
    }
    std::string text() const { return {(const char *)at, n * sizeof *at}; }
};

struct State {
    std::mutex lock;
    std::unordered_map<std::string, Known> signatures;
    std::unordered_map<std::string, LayerPtr> layers;
    std::unordered_map<std::string, std::shared_ptr<Counter>> counters;
};
std::atomic<State *> state{new State}; // replaced after a fork: another thread may have held the lock
std::atomic<bool> paused{false};

std::shared_ptr<Counter> counter_of(const std::string &text, const std::string &device, const std::string &algorithm,
                                    const std::string &reason, int operation, bool timed)
{
    State &s = *state;
    const std::string key = text + '\n' + device + '\n' + reason + '\n' + algorithm + '\n' + std::to_string(operation);
    auto found = s.counters.find(key);
    if (found != s.counters.end()) return found->second;
    if (s.counters.size() >= MOST_COUNTERS) return nullptr;
    auto counter = std::make_shared<Counter>();
    counter->text = text, counter->device = device, counter->algorithm = algorithm, counter->reason = reason;
    counter->operation = operation, counter->timed = timed;
    return s.counters[key] = counter;
}

// ---- keys ----

// Whether `all` has nothing beyond `known`, backends included.
bool is_within(DispatchKeySet all, DispatchKeySet known)
{
    return !(all.raw_repr() & ~known.raw_repr());
}

// Tensors that are memory of a CPU or a GPU and nothing else.
bool is_plain(const Tensor &t)
{
    constexpr DispatchKeySet plain({DispatchKey::CPU, DispatchKey::CUDA, DispatchKey::AutogradCPU,
                                    DispatchKey::AutogradCUDA, DispatchKey::ADInplaceOrView, DispatchKey::AutocastCPU,
                                    DispatchKey::AutocastCUDA});
    return is_within(t.key_set(), plain) && !t._fw_grad(0).defined();
}

// No tracer, transform, mode or subclass's __torch_function__ is at work in this thread.
bool thread_is_plain()
{
    constexpr DispatchKeySet plain({DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView, DispatchKey::AutocastCPU,
                                    DispatchKey::AutocastCUDA});
    if (!is_within(c10::impl::tls_local_dispatch_key_set().included_, plain)) return false;
#if TORCH_VERSION_MAJOR >= 2
    return at::impl::PythonTorchFunctionTLS::get_disabled_state() == at::impl::TorchFunctionDisabledState::ENABLED;
#else
    return !at::impl::PythonTorchFunctionTLS::is_disabled();
#endif
}

int64_t place_of(const Tensor &t)
{
    const c10::Device device = t.device();
    const int64_t threads = device.is_cpu() ? at::get_num_threads() : 0;
    return (int64_t)t.scalar_type() | (int64_t)device.type() << 8 | (int64_t)(device.index() + 1) << 16 | threads << 32;
}

// Everything that the decisions of the Python form depend on. False: it has to look itself.
bool write_signature(Words &words, const Tensor &input, const Tensor &weight, const Tensor &bias, IntArrayRef stride,
                     IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                     int64_t groups)
{
    const size_t dims = (size_t)input.dim();
    if (!is_plain(input) || !is_plain(weight) || dims < 3 || dims > MOST_DIMS + 2 || (size_t)weight.dim() != dims)
        return false;
    if (weight.scalar_type() != input.scalar_type() || weight.device() != input.device()) return false;
    for (IntArrayRef list : {stride, padding, dilation, output_padding})
        if (list.size() > MOST_DIMS) return false;
    words.add(place_of(input));
    words.add((int64_t)transposed | (int64_t)bias.defined() << 1);
    words.add(groups);
    for (IntArrayRef list : {input.sizes(), input.strides(), weight.sizes(), weight.strides(), stride, padding,
                             dilation, output_padding})
        words.add(list);
    if (!bias.defined()) return true;
    if (!is_plain(bias) || bias.dim() != 1 || bias.scalar_type() != input.scalar_type() ||
        bias.device() != input.device())
        return false;
    words.add(bias.size(0));
    return true;
}

Space spread(IntArrayRef values, size_t n)
{
    Space space{};
    for (size_t i = 0; i < n; i++) space[i] = values[values.size() == 1 ? 0 : i];
    return space;
}

LayerPtr layer_of(const Tensor &like, IntArrayRef input_size, IntArrayRef weight_size, const Conf &conf, bool last)
{
    State &s = *state;
    Words words;
    const size_t n = conf.n;
    words.add(place_of(like));
    words.add((int64_t)conf.transposed | (int64_t)last << 1);
    words.add(conf.groups);
    for (IntArrayRef list : {input_size, weight_size, Conf::list(conf.stride, n), Conf::list(conf.padding, n),
                             Conf::list(conf.dilation, n), Conf::list(conf.output_padding, n)})
        words.add(list);
    LayerPtr &layer = s.layers[words.text()];
    if (layer) return layer;
    layer = c10::make_intrusive<Layer>();
    layer->conf = conf, layer->last = last;
    layer->input_size = input_size.vec(), layer->weight_size = weight_size.vec();
    layer->output_size = {input_size[0], conf.transposed ? weight_size[1] * conf.groups : weight_size[0]};
    for (size_t i = 0; i < n; i++) {
        const int64_t reach = conf.dilation[i] * (weight_size[i + 2] - 1) + 1, size = input_size[i + 2];
        layer->output_size.push_back(conf.transposed ? (size - 1) * conf.stride[i] - 2 * conf.padding[i] + reach +
                                                           conf.output_padding[i]
                                                     : (size + 2 * conf.padding[i] - reach) / conf.stride[i] + 1);
    }
    return layer;
}

Conf conf_of(size_t n, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
             IntArrayRef output_padding, int64_t groups)
{
    return {n, spread(stride, n), spread(padding, n), spread(dilation, n), spread(output_padding, n), transposed,
            groups};
}

// ---- what Python tells ----

// A signature that RMCP takes, in the format `last`, or that it leaves to PyTorch for a reason.
void admit(const Tensor &input, const Tensor &weight, const MaybeTensor &bias, IntArrayRef stride, IntArrayRef padding,
           IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups, bool last,
           std::string text, std::string reason)
{
    Words words;
    if (!write_signature(words, input, weight, bias ? *bias : Tensor(), stride, padding, dilation, transposed,
                         output_padding, groups))
        return;
    State &s = *state;
    std::lock_guard<std::mutex> guard(s.lock);
    if (s.signatures.size() >= MOST_SIGNATURES || s.layers.size() >= MOST_SIGNATURES) {
        s.signatures.clear(); // what is in use lives on with its user
        s.layers.clear();
    }
    Known known;
    if (reason.empty())
        known.layer = layer_of(input, input.sizes(), weight.sizes(),
                               conf_of((size_t)input.dim() - 2, stride, padding, dilation, transposed, output_padding,
                                       groups),
                               last);
    else
        known.refusal = counter_of(text, input.device().str(), "", reason, FORWARD, false);
    s.signatures[words.text()] = known;
}

// One pass that has been executed; a plan of our own is made the same way: problem, device and options are
// addresses of librmcp's.
void learn(const Tensor &like, int64_t slot, IntArrayRef input_size, IntArrayRef weight_size, IntArrayRef stride,
           IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding, int64_t groups,
           bool last, int64_t device, int64_t problem, int64_t pass, int64_t effort, int64_t nondeterministic,
           std::string text, std::string spec)
{
    if (slot < 0 || slot >= SLOTS || effort < 0 || effort > 1 || input_size.size() > MOST_DIMS + 2) return;
    State &s = *state;
    const Conf conf =
        conf_of(input_size.size() - 2, stride, padding, dilation, transposed, output_padding, groups);
    LayerPtr layer;
    {
        std::lock_guard<std::mutex> guard(s.lock);
        layer = layer_of(like, input_size, weight_size, conf, last);
    }
    auto &place = layer->plans[slot][effort * 2 + (nondeterministic != 0)];
    if (place.load()) return;
    rmcp_plan_options options = {};
    options.struct_size = sizeof options;
    options.effort = (uint32_t)effort, options.nondeterministic = nondeterministic != 0;
    rmcp_plan *handle = nullptr;
    if (functions.plan((rmcp_device *)device, (const rmcp_conv *)problem, (rmcp_conv_pass)pass, &options, &handle))
        return;
    auto plan = std::unique_ptr<Plan>(new Plan{handle, functions.workspace(handle), nullptr});
    {
        std::lock_guard<std::mutex> guard(s.lock);
        plan->counter = counter_of(text, spec, functions.algorithm(handle), "",
                                   slot == WITH_BIAS ? FORWARD : (int)slot, like.device().is_cpu());
    }
    Plan *nobody = nullptr; // another thread may have been faster
    if (place.compare_exchange_strong(nobody, plan.get())) plan.release();
}

// ---- executing ----

const Plan *plan_of(const Layer &layer, Slot slot, const Tensor &like)
{
    const auto &context = at::globalContext();
    const bool strict = context.deterministicAlgorithms() || context.deterministicCuDNN();
    const int effort = !like.device().is_cpu() && context.benchmarkCuDNN();
    return layer.plans[slot][effort * 2 + !strict].load(std::memory_order_acquire);
}

// Where data is. A pointer to be written would copy what copy-on-write tensors share; results are new memory anyway.
template <class T> auto address(const T &t, int) -> decltype((void *)t.const_data_ptr())
{
    return (void *)t.const_data_ptr();
}

template <class T> void *address(const T &t, long) // before 2.1
{
    return t.data_ptr();
}

rmcp_memory memory(const Tensor &t)
{
    return {address(t, 0), 0};
}

void count(Counter *counter, int64_t nanoseconds)
{
    if (!counter) return;
    counter->calls.fetch_add(1, std::memory_order_relaxed);
    if (nanoseconds) counter->nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
}

// `input`, `weight`, `output` play their parts of the forward call; all are dense in the layer's format.
void execute(const Layer &layer, const Plan &plan, const Tensor &input, const Tensor &weight, const Tensor &output,
             const Tensor &bias)
{
    using clock = std::chrono::steady_clock;
    rmcp_conv_tensors tensors = {};
    tensors.struct_size = sizeof tensors;
    tensors.x = memory(layer.conf.transposed ? output : input);
    tensors.y = memory(layer.conf.transposed ? input : output);
    tensors.w = memory(weight);
    if (bias.defined()) tensors.bias = memory(bias);
    Tensor owner; // PyTorch's allocator gives it to later work of the same stream only
    if (plan.workspace_bytes) {
        owner = at::empty({(int64_t)(plan.workspace_bytes + ALIGNMENT)}, input.options().dtype(at::kByte));
        const uintptr_t start = (uintptr_t)owner.data_ptr();
        tensors.workspace.base = (void *)((start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        tensors.workspace_bytes = plan.workspace_bytes;
    }
    rmcp_status status;
    int64_t taken = 0;
    if (input.device().is_cpu()) {
        const auto start = clock::now();
        status = functions.execute(plan.handle, nullptr, &tensors);
        taken = std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start).count();
    } else {
        const c10::Stream stream = functions.current_stream(input.device().index());
        status = functions.execute(plan.handle, functions.stream_handle(&stream), &tensors);
    }
    TORCH_CHECK(!status, "rmcp.torch: ", functions.last_error());
    count(plan.counter.get(), taken);
}

Tensor forward(const Layer &layer, const Plan &plan, const Tensor &input, const Tensor &weight, const Tensor &bias)
{
    at::AutoDispatchBelowADInplaceOrView below;
    const auto format = layer.format();
    Tensor output = at::empty(layer.output_size, input.options(), format);
    const bool added = layer.conf.transposed && bias.defined(); // RMCP's backward pass adds none
    execute(layer, plan, input.contiguous(format), weight.contiguous(format), output,
            added || !bias.defined() ? Tensor() : bias.contiguous());
    if (added) {
        std::vector<int64_t> shape(layer.conf.n + 1, 1);
        shape[0] = bias.size(0);
        output.add_(bias.view(shape));
    }
    return output;
}

// ---- the Python form ----

template <class Schema> c10::TypedOperatorHandle<Schema> slow_operator(const char *name)
{
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").template typed<Schema>();
}

using Gradient = Tensor(const Tensor &, const Tensor &, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, bool,
                        IntArrayRef, int64_t, bool);

Tensor slow_gradient(const char *name, const Tensor &grad, const Tensor &other, IntArrayRef size, const Layer &layer)
{
    const Conf &c = layer.conf;
    return slow_operator<Gradient>(name).call(grad, other, size, Conf::list(c.stride, c.n), Conf::list(c.padding, c.n),
                                              Conf::list(c.dilation, c.n), c.transposed,
                                              Conf::list(c.output_padding, c.n), c.groups, layer.last);
}

// ---- gradients ----

bool wants_graph(const Tensor &a, const Tensor &b)
{
    return c10::GradMode::is_enabled() && (a.requires_grad() || b.requires_grad());
}

bool is_simple(const Tensor &grad, const Tensor &other)
{
    return !paused && !wants_graph(grad, other) && is_plain(grad) && is_plain(other) && thread_is_plain() &&
           grad.scalar_type() == other.scalar_type() && grad.device() == other.device();
}

// A hook on saved tensors may have given another one back, whose memory must not be read as that of the one saved.
void check_saved(const Tensor &saved, IntArrayRef size, const Tensor &grad)
{
    TORCH_CHECK(saved.sizes() == size && saved.scalar_type() == grad.scalar_type() && saved.device() == grad.device(),
                "rmcp.torch: a saved tensor came back as ", saved.sizes(), " of ", saved.scalar_type(), " on ",
                saved.device(), "; it was ", size, " of ", grad.scalar_type(), " on ", grad.device());
}

// With respect to the input (`slot` INPUT_GRADIENT; `other` is the weight) or the weight (`other` is the input).
Tensor gradient(const Layer &layer, Slot slot, const Tensor &grad, const Tensor &other)
{
    const bool of_input = slot == INPUT_GRADIENT;
    const IntArrayRef size = of_input ? layer.input_size : layer.weight_size;
    check_saved(other, of_input ? layer.weight_size : layer.input_size, grad);
    const Plan *plan = is_simple(grad, other) ? plan_of(layer, slot, grad) : nullptr;
    if (!plan || grad.sizes() != IntArrayRef(layer.output_size))
        return slow_gradient(of_input ? "rmcp_slow::input_gradient" : "rmcp_slow::weight_gradient", grad, other, size,
                             layer);
    at::AutoDispatchBelowADInplaceOrView below;
    const auto format = layer.format();
    const Tensor result = at::empty(size, grad.options(), format), factor = other.contiguous(format);
    execute(layer, *plan, of_input ? result : factor, of_input ? factor : result, grad.contiguous(format), Tensor());
    return result;
}

// Summed in float32 whatever the type, as RMCP sums.
Tensor bias_gradient(const Tensor &grad)
{
    std::vector<int64_t> dims{0};
    for (int64_t i = 2; i < grad.dim(); i++) dims.push_back(i);
    return grad.sum(dims, false, at::kFloat).to(grad.scalar_type());
}

struct Convolution : torch::autograd::Function<Convolution> {
    static Tensor forward(torch::autograd::AutogradContext *ctx, const Tensor &input, const Tensor &weight,
                          const MaybeTensor &bias, const LayerPtr &layer, const Plan *plan)
    {
        // Only what a gradient needs is kept: a frozen layer does not hold its input.
        ctx->save_for_backward({weight.requires_grad() ? input : Tensor(), input.requires_grad() ? weight : Tensor()});
        ctx->saved_data["layer"] = c10::IValue::make_capsule(layer);
        ctx->saved_data["bias"] = bias.has_value() && bias->defined();
        return ::forward(*layer, *plan, input, weight, bias ? *bias : Tensor());
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext *ctx,
                                                   torch::autograd::variable_list grads)
    {
        const auto saved = ctx->get_saved_variables();
        const auto holder = ctx->saved_data["layer"].toCapsule();
        const Layer &layer = static_cast<const Layer &>(*holder);
        const Tensor &grad = grads[0], &input = saved[0], &weight = saved[1];
        torch::autograd::variable_list results(5);
        if (!grad.defined()) return results;
        if (ctx->needs_input_grad(0)) results[0] = gradient(layer, INPUT_GRADIENT, grad, weight);
        if (ctx->needs_input_grad(1)) results[1] = gradient(layer, WEIGHT_GRADIENT, grad, input);
        if (ctx->saved_data["bias"].toBool() && ctx->needs_input_grad(2)) results[2] = bias_gradient(grad);
        return results;
    }
};

// ---- the dispatcher ----

// Lists of numbers that are known, whatever this PyTorch's schema calls them.
bool plain(IntArrayRef list, IntArrayRef &out)
{
    out = list;
    return true;
}

bool plain(int64_t number, int64_t &out)
{
    out = number;
    return true;
}

#if TORCH_VERSION_MAJOR >= 2
bool plain(c10::SymIntArrayRef list, IntArrayRef &out)
{
    const auto known = c10::asIntArrayRefSlowOpt(list);
    if (known) out = *known;
    return known.has_value();
}

bool plain(const c10::SymInt &number, int64_t &out)
{
    const auto known = number.maybe_as_int();
    if (known) out = *known;
    return known.has_value();
}
#endif

bool requires_graph(const Tensor &input, const Tensor &weight, const Tensor &bias)
{
    return c10::GradMode::is_enabled() &&
           (input.requires_grad() || weight.requires_grad() || (bias.defined() && bias.requires_grad()));
}

// aten::convolution; `Above` autograd, or below it for inference_mode.
template <class Schema, bool Above> struct Kernel;
template <class Stride, class Padding, class Dilation, class OutputPadding, class Groups, bool Above>
struct Kernel<Tensor(const Tensor &, const Tensor &, const MaybeTensor &, Stride, Padding, Dilation, bool,
                     OutputPadding, Groups),
              Above> {
    using Schema = Tensor(const Tensor &, const Tensor &, const MaybeTensor &, Stride, Padding, Dilation, bool,
                          OutputPadding, Groups);

    static Tensor call(DispatchKeySet keys, const Tensor &input, const Tensor &weight, const MaybeTensor &bias,
                       Stride stride, Padding padding, Dilation dilation, bool transposed, OutputPadding output_padding,
                       Groups groups)
    {
        static const Tensor nothing;
        IntArrayRef s, p, d, o;
        int64_t g = 0;
        Words words;
        const Tensor &third = bias ? *bias : nothing;
        if (!paused && thread_is_plain() && plain(stride, s) && plain(padding, p) && plain(dilation, d) &&
            plain(output_padding, o) && plain(groups, g) &&
            write_signature(words, input, weight, third, s, p, d, transposed, o, g)) {
            Known known;
            {
                State &all = *state;
                const std::string key = words.text();
                std::lock_guard<std::mutex> guard(all.lock);
                const auto found = all.signatures.find(key);
                if (found != all.signatures.end()) known = found->second;
            }
            if (known.refusal) {
                count(known.refusal.get(), 0);
                const auto &context = at::globalContext();
                return at::_convolution(input, weight, bias, s, p, d, transposed, o, g, context.benchmarkCuDNN(),
                                        context.deterministicCuDNN() || context.deterministicAlgorithms(),
                                        context.userEnabledCuDNN(), context.allowTF32CuDNN());
            }
            const Plan *plan = nullptr;
            if (known.layer)
                plan = plan_of(*known.layer, third.defined() && !transposed ? WITH_BIAS : FORWARD, input);
            if (plan && Above && requires_graph(input, weight, third))
                return Convolution::apply(input, weight, bias, known.layer, plan);
            if (plan) return forward(*known.layer, *plan, input, weight, third);
        }
        static const auto slow = slow_operator<Schema>("rmcp_slow::convolution");
        return slow.redispatch(keys, input, weight, bias, stride, padding, dilation, transposed, output_padding,
                               groups);
    }
};

std::vector<std::unique_ptr<torch::Library>> overrides;

} // namespace

TORCH_LIBRARY(rmcp_native, library)
{
    library.def("admit(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
                "bool transposed, int[] output_padding, int groups, bool last, str text, str reason) -> ()",
                admit);
    library.def("learn(Tensor like, int slot, int[] input_size, int[] weight_size, int[] stride, int[] padding, "
                "int[] dilation, bool transposed, int[] output_padding, int groups, bool last, int device, "
                "int problem, int conv_pass, int effort, int nondeterministic, str text, str spec) -> ()",
                learn);
}

// `addresses` are those of Functions, in order; the last two may be 0 where there is no GPU.
EXPORT void rmcp_native_start(void *const *addresses)
{
    static_assert(sizeof functions == 8 * sizeof *addresses, "one address for each function");
    std::memcpy(&functions, addresses, sizeof functions);
}

// Take aten::convolution for tensors on the CPU (1) or a GPU (2), replacing what was taken before; 0: give it back.
EXPORT void rmcp_native_take(int devices)
{
    using schema = at::_ops::convolution::schema;
    overrides.clear();
    const auto take = [](DispatchKey key, torch::CppFunction kernel) {
        overrides.emplace_back(
            new torch::Library(torch::Library::IMPL, "aten", key, "rmcp/torch/native.cpp", __LINE__));
        overrides.back()->impl("convolution", std::move(kernel));
    };
    if (devices & 1) {
        take(DispatchKey::AutogradCPU, torch::CppFunction(&Kernel<schema, true>::call));
        take(DispatchKey::CPU, torch::CppFunction(&Kernel<schema, false>::call));
    }
    if (devices & 2) {
        take(DispatchKey::AutogradCUDA, torch::CppFunction(&Kernel<schema, true>::call));
        take(DispatchKey::CUDA, torch::CppFunction(&Kernel<schema, false>::call));
    }
}

// Leave everything to the Python form for a while.
EXPORT void rmcp_native_pause(int on)
{
    paused = on != 0;
}

// Forget signatures and plans. In a forked process they, and the lock, belong to the parent's threads: leave them.
EXPORT void rmcp_native_forget(int forked)
{
    if (forked) {
        state = new State;
        return;
    }
    State &s = *state;
    std::lock_guard<std::mutex> guard(s.lock);
    s.signatures.clear();
    s.layers.clear();
}

// Call `visit` for every row that was counted; then, when asked, start again from 0.
EXPORT void rmcp_native_rows(void (*visit)(const char *text, const char *device, const char *algorithm,
                                           const char *reason, int operation, int64_t calls, double seconds),
                             int reset)
{
    std::vector<std::shared_ptr<Counter>> rows;
    {
        State &s = *state;
        std::lock_guard<std::mutex> guard(s.lock);
        for (const auto &entry : s.counters) rows.push_back(entry.second);
    }
    for (const auto &row : rows) {
        const int64_t calls = row->calls;
        if (calls && visit)
            visit(row->text.c_str(), row->device.c_str(), row->algorithm.c_str(), row->reason.c_str(), row->operation,
                  calls, row->timed ? 1e-9 * (double)row->nanoseconds : -1.0);
        if (reset) row->calls = 0, row->nanoseconds = 0;
    }
}
