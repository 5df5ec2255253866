#include "sdk/backend/onednn/gemm/gemm.h"

#include <oneapi/dnnl/dnnl.h>

namespace frugal::onednn {

void MultiplyByOneDnn(const Gemm& g, bool accumulate, float* c) {
  dnnl_sgemm(g.transpose_a, g.transpose_b, g.m, g.n, g.k, 1.0f, g.a, g.stride_a, g.b, g.stride_b,
             accumulate ? 1.0f : 0.0f, c, g.n);
}

}  // namespace frugal::onednn
