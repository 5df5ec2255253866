"""The workloads of bench_compare in PyTorch: peer.py WORKLOAD f32|f32_bf16|bf16 prints one JSON line.

The networks are those of workloads.h, with AdamW and random data; f32_bf16 rounds what products of
f32 multiply to bf16, and bf16 is PyTorch's automatic mixed precision.
"""
import json
import math
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

from peer_attention import Attention, fuses_faster
from peer_products import set_f32_products

SECONDS = 6


class Block(nn.Module):
    def __init__(self, width, heads, longest=0, **norm):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, **norm)
        self.attention = Attention(width, heads, longest)
        self.norm2 = nn.LayerNorm(width, **norm)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, vocabulary, longest):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, heads, longest) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.tokens.weight.t()
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Times(nn.Module):
    """Times [N] by sinusoids, cosines first, through two products: [N, features]."""

    def __init__(self, sinusoids, features):
        super().__init__()
        count = sinusoids // 2
        frequencies = torch.exp(-math.log(10000) / count * torch.arange(count))
        self.register_buffer("frequencies", frequencies, persistent=False)
        self.body = nn.Sequential(nn.Linear(sinusoids, features), nn.SiLU(),
                                  nn.Linear(features, features))

    def forward(self, t):
        angles = t[:, None] * self.frequencies
        return self.body(torch.cat([angles.cos(), angles.sin()], 1))


def zero_linear(inputs, outputs):
    linear = nn.Linear(inputs, outputs)
    nn.init.zeros_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


def modulate(x, shift, scale):
    return x * (1 + scale) + shift


class DitBlock(Block):
    def __init__(self, width, heads):
        super().__init__(width, heads, elementwise_affine=False, eps=1e-6)
        self.modulation = zero_linear(width, 6 * width)

    def forward(self, x, c):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(c)[:, None].chunk(6, 2)
        x = x + gate1 * self.attention(modulate(self.norm1(x), shift1, scale1))
        inner = self.up(modulate(self.norm2(x), shift2, scale2))
        return x + gate2 * self.down(F.gelu(inner, approximate="tanh"))


class Dit(nn.Module):
    """Over latents [4, 32, 32] in patches of 2 x 2, of 1000 classes and one for none."""

    def __init__(self, width, heads):
        super().__init__()
        self.patches = nn.Conv2d(4, width, 2, 2)
        # Which numbers these are makes no difference to time.
        self.positions = nn.Parameter(torch.randn(1, 256, width), requires_grad=False)
        self.times = Times(256, width)
        self.classes = nn.Embedding(1001, width)
        self.blocks = nn.ModuleList(DitBlock(width, heads) for _ in range(12))
        self.norm = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.modulation = zero_linear(width, 2 * width)
        self.out = zero_linear(width, 16)

    def forward(self, x, t, labels, target):
        c = F.silu(self.times(t) + self.classes(labels))
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        for block in self.blocks:
            x = block(x, c)
        shift, scale = self.modulation(c)[:, None].chunk(2, 2)
        x = self.out(modulate(self.norm(x), shift, scale))
        x = x.view(-1, 16, 16, 2, 2, 4).permute(0, 5, 1, 3, 2, 4).reshape(-1, 4, 32, 32)
        return F.mse_loss(x.float(), target)


class GroupNorm(nn.GroupNorm):
    def forward(self, x):
        # Old versions refuse bf16 beside f32 weights.
        if torch.__version__.startswith("1."):
            return super().forward(x.float()).to(x.dtype)
        return super().forward(x)


def conv3(before, after, stride=1):
    return nn.Conv2d(before, after, 3, stride, 1)


class ResidualBlock(nn.Module):
    def __init__(self, before, after, times):
        super().__init__()
        self.norm1 = GroupNorm(32, before)
        self.conv1 = conv3(before, after)
        self.time = nn.Linear(times, after)
        self.norm2 = GroupNorm(32, after)
        self.conv2 = conv3(after, after)
        self.shortcut = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x, c):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(c)[:, :, None, None]
        return self.shortcut(x) + self.conv2(F.silu(self.norm2(h)))


class ImageAttention(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = GroupNorm(32, channels)
        self.attention = Attention(channels, 4)

    def forward(self, x, c):
        tokens = self.norm(x).flatten(2).transpose(1, 2)
        return x + self.attention(tokens).transpose(1, 2).reshape(x.shape)


class Step(nn.Module):
    """One step down or up: a residual block, and attention where there is any."""

    def __init__(self, before, after, times, attends):
        super().__init__()
        self.block = ResidualBlock(before, after, times)
        self.attention = ImageAttention(after) if attends else None

    def forward(self, x, c):
        x = self.block(x, c)
        return self.attention(x, c) if self.attention else x


class Resampler(nn.Module):
    def __init__(self, channels, up):
        super().__init__()
        self.up = up
        self.conv = conv3(channels, channels, 1 if up else 2)

    def forward(self, x, c):
        return self.conv(F.interpolate(x, scale_factor=2.0) if self.up else x)


class UNet(nn.Module):
    """Over images [3, 32, 32]; two steps in each stage on the way down, three on the way up."""

    def __init__(self, stages=(64, 128, 128)):
        super().__init__()
        times = 4 * stages[0]
        last = len(stages) - 1
        self.times = Times(stages[0], times)
        self.entrance = conv3(3, stages[0])
        self.down = nn.ModuleList()
        skips = [stages[0]]
        width = stages[0]
        for stage, after in enumerate(stages):
            for _ in range(2):
                self.down.append(Step(width, after, times, stage == last))
                width = after
                skips.append(width)
            if stage < last:
                self.down.append(Resampler(width, up=False))
                skips.append(width)
        self.middle = nn.ModuleList([Step(width, width, times, True),
                                     ResidualBlock(width, width, times)])
        self.up = nn.ModuleList()
        for stage, after in reversed(list(enumerate(stages))):
            for _ in range(3):
                self.up.append(Step(width + skips.pop(), after, times, stage == last))
                width = after
            if stage > 0:
                self.up.append(Resampler(width, up=True))
        self.exit = nn.Sequential(GroupNorm(32, width), nn.SiLU(), conv3(width, 3))

    def forward(self, x, t, target):
        c = F.silu(self.times(t))
        x = self.entrance(x)
        skips = [x]
        for part in self.down:
            x = part(x, c)
            skips.append(x)
        for part in self.middle:
            x = part(x, c)
        for part in self.up:
            if isinstance(part, Step):
                x = torch.cat([x, skips.pop()], 1)
            x = part(x, c)
        return F.mse_loss(self.exit(x).float(), target)


class BasicBlock(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        self.shortcut = nn.Identity()
        if stride != 1 or before != after:
            conv = nn.Conv2d(before, after, 1, stride, bias=False)
            self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(after))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self, classes, small):
        super().__init__()
        conv = nn.Conv2d(3, 64, 3 if small else 7, 1 if small else 2, 1 if small else 3, bias=False)
        pool = nn.Identity() if small else nn.MaxPool2d(3, 2, 1)
        blocks = []
        before = 64
        for stage in range(4):
            for number in range(2):
                after = 64 << stage
                blocks.append(BasicBlock(before, after, 2 if stage and not number else 1))
                before = after
        self.body = nn.Sequential(conv, nn.BatchNorm2d(64), nn.ReLU(), pool, *blocks)
        self.head = nn.Linear(512, classes)

    def forward(self, x, labels):
        return F.cross_entropy(self.head(self.body(x).mean((2, 3))), labels)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024),
                                    nn.ReLU(), nn.Linear(1024, 10))

    def forward(self, x, labels):
        return F.cross_entropy(self.layers(x), labels)


def tokens(vocabulary, batch, length):
    return tuple(torch.randint(vocabulary, (batch, length)) for _ in range(2))


def images(side, classes, batch):
    return channels_last(torch.randn(batch, 3, side, side)), torch.randint(classes, (batch,))


def times(batch):
    return 1000 * torch.rand(batch)


def latents(batch):
    sample, target = (torch.randn(batch, 4, 32, 32) for _ in range(2))
    return sample, times(batch), torch.randint(1000, (batch,)), target


def channels_last(x):
    return x.to(memory_format=torch.channels_last)


def make(name, batch):
    if name == "chargpt":
        return Gpt(6, 384, 6, 256, 256), tokens(256, batch, 256)
    if name == "gpt2":
        return Gpt(12, 768, 12, 50257, 1024), tokens(50257, batch, 256)
    if name == "gpt2_t64":
        return Gpt(12, 768, 12, 50257, 1024), tokens(50257, batch, 64)
    if name == "dit_s2":
        return Dit(384, 6), latents(batch)
    if name == "dit_b2":
        return Dit(768, 12), latents(batch)
    if name == "unet":
        sample, target = (channels_last(torch.randn(batch, 3, 32, 32)) for _ in range(2))
        return channels_last(UNet()), (sample, times(batch), target)
    if name == "resnet18_cifar":
        return channels_last(ResNet18(10, True)), images(32, 10, batch)
    if name == "resnet18_224":
        return channels_last(ResNet18(1000, False)), images(224, 1000, batch)
    if name == "mlp":
        return Mlp(), (torch.randn(batch, 784), torch.randint(10, (batch,)))
    sys.exit("there is no workload " + name)


def stolen_seconds():
    with open("/proc/stat") as stat:
        return int(stat.readline().split()[8]) / 100


def median_ms(body, seconds):
    """Of the runs in which the host of a shared machine let it run, as bench_compare.cpp does."""
    times = []
    start = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        stolen = stolen_seconds()
        begin = time.perf_counter()
        body()
        took = time.perf_counter() - begin
        quiet = stolen_seconds() - stolen <= took / 50
        if quiet or time.perf_counter() - start > 4 * seconds:
            times.append(1e3 * took)
    return statistics.median(times)


def peak_rss_mb():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0


def training(workload, precision, samples):
    """Returns a model, and what computes its loss and what trains it by a step."""
    torch.manual_seed(0)
    model, batch = make(workload, samples)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def loss():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            return model(*batch)

    def step():
        loss().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return model, loss, step


def main():
    if len(sys.argv) != 4 or sys.argv[2] not in ("f32", "f32_bf16", "bf16"):
        sys.exit("usage: peer.py WORKLOAD f32|f32_bf16|bf16 SAMPLES")
    workload, precision, samples = sys.argv[1], sys.argv[2], int(sys.argv[3])
    set_f32_products("bf16" if precision == "f32_bf16" else "ieee")
    torch.set_num_threads(2)
    Attention.fused = fuses_faster(lambda: training(workload, precision, samples))
    model, loss, step = training(workload, precision, samples)
    step()
    step()
    result = {"step_ms": median_ms(step, SECONDS), "peak_rss_mb": peak_rss_mb()}
    model.eval()
    with torch.no_grad():
        result["forward_ms"] = median_ms(loss, SECONDS / 4)
    result["parameters"] = sum(p.numel() for p in model.parameters())
    result["torch"] = torch.__version__
    print(json.dumps(result))


main()
