"""Attention as PyTorch computes it fastest here: fused, or by products and a softmax.

The fused one takes three quarters of a GPT's step in bf16 with version 2.14 of Debian, which takes
a third of its time without.
"""
import os
import time

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    fused = False

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
        if Attention.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scores = (q * (width // self.heads) ** -0.5) @ k.transpose(-2, -1)
            if self.causal:
                scores = scores.masked_fill(self.hidden[:length, :length], float("-inf"))
            y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


def fuses_faster(make_training):
    """Returns true where the version fuses attention and trains no slower by it.

    A process of its own finds out, since it grows by what the slower one takes.
    """
    if not hasattr(F, "scaled_dot_product_attention"):
        return False
    child = os.fork()
    if child == 0:
        model, _, step = make_training()
        if not any(isinstance(module, Attention) for module in model.modules()):
            os._exit(1)
        least = {}
        for Attention.fused in (True, False, True, False):
            step()
            begin = time.perf_counter()
            step()
            took = time.perf_counter() - begin
            least[Attention.fused] = min(took, least.get(Attention.fused, took))
        os._exit(0 if least[True] <= least[False] else 1)
    return os.waitpid(child, 0)[1] == 0
