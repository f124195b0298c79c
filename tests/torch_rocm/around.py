#!/usr/bin/env python3
"""What programs do around their networks, on PyTorch's cuda: around.py [--cpu] GROUP…; watch.py judges each operation.

A part that ends in an error says so in a line of its own ("FAILED part: why"), and the next one goes on."""
import io
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = "cpu" if "--cpu" in sys.argv else "cuda"
GROUPS = {}


def part(group):
    def keep(function):
        GROUPS.setdefault(group, []).append(function)
        return function

    return keep


def noise(*size, grad=False, dtype=torch.float32):
    """The same numbers on the CPU and on the card."""
    return torch.randn(size).to(dtype).to(DEVICE).requires_grad_(grad)


def grads(*outputs):
    """A backward pass through all of them."""
    sum((o.float() * o.float()).mean() for o in outputs).backward()


def each(names, call):
    """Each name by itself: what fails does not hide the others."""
    failed = {}
    for name in names:
        try:
            call(name)
        except RuntimeError as error:
            failed.setdefault(str(error).splitlines()[0], []).append(name)
    if failed:
        raise RuntimeError("; ".join(" ".join(names) + ": " + why for why, names in failed.items()))


def small():
    torch.manual_seed(3)
    layers = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 64, 5)
    return nn.Sequential(*layers).to(DEVICE)


def step(model, optimizer, n=2, **options):
    for _ in range(n):
        optimizer.zero_grad(**options)
        F.cross_entropy(model(noise(4, 3, 8, 8)), torch.arange(4, device=DEVICE)).backward()
        optimizer.step()


@part("training")
def loader():
    data = torch.utils.data.TensorDataset(torch.randn(10, 3, 8, 8), torch.arange(10) % 5)
    for x, y in torch.utils.data.DataLoader(data, 4, shuffle=True, num_workers=2):
        assert small()(x.to(DEVICE, non_blocking=True)).shape[0] == y.to(DEVICE).shape[0]


@part("training")
def pinned():
    data = torch.utils.data.TensorDataset(torch.randn(6, 3), torch.arange(6))
    for x, y in torch.utils.data.DataLoader(data, 3, pin_memory=True):
        assert torch.equal(x.to(DEVICE, non_blocking=True).cpu(), x) and y.is_pinned()


@part("training")
def saved():
    model = small()
    optimizer = torch.optim.AdamW(model.parameters())
    step(model, optimizer)
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    for place in (DEVICE, "cpu"):
        file.seek(0)
        state = torch.load(file, map_location=place)
        other = small().to(place)
        other.load_state_dict(state["model"])
        torch.optim.AdamW(other.parameters()).load_state_dict(state["optimizer"])
        for p, q in zip(model.parameters(), other.parameters()):
            assert torch.equal(p.cpu(), q.cpu())


@part("training")
def schedules():
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
    kinds = torch.optim.lr_scheduler
    for make in (lambda: kinds.StepLR(optimizer, 1), lambda: kinds.CosineAnnealingLR(optimizer, 4),
                 lambda: kinds.OneCycleLR(optimizer, 0.1, total_steps=4)):  # fmt: skip
        scheduler = make()
        step(model, optimizer, 1)
        scheduler.step()


@part("training")
def clipped():
    model = small()
    F.cross_entropy(model(noise(4, 3, 8, 8)), torch.arange(4, device=DEVICE)).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    assert norm.item() > 0.1
    nn.utils.clip_grad_value_(model.parameters(), 0.01)
    assert nn.utils.parameters_to_vector(p.grad for p in model.parameters()).abs().max().item() <= 0.0101


@part("training")
def averaged():
    model = small()
    average = torch.optim.swa_utils.AveragedModel(model)
    for _ in range(2):
        step(model, torch.optim.SGD(model.parameters(), 0.1), 1)
        average.update_parameters(model)
    torch.optim.swa_utils.update_bn([noise(4, 3, 8, 8)], average)


@part("training")
def mixed():
    model, scaler = small(), torch.amp.GradScaler(DEVICE, init_scale=128.0, growth_interval=1)
    optimizer = torch.optim.Adam(model.parameters())
    for scale in (1.0, float("inf"), 1.0):
        optimizer.zero_grad()
        with torch.autocast(DEVICE, torch.float16):
            loss = F.cross_entropy(model(noise(4, 3, 8, 8)), torch.arange(4, device=DEVICE))
        scaler.scale(loss * scale).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 256.0  # doubled, halved by the infinite loss, doubled


@part("training")
def checkpointed():
    model, x = small(), noise(4, 3, 8, 8, grad=True)
    grads(torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False))


@part("training")
def twice_differentiated():
    x = noise(2, 3, 6, 6, grad=True)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Tanh()).to(DEVICE)
    (first,) = torch.autograd.grad(model(x).square().sum(), x, create_graph=True)
    ((first.flatten(1).norm(2, 1) - 1) ** 2).mean().backward()


@part("training")
def functional():
    model, x = nn.Linear(4, 3).to(DEVICE), noise(5, 4)
    parameters = dict(model.named_parameters())

    def loss(p, one):
        return torch.func.functional_call(model, p, (one,)).square().sum()

    torch.vmap(torch.func.grad(loss), (None, 0))(parameters, x)
    torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),))


@part("training")
def scripted():
    model, x = small().eval(), noise(2, 3, 8, 8)
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(model), file)
    file.seek(0)
    with torch.no_grad():
        assert torch.allclose(torch.jit.load(file)(x).cpu(), model(x).cpu(), atol=1e-5)


OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam", "RAdam", "Adamax", "Rprop", "ASGD")
for _name in OPTIMIZERS:
    for _options in ({}, {"foreach": False}):

        def one_optimizer(name=_name, options=_options):
            model = small()
            step(model, getattr(torch.optim, name)(model.parameters(), **options))

        one_optimizer.__name__ = _name + "".join("_single" for _ in _options)
        part("optimizers")(one_optimizer)


@part("optimizers")
def fused():
    for kind, options in ((torch.optim.SGD, {}), (torch.optim.Adam, {"amsgrad": True}), (torch.optim.AdamW, {}),
                          (torch.optim.Adagrad, {})):  # fmt: skip
        model = small()
        step(model, kind(model.parameters(), lr=1e-3, fused=True, **options))


@part("optimizers")
def LBFGS():
    model, x, y = nn.Linear(4, 2).to(DEVICE), noise(8, 4), noise(8, 2)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)


@part("layers")
def embeddings():
    words = torch.tensor([[1, 2, 0], [4, 4, 1]], device=DEVICE)
    grads(nn.Embedding(5, 6, padding_idx=0).to(DEVICE)(words), nn.Embedding(5, 6, max_norm=1.0).to(DEVICE)(words))
    grads(nn.Embedding(5, 6, scale_grad_by_freq=True).to(DEVICE)(words))
    F.one_hot(words, 5)


@part("layers")
def bags():
    words, starts = torch.tensor([1, 2, 4, 5, 4, 3], device=DEVICE), torch.tensor([0, 4], device=DEVICE)
    for mode in ("sum", "mean", "max"):
        grads(nn.EmbeddingBag(10, 3, mode=mode).to(DEVICE)(words, starts))


@part("layers")
def interpolated():
    for mode, size in (("nearest", (5, 7)), ("nearest-exact", (9, 4)), ("bilinear", (5, 9)), ("bicubic", (7, 9)),
                       ("area", (3, 2))):  # fmt: skip
        grads(F.interpolate(noise(2, 3, 6, 6, grad=True), size, mode=mode))
    grads(F.interpolate(noise(2, 3, 6, 6, grad=True), scale_factor=2, mode="bilinear", align_corners=True))
    grads(F.interpolate(noise(2, 3, 6, 6, grad=True), (4, 3), mode="bilinear", antialias=True))
    grads(F.interpolate(noise(2, 3, 6, grad=True), 9, mode="linear"), F.interpolate(noise(2, 3, 6, grad=True), 9))


@part("layers")
def interpolated_volumes():
    grads(F.interpolate(noise(1, 2, 3, 4, 4, grad=True), (5, 6, 7), mode="trilinear"))
    grads(F.interpolate(noise(1, 2, 3, 4, 4, grad=True), scale_factor=2))


@part("layers")
def sampled():
    turn = torch.tensor([[[0.8, 0.2, 0.1], [-0.3, 0.9, 0.0]]], device=DEVICE, requires_grad=True)
    for mode, padding in (("bilinear", "zeros"), ("nearest", "border"), ("bicubic", "reflection")):
        grid = F.affine_grid(turn, (1, 2, 5, 6), align_corners=False)
        grads(F.grid_sample(noise(1, 2, 7, 7, grad=True), grid, mode=mode, padding_mode=padding, align_corners=False))


@part("layers")
def padded():
    for mode in ("constant", "reflect", "replicate", "circular"):
        grads(F.pad(noise(1, 2, 5, 6, grad=True), (1, 2, 3, 1), mode=mode),
              F.pad(noise(1, 2, 6, grad=True), (2, 1), mode=mode))  # fmt: skip
    grads(F.pad(noise(1, 2, 3, 4, 5, grad=True), (1, 1, 1, 1, 1, 1), mode="replicate"))
    grads(F.pixel_shuffle(noise(1, 8, 3, 3, grad=True), 2), F.pixel_unshuffle(noise(1, 2, 4, 4, grad=True), 2))
    grads(F.fold(F.unfold(noise(1, 2, 6, 6, grad=True), 3, padding=1), (6, 6), 3, padding=1))
    grads(noise(2, 9, grad=True).unfold(1, 4, 2), F.channel_shuffle(noise(1, 4, 3, 3, grad=True), 2))


@part("layers")
def pooled():
    for n, size in ((1, (9,)), (2, (9, 8)), (3, (5, 6, 6))):
        for name in ("max_pool", "avg_pool"):
            grads(getattr(F, f"{name}{n}d")(noise(2, 3, *size, grad=True), 3, 2, 1))
        for name in ("adaptive_avg_pool", "adaptive_max_pool"):
            grads(getattr(F, f"{name}{n}d")(noise(2, 3, *size, grad=True), 2),
                  getattr(F, f"{name}{n}d")(noise(2, 3, *size), 3))  # fmt: skip
    y, places = F.max_pool2d(noise(1, 2, 6, 6, grad=True), 2, return_indices=True)
    grads(F.max_unpool2d(y, places, 2), F.lp_pool2d(noise(1, 2, 6, 6, grad=True).abs(), 2.0, 3))


@part("layers")
def normalized():
    for n, size in ((1, (5,)), (2, (5, 4)), (3, (3, 4, 3))):
        for kind in ("BatchNorm", "InstanceNorm"):
            layer = getattr(nn, f"{kind}{n}d")(4, affine=True).to(DEVICE)
            grads(layer(noise(3, 4, *size, grad=True)))
            layer.eval()(noise(3, 4, *size))
    for layer in (nn.GroupNorm(2, 4), nn.LayerNorm((4, 5, 4)), nn.LocalResponseNorm(3), nn.RMSNorm((4, 5, 4))):
        grads(layer.to(DEVICE)(noise(3, 4, 5, 4, grad=True)))
    grads(nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)).to(DEVICE)(noise(2, 4)))
    grads(nn.utils.parametrizations.spectral_norm(nn.Conv2d(4, 3, 3)).to(DEVICE)(noise(2, 4, 5, 5)))
    F.normalize(noise(3, 4)), F.cosine_similarity(noise(3, 4), noise(3, 4))


@part("layers")
def convolved():
    for n, size in ((1, (9,)), (2, (9, 8)), (3, (5, 6, 6))):
        for options in ({}, {"stride": 2, "padding": 1}, {"groups": 2, "dilation": 2, "padding": 2}):
            grads(getattr(nn, f"Conv{n}d")(4, 6, 3, **options).to(DEVICE)(noise(2, 4, *size, grad=True)))
        back = getattr(nn, f"ConvTranspose{n}d")(4, 6, 3, stride=2, padding=1, output_padding=1).to(DEVICE)
        grads(back(noise(2, 4, *size, grad=True)))
    for mode in ("reflect", "circular", "replicate"):
        grads(nn.Conv2d(4, 6, 3, padding=1, padding_mode=mode).to(DEVICE)(noise(2, 4, 6, 6, grad=True)))
    grads(nn.Conv2d(4, 6, 3, padding="same").to(DEVICE)(noise(2, 4, 6, 6, grad=True)),
          nn.Conv2d(4, 8, 3, groups=4).to(DEVICE)(noise(2, 4, 6, 6)))  # fmt: skip
    last = torch.channels_last
    grads(nn.Conv2d(4, 6, 3).to(DEVICE, memory_format=last)(noise(2, 4, 6, 6).to(memory_format=last).requires_grad_()))
    grads(nn.Conv2d(4, 6, 3).to(DEVICE, torch.float16)(noise(2, 4, 6, 6, dtype=torch.float16, grad=True)))
    nn.LazyConv2d(4, 3).to(DEVICE)(noise(1, 2, 5, 5)), nn.Bilinear(3, 4, 5).to(DEVICE)(noise(2, 3), noise(2, 4))


@part("layers")
def recurrent():
    for kind in (nn.RNN, nn.LSTM, nn.GRU):
        layer = kind(5, 6, 2, bidirectional=True).to(DEVICE)
        grads(layer(noise(4, 3, 5, grad=True))[0])
    for cell, state in ((nn.RNNCell(5, 6), noise(3, 6)), (nn.GRUCell(5, 6), noise(3, 6)),
                        (nn.LSTMCell(5, 6), (noise(3, 6), noise(3, 6)))):  # fmt: skip
        out = cell.to(DEVICE)(noise(3, 5, grad=True), state)
        grads(*(out if isinstance(out, tuple) else (out,)))


@part("layers")
def packed():
    packed = nn.utils.rnn.pack_padded_sequence(noise(4, 3, 5), torch.tensor([4, 3, 1]))
    out, _ = nn.LSTM(5, 6).to(DEVICE)(packed)
    grads(nn.utils.rnn.pad_packed_sequence(out)[0])


@part("layers")
def attention():
    layer, x = nn.MultiheadAttention(8, 2, batch_first=True).to(DEVICE), noise(2, 5, 8, grad=True)
    hidden = torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]], device=DEVICE, dtype=torch.bool)
    grads(layer(x, x, x, key_padding_mask=hidden)[0],
          F.scaled_dot_product_attention(noise(2, 2, 5, 4, grad=True), noise(2, 2, 5, 4), noise(2, 2, 5, 4),
                                         is_causal=True))  # fmt: skip
    both = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0, batch_first=True).to(DEVICE)
    grads(both(x, noise(2, 4, 8), tgt_mask=nn.Transformer.generate_square_subsequent_mask(4, device=DEVICE)))


ACTIVATIONS = (
    "relu relu6 elu selu celu gelu silu mish softplus softsign softshrink hardshrink tanhshrink logsigmoid hardtanh "
    "hardswish hardsigmoid leaky_relu sigmoid tanh glu"
).split()


@part("layers")
def activated():
    each(ACTIVATIONS, lambda name: grads(getattr(F, name)(noise(4, 6, grad=True))))
    grads(F.prelu(noise(4, 6, grad=True), noise(6, grad=True)), F.gelu(noise(4, 6, grad=True), approximate="tanh"))
    grads(F.softmax(noise(4, 6, grad=True), 1), F.log_softmax(noise(4, 6, grad=True), 0),
          F.softmin(noise(4, 6, grad=True), 1))  # fmt: skip


@part("layers")
def lost():
    x, y = noise(6, 5, grad=True), noise(6, 5)
    places, signs = torch.arange(6, device=DEVICE) % 5, torch.ones(6, device=DEVICE)
    losses = [F.cross_entropy(x, places, label_smoothing=0.1, weight=noise(5).abs()), F.cross_entropy(x, y.softmax(1)),
              F.nll_loss(x, places, ignore_index=2), F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y),
              F.huber_loss(x, y),
              F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=noise(5).abs()),
              F.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
              F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
              F.poisson_nll_loss(x, y.abs()), F.gaussian_nll_loss(x, y, y.abs() + 0.1), F.soft_margin_loss(x, y.sign()),
              F.hinge_embedding_loss(x, y.sign()), F.triplet_margin_loss(x, y, noise(6, 5)),
              F.cosine_embedding_loss(x, y, signs), F.margin_ranking_loss(x[:, 0], y[:, 0], signs)]  # fmt: skip
    grads(*losses)


@part("layers")
def lost_by_margin():
    x, places = noise(6, 5, grad=True), torch.arange(6, device=DEVICE) % 5
    grads(F.multi_margin_loss(x, places),
          F.multilabel_margin_loss(x, torch.tensor([[1, 2, -1, 0, 0]] * 6, device=DEVICE)))  # fmt: skip


@part("layers")
def lost_alignment():
    x = noise(8, 2, 5, grad=True)
    words, lengths = torch.tensor([[1, 2, 3], [4, 4, 1]], device=DEVICE), torch.tensor([3, 2])
    F.ctc_loss(x.log_softmax(2), words, torch.tensor([8, 7]), lengths).backward()


@part("tensors")
def sorted_():
    x = noise(4, 50)
    x.topk(5), x.topk(3, 0, largest=False), x.sort(1), x.sort(0, descending=True), x.argsort(1), x.sort(stable=True)
    x.kthvalue(7), x.median(), x.median(1), x.quantile(0.3), x.nanmedian(), torch.randint(9, (300,)).to(DEVICE).sort()
    noise(3000).sort(), noise(5000).topk(10), noise(3000).topk(2000)
    torch.randint(99, (3000,)).to(DEVICE).sort(stable=True)


@part("tensors")
def counted():
    x = torch.randint(9, (60,)).to(DEVICE)
    x.unique(return_inverse=True, return_counts=True), x.unique_consecutive(), x.view(6, 10).unique(dim=0)
    x.view(6, 10).mode(1), x.bincount(minlength=12), x.float().histc(10)
    torch.searchsorted(noise(20).sort()[0], noise(5)), torch.bucketize(noise(9), noise(3).sort()[0])


@part("tensors")
def scanned():
    x = noise(4, 300, grad=True)
    grads(x.cumsum(1), x.cumsum(0), x.logcumsumexp(1), x.cumprod(1)), grads(x.cummax(1)[0], x.cummin(0)[0])
    torch.arange(3000, device=DEVICE).cumsum(0), noise(20000).cumsum(0), (x > 0).cumsum(1), x.diff()
    torch.trapezoid(x), x.cov(), x.corrcoef()


@part("tensors")
def multiplied():
    a, b = noise(3, 4, 5, grad=True), noise(3, 5, 6, grad=True)
    grads(torch.einsum("bij,bjk->bik", a, b), torch.einsum("bij,bjk->ik", a, b), torch.bmm(a, b), a @ b[0],
          torch.baddbmm(noise(3, 4, 6), a, b))  # fmt: skip
    grads(torch.tensordot(a, b, ([0, 2], [0, 1])), torch.kron(a[0], b[0]), torch.outer(a[0, 0], b[0, 0]),
          a[0, 0].dot(b[0, :, 0]), a[0] @ b[0, :, 0])  # fmt: skip
    grads(torch.linalg.multi_dot([a[0], b[0], noise(6, 2)]), torch.addr(noise(4, 5), noise(4), noise(5)),
          torch.matrix_power(noise(4, 4), 3))  # fmt: skip
    a.half() @ b.half(), torch.einsum("bhqd,bhkd->bhqk", noise(2, 2, 3, 4), noise(2, 2, 5, 4))
    torch.tril(a), torch.triu(a, 1)


@part("tensors")
def distant():
    x, y = noise(6, 4, grad=True), noise(5, 4, grad=True)
    grads(torch.cdist(x, y), torch.cdist(x, y, p=1.0), F.pdist(x), F.pairwise_distance(x[:5], y))
    torch.cdist(noise(40, 4), noise(30, 4))


@part("tensors")
def indexed():
    x, rows = noise(6, 5, grad=True), torch.tensor([4, 0, 4, 2], device=DEVICE)
    grads(x[rows], x[x > 0], x[:, rows], x[rows, rows], x.index_select(1, rows),
          x.gather(1, rows.view(1, 4).expand(6, 4)), x[::2, 1:], x[..., -1])  # fmt: skip
    grads(x.masked_fill(x > 1, 0.0), x.masked_select(x < 0), torch.where(x > 0, x, -x),
          torch.take_along_dim(x, x.argsort(1), 1), x.take(rows))  # fmt: skip
    y = torch.zeros(6, 5, device=DEVICE)
    y[rows] += 1.0
    y[y > 0] = 2.0
    y.index_put_((rows, rows), noise(4), accumulate=True), y.index_add_(0, rows, noise(4, 5))
    y.index_copy_(0, rows[1:], noise(3, 5)), y.index_fill_(1, rows, 3.0)
    y.scatter_(1, rows.view(1, 4), 1.0), y.scatter_add_(0, rows.view(4, 1), noise(4, 5))
    y.scatter_reduce_(0, rows.view(4, 1), noise(4, 5), "amax")
    y.masked_scatter_(y > 0, noise(30)), y.nonzero(), y.roll(2, 1), y.flip(0), y.rot90(), y.diag()
    torch.diag_embed(y), y.repeat(2, 1), y.fill_diagonal_(7.0)
    torch.repeat_interleave(rows, rows), rows.repeat_interleave(2), torch.meshgrid(rows, rows, indexing="ij")
    torch.stack([y, y]), torch.cat([y, y], 1), y.split(2), torch.cartesian_prod(rows, rows)


@part("tensors")
def reduced():
    x = noise(7, 300, grad=True)
    grads(x.sum(), x.mean(1), x.var(0), x.std(), x.logsumexp(1), x.norm(), x.norm(1, 1), x.amax(1), x.amin(0),
          x.prod(1), *x.aminmax(), x.max(1)[0], x.min())  # fmt: skip
    x.argmax(1), x.argmin(), (x > 0).any(1), (x > 0).all(), x.count_nonzero(), torch.std_mean(x, 1), x.nansum()
    x.isnan().sum(), x.int().sum(1), x.half().sum(0), x.dist(-x)
    torch.equal(x, x), torch.allclose(x, x), noise(100000).sum(), noise(3, 40000).mean(1), x.sum((0, 1))
    x.mean(dim=(0,), keepdim=True)


UNARY = (
    "abs acos acosh angle asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 floor "
    "frac i0 lgamma log log10 log1p log2 logit neg positive rad2deg reciprocal relu round rsqrt sgn sigmoid sign sin "
    "sinc sinh sqrt square tan tanh trunc "
    "isfinite isinf isnan signbit nan_to_num"
).split()
BINARY = (
    "add sub mul div atan2 copysign floor_divide fmax fmin fmod heaviside hypot logaddexp logaddexp2 maximum minimum "
    "nextafter pow remainder true_divide xlogy eq ne lt le gt ge logical_and logical_or logical_xor"
).split()
INTEGERS = "add sub mul floor_divide remainder fmod bitwise_and bitwise_or bitwise_xor gcd lcm eq lt maximum".split()


@part("elements")
def unary():
    each(UNARY, lambda name: (getattr(torch, name)(noise(40)), getattr(torch, name)(torch.rand(40).to(DEVICE))))
    halves = ("exp", "sqrt", "rsqrt", "sigmoid", "tanh", "sin", "log")
    each(halves, lambda name: getattr(torch, name)(torch.rand(40).to(DEVICE, torch.float16)))


@part("elements")
def unary_gradients():
    names = (
        "acos asin atan cos cosh digamma erf erfinv exp expm1 lgamma log log1p log2 reciprocal rsqrt sin sinc sqrt "
        "tan tanh"
    )
    each(
        names.split(),
        lambda name: grads(getattr(torch, name)((torch.rand(40) * 0.9 + 0.05).to(DEVICE).requires_grad_())),
    )


@part("elements")
def binary():
    each(BINARY, lambda name: getattr(torch, name)(noise(5, 8), noise(8)))
    each(BINARY, lambda name: getattr(torch, name)(noise(5, 8).abs(), noise(5, 1).abs()))
    grads(torch.lerp(noise(9, grad=True), noise(9), 0.3), torch.addcmul(noise(9), noise(9, grad=True), noise(9)),
          noise(9, grad=True).clamp(-1, 1))  # fmt: skip
    torch.addcdiv(noise(9), noise(9), noise(9)), noise(9) ** 2, 2 ** noise(9), 1 / noise(9), noise(9) // 0.3
    noise(9) % 0.7, noise(9) * torch.arange(9, device=DEVICE)


@part("elements")
def integers():
    for kind in (torch.int64, torch.int32):
        x, y = torch.randint(1, 50, (40,)).to(DEVICE, kind), torch.randint(1, 9, (40,)).to(DEVICE, kind)
        each(INTEGERS, lambda name: getattr(torch, name)(x, y))
        ~x, x << 2, x >> 1, -x, x.abs(), x.clamp(3, 20), x.sum(), x.max(), x.float(), x.bool(), x / y, x // 3, x**2
        torch.div(x, y, rounding_mode="trunc")


@part("elements")
def made():
    torch.arange(0, 9, 2, device=DEVICE), torch.linspace(0, 1, 7, device=DEVICE)
    torch.logspace(0, 1, 5, device=DEVICE), torch.eye(4, device=DEVICE)
    torch.full((3,), 2.5, device=DEVICE), torch.ones(3, device=DEVICE, dtype=torch.int64)
    torch.zeros_like(noise(3)), torch.tril_indices(4, 4, device=DEVICE)
    torch.hann_window(8, device=DEVICE), torch.hamming_window(8, device=DEVICE)
    torch.tensor([1, 2], device=DEVICE), torch.as_tensor([1.0], device=DEVICE)


@part("elements")
def converted():
    x = noise(4, 6)
    for kind in (torch.float16, torch.int32, torch.int64, torch.bool):
        x.to(kind).to(torch.float32)
    x.t().contiguous(), x[:, ::2].contiguous(), x.expand(3, 4, 6).clone()
    x.view(2, 2, 6).permute(2, 0, 1).reshape(-1), x.numpy(force=True), x.tolist(), x[0, 0].item()
    y = noise(2, 3, 4, 4).to(memory_format=torch.channels_last)
    y.contiguous(), y + 1.0, y.permute(0, 2, 3, 1).flatten(1), torch.empty_like(y).copy_(noise(2, 3, 4, 4))


# Types that a build may have left out (graph.py): casts of such a type end the program, so each is a group of its own.
@part("bytes")
def bytes_():
    x = torch.randint(256, (2, 3, 4), dtype=torch.uint8).to(DEVICE)
    x.float() / 255, x.permute(2, 0, 1).contiguous(), (noise(5) * 9).abs().to(torch.uint8)


@part("doubles")
def doubles():
    x = noise(5, dtype=torch.float64)
    x.float(), x + x, x.sum(), x @ x


@part("complexes")
def complexes():
    x = torch.complex(noise(4), noise(4))
    x * x, x.abs(), torch.view_as_real(x)


@part("random")
def drawn():
    torch.manual_seed(5)
    n = 20000
    uniform, normal = torch.rand(n, device=DEVICE).cpu(), torch.randn(n, device=DEVICE).cpu()
    assert 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.02 and abs(uniform.var() - 1 / 12) < 0.01
    assert abs(normal.mean()) < 0.05 and abs(normal.var() - 1) < 0.05 and normal.unique().numel() > n // 2
    whole = torch.randint(3, 9, (n,), device=DEVICE).cpu()
    assert whole.min() == 3 and whole.max() == 8 and whole.bincount(minlength=9)[3:].min() > n / 6 * 0.9
    assert abs(torch.bernoulli(torch.full((n,), 0.3, device=DEVICE)).mean().item() - 0.3) < 0.02
    dropped = F.dropout(torch.ones(n, device=DEVICE), 0.25).cpu()
    assert set(dropped.unique().tolist()) == {0.0, torch.tensor(1 / 0.75).item()} and abs(dropped.mean() - 1) < 0.02


@part("random")
def drawn_otherwise():
    n = 20000
    assert abs(torch.empty(n, device=DEVICE).exponential_(2.0).mean().item() - 0.5) < 0.02
    assert abs(torch.empty(n, device=DEVICE).geometric_(0.5).mean().item() - 2) < 0.1
    assert abs(torch.empty(n, device=DEVICE).log_normal_(0.0, 0.5).log().std().item() - 0.5) < 0.02
    assert abs(torch.empty(n, device=DEVICE).cauchy_().median().item()) < 0.05
    assert abs(torch.normal(noise(n) * 0 + 3, 0.5).mean().item() - 3) < 0.05
    nn.init.trunc_normal_(torch.empty(50, 50, device=DEVICE))
    nn.init.kaiming_uniform_(torch.empty(9, 9, device=DEVICE))
    nn.init.orthogonal_(torch.empty(4, 4)), F.gumbel_softmax(noise(4, 5)), F.rrelu(noise(9), training=True)


@part("random")
def permuted():
    for n in (5, 3000):
        assert torch.equal(torch.randperm(n, device=DEVICE).cpu().sort()[0], torch.arange(n))


@part("random")
def chosen():
    weights = torch.tensor([0.0, 1.0, 3.0, 0.0], device=DEVICE)
    picked = weights.multinomial(4000, replacement=True).cpu().bincount(minlength=4)
    assert picked[0] == 0 and picked[3] == 0 and abs(picked[2].item() / 4000 - 0.75) < 0.04
    assert sorted(weights.multinomial(2).tolist()) == [1, 2]
    torch.distributions.Categorical(logits=noise(4)).sample((3,))
    torch.distributions.Normal(noise(3), noise(3).abs()).rsample()


@part("random")
def repeated():
    generator = torch.Generator(DEVICE)
    first = torch.rand(9, generator=generator.manual_seed(7), device=DEVICE)
    assert torch.equal(first, torch.rand(9, generator=generator.manual_seed(7), device=DEVICE))


@part("algebra")
def norms():
    x = noise(4, 5, grad=True)
    grads(torch.linalg.norm(x), torch.linalg.vector_norm(x, 1), torch.linalg.vector_norm(x, float("inf")),
          torch.linalg.matrix_norm(x, 1), torch.linalg.cross(noise(4, 3, grad=True), noise(4, 3)))  # fmt: skip
    torch.linalg.vander(noise(4)), torch.trace(noise(4, 4)), torch.block_diag(noise(2, 2), noise(3, 3))


for _name, _call in (
    ("inv", lambda: torch.linalg.inv(noise(3, 3))), ("solve", lambda: torch.linalg.solve(noise(3, 3), noise(3, 2))),
    ("det", lambda: torch.linalg.det(noise(3, 3))), ("qr", lambda: torch.linalg.qr(noise(4, 3))),
    ("svd", lambda: torch.linalg.svd(noise(4, 3))), ("eigh", lambda: torch.linalg.eigh(torch.eye(3, device=DEVICE))),
    ("cholesky", lambda: torch.linalg.cholesky(torch.eye(3, device=DEVICE))),
    ("lstsq", lambda: torch.linalg.lstsq(noise(4, 3), noise(4, 1))),
    ("matrix_exp", lambda: torch.matrix_exp(noise(3, 3))),
    ("triangular", lambda: torch.linalg.solve_triangular(noise(3, 3).triu(), noise(3, 2), upper=True)),
    ("fft", lambda: torch.fft.rfft(noise(8))),
    ("stft", lambda: torch.stft(noise(64), 16, return_complex=True, window=torch.ones(16, device=DEVICE))),
    ("sparse", lambda: noise(4, 4).relu().to_sparse() @ noise(4, 2)),
    ("sparse_sum", lambda: (noise(4, 4).relu().to_sparse() + noise(4, 4).relu().to_sparse()).coalesce().to_dense()),
    ("nested", lambda: torch.nested.nested_tensor([noise(2, 3), noise(4, 3)]).to_padded_tensor(0.0)),
    ("fake_quantize", lambda: torch.fake_quantize_per_tensor_affine(noise(9), 0.1, 0, -128, 127)),
):  # fmt: skip
    _call.__name__ = _name
    part("algebra")(_call)


def main():
    for group in [a for a in sys.argv[1:] if not a.startswith("--")] or GROUPS:
        for function in GROUPS[group]:
            torch.manual_seed(4)
            try:
                function()
                print(f"DONE {function.__name__}", flush=True)
            except Exception as error:
                why = (str(error) or "an assertion").splitlines()[0]
                print(f"FAILED {function.__name__}: {type(error).__name__}: {why}"[:300], flush=True)


if __name__ == "__main__":
    main()
