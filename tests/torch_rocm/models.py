"""Networks for tests/torch_rocm: torchvision's own where it has them, with few classes, and three small ones of other
kinds.

make(name) gives a model and a function that makes its inputs and targets; both are the same in every process."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class UNet(nn.Module):
    """Two levels down by strided convolution, up by transposed convolution and by interpolation, with skips."""

    def __init__(self, width=8, classes=4):
        super().__init__()
        w = width
        self.first = self.block(3, w)
        self.down = nn.ModuleList([nn.Conv2d(w, 2 * w, 2, 2), nn.Conv2d(2 * w, 4 * w, 3, 2, 1)])
        self.deep = nn.ModuleList([self.block(2 * w, 2 * w), self.block(4 * w, 4 * w)])
        self.up = nn.ConvTranspose2d(4 * w, 2 * w, 2, 2)
        self.narrow = nn.Conv2d(2 * w, w, 1)
        self.join = nn.ModuleList([self.block(4 * w, 2 * w), self.block(2 * w, w)])
        self.last = nn.Conv2d(w, classes, 1)

    @staticmethod
    def block(n_in, n_out):
        return nn.Sequential(
            nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), nn.BatchNorm2d(n_out), nn.ReLU(),
            nn.Conv2d(n_out, n_out, 3, padding=2, dilation=2), nn.GroupNorm(2, n_out), nn.SiLU(),
        )  # fmt: skip

    def forward(self, x):
        a = self.first(x)
        b = self.deep[0](self.down[0](a))
        c = self.deep[1](self.down[1](b))
        b = self.join[0](torch.cat([b, self.up(c)], 1))
        up = F.interpolate(self.narrow(b), scale_factor=2, mode="bilinear", align_corners=False)
        return self.last(self.join[1](torch.cat([a, up], 1)))


class Transformer(nn.Module):
    """A vision transformer: patches by a convolution, places by an embedding, two layers of PyTorch's own encoder.

    GELU is behind the encoder: inside it, PyTorch's fast path for inference has another GELU on cards (tanh) than on
    the CPU, 4e-5 apart."""

    def __init__(self, width=32, classes=10):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 8, 8)
        self.place = nn.Embedding(16, width)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, activation="relu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.last = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, classes))

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = x + self.place(torch.arange(x.shape[1], device=x.device))
        return self.last(self.encoder(x).mean(1))


class Recurrent(nn.Module):
    """LSTM and GRU, which PyTorch gives to MIOpen as a whole."""

    def __init__(self, kind, width=16, classes=10):
        super().__init__()
        self.inner = getattr(nn, kind)(8, width, num_layers=2, batch_first=True, bidirectional=True)
        self.last = nn.Linear(2 * width, classes)

    def forward(self, x):
        return self.last(self.inner(x)[0][:, -1])


def images(size, classes):
    return lambda: (torch.randn(2, 3, size, size), torch.randint(classes, (2,)))


def make(name):
    torch.manual_seed(1)
    if name == "conv2d":  # the smallest program that owners say crashes
        layer = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        return layer, lambda: (torch.randn(1, 3, 32, 32), torch.randint(16, (1, 32, 32)))
    if name == "unet":
        return UNet(), lambda: (torch.randn(2, 3, 32, 32), torch.randint(4, (2, 32, 32)))
    if name == "transformer":
        return Transformer(), images(32, 10)
    if name in ("lstm", "gru"):
        return Recurrent(name.upper()), lambda: (torch.randn(2, 5, 8), torch.randint(10, (2,)))
    # torchvision's own library is for another PyTorch; only its Python is used, which asks for one operator of it.
    torch.library.define("torchvision::nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import torchvision.models as tv

    if name == "vgg11_bn":  # its three wide Linear layers, 120 million weights, are no work for a simulated card
        model = tv.vgg11_bn(num_classes=10, dropout=0.0)
        model.avgpool, model.classifier = nn.AdaptiveAvgPool2d(1), nn.Linear(512, 10)
        return model, images(64, 10)
    if name == "mobilenet_v2":
        return tv.mobilenet_v2(num_classes=10, dropout=0.0), images(64, 10)
    if name == "densenet":
        return tv.DenseNet(12, (3, 3, 3), 16, num_classes=10), images(64, 10)
    return getattr(tv, name)(num_classes=10), images(64, 10)
