"""Networks of torchvision, transformers and timm, as modules of PyTorch with random weights.

No schedule of Texloom was made for one of them but ResNet-50 and MobileNetV2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Made = tuple[nn.Module, tuple[int, ...]]
"""A network, and the shape of its only input."""


class OneInput(nn.Module):
    """A model of transformers as a function of one tensor."""

    def __init__(self, model: nn.Module, name: str) -> None:
        super().__init__()
        self.model, self.name = model, name

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state."""
        return self.model(**{self.name: x}).last_hidden_state


class UNet(nn.Module):
    """A U-Net of three levels, with group normalization, SiLU and bilinear upsampling."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList([_block(3, 32), _block(32, 64), _block(64, 128)])
        self.middle = _block(128, 256)
        self.up = nn.ModuleList([_block(384, 128), _block(192, 64), _block(96, 32)])
        self.last = nn.Conv2d(32, 3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return an image as large as the given one."""
        kept = []
        for each in self.down:
            x = each(x)
            kept.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.middle(x)
        for each in self.up:
            larger = nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
            x = each(torch.cat([larger, kept.pop()], 1))
        return self.last(x)


def _block(inputs: int, outputs: int) -> nn.Module:
    layers: list[nn.Module] = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.GroupNorm(8, outputs), nn.SiLU()]
    return nn.Sequential(*layers)


def _torchvision(name: str) -> Made:
    import torchvision

    return getattr(torchvision.models, name)(weights=None), (1, 3, 224, 224)


def _timm(name: str) -> Made:
    import timm

    return timm.create_model(name, pretrained=False), (1, 3, 224, 224)


def _transformers(
    kind: str, shape: tuple[int, ...], name: str = "inputs_embeds", **config: Any
) -> Made:
    import transformers

    made = getattr(transformers, f"{kind}Config")(**config)
    return OneInput(getattr(transformers, f"{kind}Model")(made), name), shape


NETWORKS: dict[str, Callable[[], Made]] = {
    name: lambda name=name: _torchvision(name)
    for name in (
        "vit_b_16",
        "convnext_tiny",
        "efficientnet_b0",
        "regnet_y_400mf",
        "resnet50",
        "mobilenet_v2",
        "mobilenet_v3_large",
        "densenet121",
        "efficientnet_v2_s",
        "googlenet",
        "resnext50_32x4d",
        "shufflenet_v2_x1_0",
        "swin_t",
    )
}
NETWORKS |= {
    "unet": lambda: (UNet(), (1, 3, 256, 256)),
    "bert_mini": lambda: _transformers(
        "Bert",
        (1, 128, 384),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        attn_implementation="eager",
    ),
    "distilbert": lambda: _transformers("DistilBert", (1, 128, 768), attn_implementation="sdpa"),
    "gpt2": lambda: _transformers(
        "GPT2", (1, 64, 768), n_layer=6, use_cache=False, attn_implementation="sdpa"
    ),
    "llama": lambda: _transformers(
        "Llama",
        (1, 128, 512),
        hidden_size=512,
        intermediate_size=1376,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=4,
        vocab_size=100,
        use_cache=False,
        attn_implementation="sdpa",
    ),
    "segformer_b0": lambda: _transformers("Segformer", (1, 3, 256, 256), "pixel_values"),
    "mixer": lambda: _timm("mixer_s16_224"),
}


LIBRARIES = {"torchvision": _torchvision, "timm": _timm}


def network(name: str) -> Made:
    """Return a network for inference, with seeded weights none of which are all zero.

    Parameters
    ----------
    name
        One of ``NETWORKS``, or ``torchvision:NAME`` or ``timm:NAME``: a classifier of images of
        224x224 pixels.
    """
    torch.manual_seed(7)
    library, _, model = name.partition(":")
    made, shape = LIBRARIES[library](model) if model else NETWORKS[name]()
    for each in made.parameters():
        if not each.any():
            nn.init.normal_(each, 0, 0.02)
    for each in made.modules():
        if isinstance(each, nn.BatchNorm2d):
            each.running_mean.normal_(0, 0.1)
            each.running_var.uniform_(0.5, 1.5)
    return made.eval(), shape
