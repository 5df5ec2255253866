#pragma once

#include "sdk/core/dtype.h"

namespace frugal {

// Says what this machine can do at best with the threads that kernels use now: a step's kernels are
// held against it.
struct MachineLimits {
  double product_f32 = 0;   // FLOP/s of a dense product
  double product_bf16 = 0;  // 0 where there is no such product
  double copy = 0;          // bytes read and written per second by a large copy

  double ProductOf(DType dtype) const { return dtype == DType::kBF16 ? product_bf16 : product_f32; }
};
// Takes less than a second where nothing else runs, and up to 300 MB, which it gives back.
MachineLimits MeasureMachineLimits();

// The best of oneDNN's products at a few transformer shapes, each the median of runs for `seconds`;
// 0 where the fast backend has no product of that type. Products of ours may exceed it.
double MeasureProductLimit(DType dtype, double seconds);
double MeasureCopyLimit(double seconds);

}  // namespace frugal
