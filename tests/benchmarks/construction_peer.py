"""Builds published models on PyTorch's meta device: construction_peer.py NAME REPETITIONS.

Prints one JSON line: parameters, the median of ms to build and count, and by how many bytes the
process grew. Exits with 4 for a model that is not here. Only the parts with parameters matter on
that device, so there are no forward passes.
"""
import json
import statistics
import sys
import time

from torch import empty, nn

META = {"device": "meta"}


def linear(before, after, bias=True):
    return nn.Linear(before, after, bias, **META)


def norm(width):
    return nn.LayerNorm(width, **META)


def parameter(*shape):
    return nn.Parameter(empty(*shape, **META))


def mlp(width, inner):
    return nn.Sequential(linear(width, inner), nn.GELU(), linear(inner, width))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = parameter(width)


class Tree(nn.Module):
    """Modules and parameters by name."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


def blocks(count, make):
    return nn.ModuleList(make() for _ in range(count))


def plain_norm(width):
    return nn.LayerNorm(width, elementwise_affine=False, **META)


def dit(depth, width):
    def block():
        return Tree(norm1=plain_norm(width), attn=Tree(qkv=linear(width, 3 * width),
                    proj=linear(width, width)), norm2=plain_norm(width),
                    mlp=mlp(width, 4 * width),
                    modulation=nn.Sequential(nn.SiLU(), linear(width, 6 * width)))

    return Tree(x=nn.Conv2d(4, width, 2, 2, **META), positions=parameter(1, 256, width),
                t=nn.Sequential(linear(256, width), nn.SiLU(), linear(width, width)),
                y=nn.Embedding(1001, width, **META), blocks=blocks(depth, block),
                norm=plain_norm(width), out=linear(width, 32),
                modulation=nn.Sequential(nn.SiLU(), linear(width, 2 * width)))


def gpt2(depth, width):
    def block():
        return Tree(ln_1=norm(width), attn=Tree(c_attn=linear(width, 3 * width),
                    c_proj=linear(width, width)), ln_2=norm(width), mlp=mlp(width, 4 * width))

    model = Tree(wte=nn.Embedding(50257, width, **META), wpe=nn.Embedding(1024, width, **META),
                 h=blocks(depth, block), ln_f=norm(width), head=linear(width, 50257, False))
    model.head.weight = model.wte.weight
    return model


def llama(depth, width, inner):
    def flat(before, after):
        return linear(before, after, False)

    def block():
        return Tree(attn=Tree(q=flat(width, width), k=flat(width, width), v=flat(width, width),
                              o=flat(width, width)),
                    mlp=Tree(gate=flat(width, inner), up=flat(width, inner),
                             down=flat(inner, width)), norm1=RmsNorm(width), norm2=RmsNorm(width))

    return Tree(tokens=nn.Embedding(32000, width, **META), layers=blocks(depth, block),
                norm=RmsNorm(width), head=flat(width, 32000))


def flux(double, single, width, head):
    def attention(streams):
        parts = {}
        for stream in range(streams):
            for name in ("q", "k", "v") + (("out",) if streams == 2 else ()):
                parts[name + str(stream)] = linear(width, width)
            parts["norm_q" + str(stream)] = RmsNorm(head)
            parts["norm_k" + str(stream)] = RmsNorm(head)
        return Tree(**parts)

    def joint():
        parts = {}
        for stream in ("x", "context"):
            parts["norm1_" + stream] = Tree(linear=linear(width, 6 * width),
                                            norm=plain_norm(width))
            parts["norm2_" + stream] = plain_norm(width)
            parts["mlp_" + stream] = mlp(width, 4 * width)
        return Tree(attn=attention(2), **parts)

    def one():
        return Tree(norm=Tree(linear=linear(width, 3 * width), norm=plain_norm(width)),
                    up=linear(width, 4 * width), act=nn.GELU(), down=linear(5 * width, width),
                    attn=attention(1))

    def embedder(features):
        return Tree(linear_1=linear(features, width), act=nn.SiLU(),
                    linear_2=linear(width, width))

    return Tree(time=embedder(256), guidance=embedder(256), text=embedder(768),
                context=linear(4096, width), x=linear(64, width), double=blocks(double, joint),
                single=blocks(single, one), norm=Tree(linear=linear(width, 2 * width)),
                out=linear(width, 64))


MODELS = {
    "dit-s-2": lambda: dit(12, 384),
    "dit-xl-2": lambda: dit(28, 1152),
    "sit-xl-2": lambda: dit(28, 1152),
    "gpt2": lambda: gpt2(12, 768),
    "gpt2-xl": lambda: gpt2(48, 1600),
    "llama-2-7b": lambda: llama(32, 4096, 11008),
    "flux.1-dev": lambda: flux(19, 38, 3072, 128),
}


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def main():
    name, repetitions = sys.argv[1], int(sys.argv[2])
    if name not in MODELS:
        sys.exit(4)
    dit(1, 64)  # what the library loads at first use is no part of a model
    before = resident()
    milliseconds = []
    for repetition in range(repetitions):
        start = time.perf_counter()
        model = MODELS[name]()
        count = sum(p.numel() for p in model.parameters())
        milliseconds.append(1e3 * (time.perf_counter() - start))
        if repetition == 0:
            grown = resident() - before
    print(json.dumps({"parameters": count, "ms": statistics.median(milliseconds),
                      "resident_bytes": grown}))


main()
