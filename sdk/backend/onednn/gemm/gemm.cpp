#include "sdk/backend/onednn/gemm/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "sdk/backend/onednn/operation/out_of_memory.h"

namespace frugal::onednn {

void MultiplyByOneDnn(const Gemm& g, bool accumulate, float* c, std::int64_t stride_c) {
  const dnnl_status_t status =
      dnnl_sgemm(g.transpose_a, g.transpose_b, g.m, g.n, g.k, 1.0f, g.a, g.stride_a, g.b,
                 g.stride_b, accumulate ? 1.0f : 0.0f, c, stride_c);
  if (status == dnnl_out_of_memory) ThrowOutOfMemory();
  dnnl::error::wrap_c_api(status, "oneDNN refused a product");
}

}  // namespace frugal::onednn
