#pragma once

#include "sdk/backend/onednn/attention/attention_plan.h"

namespace frugal::onednn {

struct RowRange {
  std::int64_t first, count;
};

struct AttentionInputs {
  const AttentionGeometry& geometry;
  const AttentionPlan& plan;
  const simd::AttentionLoops& loops;
  HeadsView q, k, v;
  Tensor mask;
  DType dtype = DType::kF32;  // or kBF16
};

struct BackwardInputs {
  const Tensor& dy;
  const Tensor& y;
  const Tensor& log_sum_exp;
  const HeadsView& dk;  // for whoever wants them in the cache when they are written
  const HeadsView& dv;
};

}  // namespace frugal::onednn
