"""The workloads of bench_compare in PyTorch: peer.py WORKLOAD prints one JSON line.

Exits with 3 where PyTorch is not installed. Shapes follow GPT-2 and ResNet-18; AdamW, f32, random
data, as tests/benchmarks/workloads.h.
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
    def __init__(self, width, heads, longest):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        hidden = torch.ones(longest, longest).triu(1).bool()
        self.register_buffer("hidden", hidden, persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q * (width // self.heads) ** -0.5) @ k.transpose(-2, -1)
            scores = scores.masked_fill(self.hidden[:length, :length], float("-inf"))
            y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class GptBlock(nn.Module):
    def __init__(self, width, heads, longest):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, longest)
        self.norm2 = nn.LayerNorm(width)
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
        self.blocks = nn.ModuleList(GptBlock(width, heads, longest) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.norm(x) @ self.tokens.weight.t()
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


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
    x = torch.randn(batch, 3, side, side).to(memory_format=torch.channels_last)
    return x, torch.randint(classes, (batch,))


def make(name):
    if name == "chargpt":
        return Gpt(6, 384, 6, 256, 256), tokens(256, 16, 256)
    if name == "gpt2":
        return Gpt(12, 768, 12, 50257, 1024), tokens(50257, 4, 256)
    if name == "gpt2_t64":
        return Gpt(12, 768, 12, 50257, 1024), tokens(50257, 4, 64)
    if name == "resnet18_cifar":
        return ResNet18(10, True).to(memory_format=torch.channels_last), images(32, 10, 64)
    if name == "resnet18_224":
        return ResNet18(1000, False).to(memory_format=torch.channels_last), images(224, 1000, 8)
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
    torch.manual_seed(0)
    torch.set_num_threads(2)
    model, batch = make(sys.argv[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step():
        model(*batch).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    step()
    step()
    result = {"step_ms": median_ms(step, SECONDS), "peak_rss_mb": peak_rss_mb()}
    model.eval()
    with torch.no_grad():
        result["forward_ms"] = median_ms(lambda: model(*batch), SECONDS / 4)
    result["torch"] = torch.__version__
    print(json.dumps(result))


main()
