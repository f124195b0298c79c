"""sequence_rnn_check.py: torch.nn.LSTM, GRU and RNN in double precision from the weights, inputs and gradients that
`sequence` gave to miopenRNN*, and where the parameters must lie."""
import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

RELU, TANH, LSTM, GRU = range(4)
GATES = {RELU: 1, TANH: 1, LSTM: 4, GRU: 3}
# MIOpen's gates in the order of PyTorch's.
ORDER = {RELU: (0,), TANH: (0,), LSTM: (0, 1, 3, 2), GRU: (1, 0, 2)}
STEPS, PADDED_STEPS, PACKED_TENSOR, STEP_TENSOR, BATCH_TENSOR = range(5)
PACKED = (STEPS, PACKED_TENSOR)  # forms without gaps
MARKER = 0.5  # what sequence tensors have where there is no sequence
RESERVE = {RELU: 2, TANH: 2, LSTM: 7, GRU: 8}  # planes of a layer
TOLERANCE = {"f32": 3e-5, "f16": 5e-3}


class Net:
    """What a record says of its network, and the places of its parameters by MIOpen's documents."""

    def __init__(self, record):
        self.mode, self.input, self.hidden, self.layers, self.directions, bias, skip, self.form = (
            int(record[key]) for key in ("mode", "input", "hidden", "layers", "directions", "bias", "skip", "form"))
        self.bias, self.skip = bool(bias), bool(skip)
        self.lengths = [int(word) for word in record["lengths"].split(",")]
        self.kind = record["x.type"]

    def width(self, layer):
        """Columns of the input matrices of a layer."""
        if layer:
            return self.directions * self.hidden
        return 0 if self.skip else self.input

    def parts(self):
        """(layer with direction, gate id, is a bias) -> (place, elements), and the number of all elements."""
        places, at, gates, hidden = {}, 0, GATES[self.mode], self.hidden
        for layer in range(self.layers):
            for second, columns in ((0, self.width(layer)), (1, hidden)):
                for direction in range(self.directions):
                    for gate in range(gates):
                        where = layer * self.directions + direction, second * gates + gate, False
                        places[where] = (at, hidden * columns)
                        at += hidden * columns
        for layer in range(self.layers if self.bias else 0):
            for second in (0, 1):
                for direction in range(self.directions):
                    for gate in range(gates):
                        places[layer * self.directions + direction, second * gates + gate, True] = (at, hidden)
                        at += hidden
        return places, at


def module(net, w):
    """PyTorch's network with the weights; a matrix of ones on its diagonal where there is none."""
    kind = {RELU: torch.nn.RNN, TANH: torch.nn.RNN, LSTM: torch.nn.LSTM, GRU: torch.nn.GRU}[net.mode]
    extra = {"nonlinearity": ("relu", "tanh")[net.mode]} if net.mode < LSTM else {}
    made = kind(net.input, net.hidden, net.layers, bias=net.bias, bidirectional=net.directions == 2, **extra).double()
    places, _ = net.parts()
    gates = GATES[net.mode]
    for layer in range(net.layers * net.directions):
        tail = f"l{layer // net.directions}" + ("_reverse" if layer % net.directions else "")
        for second, name in ((0, "ih"), (1, "hh")):
            for is_bias in (False, True) if net.bias else (False,):
                parameter = getattr(made, f"{'bias' if is_bias else 'weight'}_{name}_{tail}")
                chunks = list(parameter.data.chunk(gates, 0))
                for gate, to in enumerate(ORDER[net.mode]):
                    at, n = places[layer, second * gates + gate, is_bias]
                    if n:
                        chunks[to].copy_(w[at:at + n].view(chunks[to].shape))
                    else:
                        chunks[to].copy_(torch.eye(net.hidden, dtype=torch.float64))
    return made


def gradient(net, made):
    """The gradients of a module's parameters as MIOpen has them, flat."""
    places, total = net.parts()
    flat, gates = torch.zeros(total, dtype=torch.float64), GATES[net.mode]
    for (layer, part, is_bias), (at, n) in places.items():
        tail = f"l{layer // net.directions}" + ("_reverse" if layer % net.directions else "")
        name = f"{'bias' if is_bias else 'weight'}_{'hh' if part >= gates else 'ih'}_{tail}"
        chunk = getattr(made, name).grad.chunk(gates, 0)[ORDER[net.mode][part % gates]]
        if n:
            flat[at:at + n] = chunk.reshape(-1)
    return flat


def sort(net):
    """The sequences, longest first, and back."""
    order = sorted(range(len(net.lengths)), key=lambda i: -net.lengths[i])
    return torch.tensor(order), torch.tensor([order.index(i) for i in range(len(order))])


def spread(net, rows):
    """Rows of a tensor in its form as [batch, steps, width]; zeros in the gaps."""
    batch, steps = len(net.lengths), max(net.lengths)
    if net.form == BATCH_TENSOR:
        return rows.view(batch, steps, -1)
    if net.form not in PACKED:
        return rows.view(steps, batch, -1).transpose(0, 1)
    wide, at = torch.zeros(batch, steps, rows.shape[-1], dtype=rows.dtype), 0
    order = sort(net)[0].tolist()
    for t in range(steps):
        for i in order:
            if net.lengths[i] > t:
                wide[i, t] = rows[at]
                at += 1
    return wide


def layout(net, record):
    """What the library says about places and sizes, as (name, error): 0 or infinity."""
    places, total = net.parts()
    element = 4 if net.kind == "f32" else 2
    wrong = [] if int(record["weights"]) == total * element else [("weights", float("inf"))]
    rows = sum(net.lengths) if net.form in (STEPS, PADDED_STEPS) else max(net.lengths) * len(net.lengths)
    reserved = RESERVE[net.mode] * rows * net.layers * net.directions * net.hidden * 4
    if net.kind == "f32" and int(record["reserve"]) != reserved:
        wrong.append(("reserve", float("inf")))
    for key, is_bias in (("matrix", False), ("bias_at", True)):
        for word in record.all.get(key, []):
            layer, part, size, offset = (int(number) for number in word.split(","))
            at, n = places[layer, part, is_bias]
            if size != n * element or (n and offset != at):
                wrong.append((f"{key}:{layer},{part}", float("inf")))
    return wrong


def check(record, read):
    """[(what, error in units of what is allowed)]; read(NAME, KEY) gives a dump in the shape of KEY, flat without."""
    net = Net(record)
    results = layout(net, record) or [("layout", 0.0)]
    made = module(net, read("w", "w").flatten())
    lstm = net.mode == LSTM
    order, back = sort(net)
    lengths = torch.tensor(net.lengths)
    present = torch.arange(max(net.lengths))[None, :] < lengths[:, None]
    x, hx = read("x", "x")[0], read("hx", "state")
    wide = spread(net, x)[order].clone().requires_grad_()
    packed = pack_padded_sequence(wide, lengths[order], batch_first=True)
    h = hx[:, order].clone().requires_grad_()
    c = read("cx", "state")[:, order].clone().requires_grad_() if lstm else None
    out, final = made(PackedSequence(packed.data, packed.batch_sizes), (h, c) if lstm else h)
    hn, cn = final if lstm else (final, None)
    padded = torch.nn.utils.rnn.pad_packed_sequence(out, batch_first=True)[0]
    tolerance = TOLERANCE[net.kind]

    def add(name, got, want):
        want = want.detach()
        error = (got - want).abs().max() / (tolerance * (want.abs().max() + 1e-2))
        results.append((name, float("inf") if torch.isnan(got).any() else float(error)))

    def rows(name, key, want):
        got = spread(net, read(name, key)[0])
        add(name, got[present], want[back][present])
        if net.form == PADDED_STEPS:  # left as they were
            filled = not bool(torch.isnan(got[~present]).all())
        else:
            filled = net.form not in PACKED and bool((got[~present] != MARKER).any())
        if filled:
            results.append((name + "-gaps", float("inf")))

    rows("y", "y", padded)
    add("hy", read("hy", "state"), hn[:, back])
    if lstm:
        add("cy", read("cy", "state"), cn[:, back])
    if record["pass"] == "inference":
        return results
    total = (padded * spread(net, read("dy", "y")[0])[order] * present[order][:, :, None]).sum()
    total = total + (hn * read("dhy", "state")[:, order]).sum()
    if lstm:
        total = total + (cn * read("dcy", "state")[:, order]).sum()
    total.backward()
    rows("dx", "x", wide.grad)
    add("dhx", read("dhx", "state"), h.grad[:, back])
    if lstm:
        add("dcx", read("dcx", "state"), c.grad[:, back])
    add("dw", read("dw", "w").flatten(), gradient(net, made))
    return results


def check_parameters(record, read):
    """Layout; what is set lies where it was said, and is got again."""
    net = Net(record)
    results = layout(net, record) or [("layout", 0.0)]
    places, total = net.parts()
    layer, part = net.layers * net.directions - 1, GATES[net.mode] - 1
    if net.skip and net.layers == 1:
        part += GATES[net.mode]
    (at, n), w, given = places[layer, part, False], read("w", None), read("in", None)
    results.append(("all", 0.0 if record["all"] == expected_all(net) else float("inf")))
    want = torch.zeros(total, dtype=torch.float64)
    if n:
        want[at:at + n] = given
        results.append(("get", 0.0 if torch.equal(read("out", None), want[at:at + n]) else float("inf")))
    if net.bias:
        at, n = places[layer, part, True]
        want[at:at + n] = read("b_in", None)
        results.append(("bias", 0.0 if torch.equal(read("b_out", None), read("b_in", None)) else float("inf")))
    results.append(("set", 0.0 if torch.equal(w, want) else float("inf")))
    return results


def expected_all(net):
    lines = (net.width(0) + ((net.layers - 1) * (net.directions + 1) + 1) * net.hidden
             + (2 * net.layers if net.bias else 0))
    return f"{lines},{net.directions * net.hidden * GATES[net.mode]}"
