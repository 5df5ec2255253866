"""How PyTorch would run here, in one line; exits with 3 where that would be no fair peer.

Debian's PyTorch multiplies with whichever BLAS the system has chosen, and without another that is
the reference one, tens of times slower than those people train with.
"""
import os
import re
import sys

try:
    import torch
except ImportError:
    print("PyTorch is not installed: apt-get install python3-torch libopenblas0-openmp "
          "libtcmalloc-minimal4 (since Debian 13 libtcmalloc-minimal4t64)")
    sys.exit(3)

with open("/proc/self/maps") as maps:
    libraries = {line.split()[-1] for line in maps if ".so" in line}


def loaded(pattern):
    return sorted(os.path.basename(path) for path in libraries if re.search(pattern, path))


if loaded("/blas/libblas"):
    print("PyTorch would multiply with the reference BLAS, which is no fair peer: apt-get install "
          "libopenblas0-openmp")
    sys.exit(3)
capability = re.search("CPU capability usage: (.*)", torch.__config__.show())
parts = ["PyTorch " + torch.__version__]
if capability:
    parts.append(capability.group(1))
parts += loaded("/lib(openblas|blis|mkl_core)[^/]*$")
parts.append(" ".join(loaded("tcmalloc|jemalloc")) or "malloc of libc, which costs it time and "
             "memory: apt-get install libtcmalloc-minimal4")
print(", ".join(parts))
