"""More networks for tests/torch_rocm, of libraries that nobody here wrote: torchvision's and those of transformers.

make(name) is as models.make. They are as their libraries have them, with few classes; the larger ones are made small by
their own options (the numbers of layers, heads and channels), and nothing is dropped at random in training, so that
gradients can be compared."""
import torch
import torch.nn as nn

VOCABULARY = 48
TORCHVISION = (
    "alexnet squeezenet1_1 shufflenet_v2_x0_5 mnasnet0_5 googlenet mobilenet_v3_small efficientnet_b0 regnet_y_400mf "
    "resnext convnext vit swin r3d lraspp deeplabv3 fpn"
).split()
TRANSFORMERS = "bert gpt2 llama t5 hf_vit segformer wav2vec2 mamba".split()


class Picked(nn.Module):
    """What of a network's several results is looked at."""

    def __init__(self, inner, pick):
        super().__init__()
        self.inner, self.pick = inner, pick

    def forward(self, x):
        return self.pick(self.inner(x))


class Features(nn.Module):
    """The backbone of torchvision's Faster R-CNN with a feature pyramid; a layer on what it makes of an image."""

    def __init__(self, backbone):
        super().__init__()
        self.backbone, self.last = backbone, nn.Linear(backbone.out_channels, 10)

    def forward(self, x):
        return self.last(sum(level.mean((2, 3)) for level in self.backbone(x).values()))


class Both(nn.Module):
    """An encoder and a decoder for the same words."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(input_ids=x, decoder_input_ids=x).logits.transpose(1, 2)


def images(size, classes=10):
    return lambda: (torch.randn(2, 3, size, size), torch.randint(classes, (2,)))


def words():
    return torch.randint(VOCABULARY, (2, 7)), torch.randint(VOCABULARY, (2, 7))


def pixels(size):
    return lambda: (torch.randn(2, 3, size, size), torch.randint(10, (2, size, size)))


def of_torchvision(name):
    import torchvision.models as tv
    from torchvision.models import convnext, detection, segmentation

    if name == "alexnet":  # its three wide Linear layers, 58 million weights, are no work for a simulated card
        model = tv.alexnet(num_classes=10)
        model.avgpool, model.classifier = nn.AdaptiveAvgPool2d(1), nn.Linear(256, 10)
        return model, images(64)
    if name == "googlenet":
        return tv.googlenet(num_classes=10, aux_logits=False, init_weights=False), images(64)
    if name == "resnext":
        return tv.ResNet(tv.resnet.Bottleneck, [1, 1, 1, 1], num_classes=10, groups=8, width_per_group=4), images(64)
    if name == "convnext":
        layers = [
            convnext.CNBlockConfig(16, 32, 1), convnext.CNBlockConfig(32, 64, 2), convnext.CNBlockConfig(64, None, 1)
        ]  # fmt: skip
        return tv.ConvNeXt(layers, num_classes=10), images(32)
    if name == "vit":
        return tv.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10), images(32)
    if name == "swin":
        return tv.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], num_classes=10), images(64)
    if name == "r3d":
        return tv.video.r3d_18(num_classes=10), lambda: (torch.randn(2, 3, 4, 32, 32), torch.randint(10, (2,)))
    if name == "lraspp":
        model = segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=10)
        return Picked(model, lambda found: found["out"]), pixels(64)
    if name == "deeplabv3":
        model = segmentation.deeplabv3_mobilenet_v3_large(weights_backbone=None, num_classes=10)
        return Picked(model, lambda found: found["out"]), pixels(64)
    if name == "fpn":
        make = detection.backbone_utils.mobilenet_backbone
        backbone = make("mobilenet_v3_large", weights=None, fpn=True, trainable_layers=6, norm_layer=nn.BatchNorm2d)
        return Features(backbone), images(64)
    return getattr(tv, name)(num_classes=10), images(64)


def of_transformers(name):
    import transformers as tf

    small = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64}
    heads = {"num_attention_heads": 4}
    of_words = Picked, (lambda found: found.logits.transpose(1, 2))
    if name == "bert":
        config = tf.BertConfig(**small, **heads, max_position_embeddings=16)
        return of_words[0](tf.BertForMaskedLM(config), of_words[1]), words
    if name == "gpt2":
        config = tf.GPT2Config(vocab_size=VOCABULARY, n_positions=16, n_embd=32, n_layer=2, n_head=4)
        return of_words[0](tf.GPT2LMHeadModel(config), of_words[1]), words
    if name == "llama":
        config = tf.LlamaConfig(**small, **heads, num_key_value_heads=2, max_position_embeddings=16)
        return of_words[0](tf.LlamaForCausalLM(config), of_words[1]), words
    if name == "mamba":
        config = tf.MambaConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, state_size=4)
        return of_words[0](tf.MambaForCausalLM(config), of_words[1]), words
    if name == "t5":
        config = tf.T5Config(vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
                             decoder_start_token_id=0)  # fmt: skip
        return Both(tf.T5ForConditionalGeneration(config)), words
    if name == "hf_vit":
        config = tf.ViTConfig(**{k: v for k, v in small.items() if k != "vocab_size"}, **heads, image_size=32,
                              patch_size=8, num_labels=10)  # fmt: skip
        return Picked(tf.ViTForImageClassification(config), lambda found: found.logits), images(32)
    if name == "segformer":
        config = tf.SegformerConfig(hidden_sizes=[8, 16, 24, 32], depths=[1] * 4, decoder_hidden_size=16,
                                    num_attention_heads=[1, 2, 3, 4], num_labels=10)  # fmt: skip
        return Picked(tf.SegformerForSemanticSegmentation(config), lambda found: found.logits), lambda: (
            torch.randn(2, 3, 64, 64), torch.randint(10, (2, 16, 16)))  # fmt: skip
    config = tf.Wav2Vec2Config(**small, **heads, conv_dim=[16] * 3, conv_stride=[5, 2, 2], conv_kernel=[10, 3, 3],
                               num_feat_extract_layers=3, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4,
                               mask_time_prob=0.0, layerdrop=0.0)  # fmt: skip
    n_frames = 19
    return Picked(tf.Wav2Vec2ForCTC(config), lambda found: found.logits.transpose(1, 2)), lambda: (
        torch.randn(2, 400), torch.randint(VOCABULARY, (2, n_frames)))  # fmt: skip


def make(name):
    torch.manual_seed(1)
    if not hasattr(torch.ops.torchvision, "nms"):  # see models.py; transformers asks for torchvision, too
        torch.library.define("torchvision::nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    model, data = (of_torchvision if name in TORCHVISION else of_transformers)(name)
    for parameter in model.parameters():
        if parameter.dim() > 1 and not parameter.any():  # a last layer that begins with zeros would hide all before it
            nn.init.normal_(parameter, std=0.1)
    for module in model.modules():
        if type(module).__name__ in ("Dropout", "StochasticDepth", "SegformerDropPath"):
            module.p = module.drop_prob = 0.0
        # Where it is a number, not a module.
        for option in ("dropout", "attention_dropout", "dropout_prob", "p_dropout"):
            if isinstance(getattr(module, option, None), float):
                setattr(module, option, 0.0)
    return model, data
