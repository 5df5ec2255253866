"""The workloads of bench_compare in PyTorch: peer.py WORKLOAD f32|bf16 prints one JSON line.

Exits with 3 where PyTorch is not installed. The networks are those of workloads.h and stand_ins.h,
with AdamW and random data; bf16 is PyTorch's automatic mixed precision.
"""
import json
import statistics
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(3)
from torch import nn
from torch.nn import functional as F

SECONDS = 6


class Attention(nn.Module):
    def __init__(self, width, heads, longest=0):
        """Causal where a longest sequence is given."""
        super().__init__()
        self.heads = heads
        self.causal = longest > 0
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        hidden = torch.ones(longest, longest).triu(1).bool()
        self.register_buffer("hidden", hidden, persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scores = (q * (width // self.heads) ** -0.5) @ k.transpose(-2, -1)
            if self.causal:
                scores = scores.masked_fill(self.hidden[:length, :length], float("-inf"))
            y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


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


class PlainDit(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        norm = {"elementwise_affine": False, "eps": 1e-6}
        self.patches = nn.Conv2d(4, width, 2, 2)
        self.positions = nn.Parameter(0.02 * torch.randn(256, width))
        self.blocks = nn.Sequential(*(Block(width, heads, **norm) for _ in range(12)))
        self.norm = nn.LayerNorm(width, **norm)
        self.out = nn.Linear(width, 16)

    def forward(self, x, target):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        return F.mse_loss(self.out(self.norm(self.blocks(x))).float(), target)


class GroupNorm(nn.GroupNorm):
    def forward(self, x):
        # Old versions refuse bf16 beside f32 weights.
        if torch.__version__.startswith("1."):
            return super().forward(x.float()).to(x.dtype)
        return super().forward(x)


class ResidualBlock(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.body = nn.Sequential(GroupNorm(32, before), nn.SiLU(), conv3(before, after),
                                  GroupNorm(32, after), nn.SiLU(), conv3(after, after))
        self.shortcut = nn.Conv2d(before, after, 1) if before != after else nn.Identity()

    def forward(self, x):
        return self.shortcut(x) + self.body(x)


def conv3(before, after, stride=1):
    return nn.Conv2d(before, after, 3, stride, 1)


def residual_blocks(count, before, after):
    return [ResidualBlock(after if i else before, after) for i in range(count)]


class PlainUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            conv3(3, 64), *residual_blocks(2, 64, 64), conv3(64, 64, 2),
            *residual_blocks(2, 64, 128), conv3(128, 128, 2), *residual_blocks(7, 128, 128),
            nn.Upsample(scale_factor=2), conv3(128, 128), *residual_blocks(3, 128, 128),
            nn.Upsample(scale_factor=2), conv3(128, 128), *residual_blocks(3, 128, 64),
            GroupNorm(32, 64), nn.SiLU(), conv3(64, 3))

    def forward(self, x, target):
        return F.mse_loss(self.body(x).float(), target)


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


def latents(batch):
    return torch.randn(batch, 4, 32, 32), torch.randn(batch, 256, 16)


def channels_last(x):
    return x.to(memory_format=torch.channels_last)


def make(name):
    if name == "chargpt":
        return Gpt(6, 384, 6, 256, 256), tokens(256, 16, 256)
    if name == "gpt2":
        return Gpt(12, 768, 12, 50257, 1024), tokens(50257, 4, 256)
    if name == "gpt2_t64":
        return Gpt(12, 768, 12, 50257, 1024), tokens(50257, 4, 64)
    if name == "dit_s2":
        return PlainDit(384, 6), latents(16)
    if name == "dit_b2":
        return PlainDit(768, 12), latents(4)
    if name == "unet":
        pictures = [channels_last(torch.randn(16, 3, 32, 32)) for _ in range(2)]
        return channels_last(PlainUNet()), pictures
    if name == "resnet18_cifar":
        return channels_last(ResNet18(10, True)), images(32, 10, 64)
    if name == "resnet18_224":
        return channels_last(ResNet18(1000, False)), images(224, 1000, 8)
    if name == "mlp":
        return Mlp(), (torch.randn(256, 784), torch.randint(10, (256,)))
    sys.exit("there is no workload " + name)


def median_ms(body, seconds):
    times = []
    start = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        body()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def peak_rss_mb():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("f32", "bf16"):
        sys.exit("usage: peer.py WORKLOAD f32|bf16")
    torch.manual_seed(0)
    torch.set_num_threads(2)
    model, batch = make(sys.argv[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def loss():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=sys.argv[2] == "bf16"):
            return model(*batch)

    def step():
        loss().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    step()
    step()
    result = {"step_ms": median_ms(step, SECONDS), "peak_rss_mb": peak_rss_mb()}
    model.eval()
    with torch.no_grad():
        result["forward_ms"] = median_ms(loss, SECONDS / 4)
    result["torch"] = torch.__version__
    print(json.dumps(result))


main()
