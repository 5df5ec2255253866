"""How PyTorch multiplies f32: exactly, or rounded to bf16 where its version and the processor can.

By itself this prints, as one JSON line, whether they can: {"bf16": true, "why": ""}.
"""
import json

import torch


def set_f32_products(kind):
    """Sets every product and convolution of f32 to "ieee" or "bf16"."""
    if hasattr(torch.backends, "fp32_precision"):  # since version 2.9
        torch.backends.fp32_precision = kind
        for operation in (torch.backends.mkldnn.matmul, torch.backends.mkldnn.conv,
                          torch.backends.mkldnn.rnn):
            operation.fp32_precision = kind
    elif hasattr(torch, "set_float32_matmul_precision"):  # of products alone
        torch.set_float32_matmul_precision("highest" if kind == "ieee" else "medium")


def rounds_to_bf16():
    """Returns true where "bf16" changes results, which many versions and processors ignore."""
    torch.manual_seed(0)
    x, weight = torch.randn(256, 512), torch.randn(512, 512)
    set_f32_products("ieee")
    exact = torch.nn.functional.linear(x, weight)
    set_f32_products("bf16")
    return not torch.allclose(exact, torch.nn.functional.linear(x, weight), rtol=0, atol=1e-2)


if __name__ == "__main__":
    can = rounds_to_bf16()
    why = "" if can else "PyTorch " + torch.__version__ + " multiplies f32 exactly on this processor"
    print(json.dumps({"bf16": can, "why": why}))
