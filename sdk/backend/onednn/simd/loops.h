#pragma once

#include <array>
#include <cstdint>

#include "sdk/backend/activation.h"
#include "sdk/backend/kernels.h"

// Single-threaded loops over contiguous f32 arrays, compiled once per instruction set (the
// *_avx512.cpp, *_avx2.cpp and *_baseline.cpp files include the same bodies) and chosen when the
// backend is made, by what the processor can do. The kernels above them cut the work into fixed
// pieces and spread those over threads.
namespace frugal::simd {

// Columns of x [rows, columns]. "Cut" gradients: where `y` is given, dy counts as 0 where y <= 0.
struct NormLoops {
  // With d = x - shift: sum[c] = sum of d, squares[c] = sum of d^2.
  void (*column_moments)(const float* x, std::int64_t rows, std::int64_t columns,
                         const float* shift, float* sum, float* squares);
  // y = (x - mean) * scale + offset, then max(y, 0) where `relu`
  void (*normalize)(const float* x, std::int64_t rows, std::int64_t columns, const float* mean,
                    const float* scale, const float* offset, bool relu, float* y);
  // sum[c] = sum of cut dy, product[c] = sum of cut dy * (x - mean)
  void (*gradient_moments)(const float* dy, const float* x, const float* y, std::int64_t rows,
                           std::int64_t columns, const float* mean, float* sum, float* product);
  // dx = a * cut dy + b * (x - mean) + c
  void (*normalize_gradient)(const float* dy, const float* x, const float* y, std::int64_t rows,
                             std::int64_t columns, const float* mean, const float* a,
                             const float* b, const float* c, float* dx);
  // Layer norm of each row; weight, bias may be null.
  void (*layer_forward)(const float* x, std::int64_t rows, std::int64_t columns,
                        const float* weight, const float* bias, float epsilon, float* y,
                        float* mean, float* rstd);
  // dx may be null; dweight and dbias are the sums over these rows, and may be null.
  void (*layer_backward)(const float* dy, const float* x, const float* mean, const float* rstd,
                         const float* weight, std::int64_t rows, std::int64_t columns, float* dx,
                         float* dweight, float* dbias);
  // sum[c] = sum of x over the rows
  void (*column_sums)(const float* x, std::int64_t rows, std::int64_t columns, float* sum);
};

using ActivationForwardLoop = void (*)(const float* x, float parameter, float* y, std::int64_t n);
using ActivationBackwardLoop = void (*)(const float* dy, const float* kept, float parameter,
                                        float* dx, std::int64_t n);

struct ElementwiseLoops {
  // By Activation; null where oneDNN does better. In place is allowed.
  std::array<ActivationForwardLoop, kActivationCount> activation_forward;
  std::array<ActivationBackwardLoop, kActivationCount> activation_backward;
  void (*add)(const float* a, const float* b, float* sum, std::int64_t n);
  void (*scale)(const float* x, float factor, float* y, std::int64_t n);
  void (*fill)(float value, float* y, std::int64_t n);
  // Elements first_block * 4 ... of the stream; kept where (random word >> 8) >= threshold.
  void (*dropout)(const float* x, std::uint64_t key, std::uint64_t first_block,
                  std::uint32_t threshold, float scale, float* y, std::int64_t n);
};

// One row of `n` elements.
struct RowLoops {
  float (*log_sum_exp)(const float* x, std::int64_t n);
  double (*sum)(const float* x, std::int64_t n);
  // y = factor * (exp(x - log_sum_exp) - uniform)
  void (*cross_entropy_gradient)(const float* x, float log_sum_exp, float uniform, float factor,
                                 float* dx, std::int64_t n);
};

struct AdamFactors {
  float beta1, beta2, taken1, taken2;  // taken = 1 - beta
  float epsilon, gradient_scale;
  float added_decay;        // added to the gradient, times the parameter
  float kept;               // the parameter is multiplied by this first (decoupled decay)
  float step_size;          // learning rate / (1 - beta1^step)
  float second_correction;  // 1 / sqrt(1 - beta2^step)
};

struct OptimizerLoops {
  // momentum may be null
  void (*sgd)(const SgdArguments& arguments, const float* gradient, float* momentum,
              float* parameter, std::int64_t n);
  void (*adam)(const AdamFactors& factors, const float* gradient, float* first, float* second,
               float* parameter, std::int64_t n);
  double (*sum_of_squares)(const float* x, std::int64_t n);
};

// A window of `count` <= 255 positions at x + offsets[k], `channels` floats each.
struct PoolLoops {
  // y = the largest, numbers = which k that was (255 where count is 0); numbers may be null
  void (*largest)(const float* x, const std::int64_t* offsets, std::int64_t count,
                  std::int64_t channels, float* y, std::uint8_t* numbers);
  // dy is added to the position that `numbers` tells.
  void (*largest_gradient)(const float* dy, const std::uint8_t* numbers,
                           const std::int64_t* offsets, std::int64_t count, std::int64_t channels,
                           float* dx);
};

struct Loops {
  NormLoops norm;
  ElementwiseLoops elementwise;
  RowLoops row;
  OptimizerLoops optimizer;
  PoolLoops pool;
};

const Loops& BaselineLoops();
const Loops& Avx2Loops();
const Loops& Avx512Loops();
const Loops& SelectLoops();  // the best of them for this processor

}  // namespace frugal::simd
