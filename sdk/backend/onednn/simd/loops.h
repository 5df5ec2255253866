#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "sdk/backend/activation.h"
#include "sdk/backend/optimizer_kernels.h"
#include "sdk/backend/state_codec.h"
#include "sdk/core/bfloat16.h"

// Single-threaded loops run over contiguous arrays of f32 or bf16 (T; arithmetic, statistics and
// parameters are f32). They are compiled once per instruction set (loops_variants.cpp) and chosen
// when the backend is made, by what the processor can do. The kernels above them cut the work into
// fixed pieces and spread those over threads.
namespace frugal::simd {

// The relu that a gradient comes through, or none: "cut" dy counts as 0 unless y is above 0, where
// y is given, or unless (x - mean) * scale + offset is, where those are given.
template <class T>
struct ReluCut {
  const T* y = nullptr;
  const float* scale = nullptr;
  const float* offset = nullptr;
};

// Columns of x [rows, columns].
template <class T>
struct NormLoops {
  // With d = x - shift: sum[c] = sum of d, squares[c] = sum of d^2.
  void (*column_moments)(const T* x, std::int64_t rows, std::int64_t columns, const float* shift,
                         float* sum, float* squares);
  // y = (x - mean) * scale + offset, then max(y, 0) where `relu`
  void (*normalize)(const T* x, std::int64_t rows, std::int64_t columns, const float* mean,
                    const float* scale, const float* offset, bool relu, T* y);
  // sum[c] = sum of cut dy, product[c] = sum of cut dy * (x - mean)
  void (*gradient_moments)(const T* dy, const T* x, const ReluCut<T>& cut, std::int64_t rows,
                           std::int64_t columns, const float* mean, float* sum, float* product);
  // dx = a * cut dy + b * (x - mean) + c
  void (*normalize_gradient)(const T* dy, const T* x, const ReluCut<T>& cut, std::int64_t rows,
                             std::int64_t columns, const float* mean, const float* a,
                             const float* b, const float* c, T* dx);
  // Layer norm of each row; weight, bias may be null.
  void (*layer_forward)(const T* x, std::int64_t rows, std::int64_t columns, const float* weight,
                        const float* bias, float epsilon, T* y, float* mean, float* rstd);
  // dx may be null; dweight and dbias are the sums over these rows, and may be null.
  void (*layer_backward)(const T* dy, const T* x, const float* mean, const float* rstd,
                         const float* weight, std::int64_t rows, std::int64_t columns, T* dx,
                         float* dweight, float* dbias);
  // sum[c] = sum of x over the rows
  void (*column_sums)(const T* x, std::int64_t rows, std::int64_t columns, float* sum);
  // to[c] = or += sum over the parts of table[part * stride + c], in f64 and in their order
  void (*add_parts)(const float* table, std::int64_t parts, std::int64_t stride,
                    std::int64_t columns, bool accumulate, float* to);
  // Rms norm of each row, with the same liberties as layer norm.
  void (*rms_forward)(const T* x, std::int64_t rows, std::int64_t columns, const float* weight,
                      float epsilon, T* y, float* rstd);
  void (*rms_backward)(const T* dy, const T* x, const float* rstd, const float* weight,
                       std::int64_t rows, std::int64_t columns, T* dx, float* dweight);
};

template <class T>
using ActivationForwardLoop = void (*)(const T* x, float parameter, T* y, std::int64_t n);
template <class T>
using ActivationBackwardLoop = void (*)(const T* dy, const T* kept, float parameter, T* dx,
                                        std::int64_t n);

template <class T>
struct ElementwiseLoops {
  // By Activation; null where oneDNN does better. In place is allowed.
  std::array<ActivationForwardLoop<T>, kActivationCount> activation_forward;
  std::array<ActivationBackwardLoop<T>, kActivationCount> activation_backward;
  void (*add)(const T* a, const T* b, T* sum, std::int64_t n);
  void (*scale)(const T* x, float factor, T* y, std::int64_t n);
  void (*fill)(float value, T* y, std::int64_t n);
  // Elements first_block * 4 ... of the stream; kept where (random word >> 8) >= threshold.
  void (*dropout)(const T* x, std::uint64_t key, std::uint64_t first_block, std::uint32_t threshold,
                  float scale, T* y, std::int64_t n);
};

// One row of `n` elements.
template <class T>
struct RowLoops {
  float (*log_sum_exp)(const T* x, std::int64_t n);
  double (*sum)(const T* x, std::int64_t n);
  // y = factor * (exp(x - log_sum_exp) - uniform)
  void (*cross_entropy_gradient)(const T* x, float log_sum_exp, float uniform, float factor, T* dx,
                                 std::int64_t n);
  // Returns true where x[label] is larger than all before it and at least as large as all behind
  // it.
  bool (*is_largest)(const T* x, std::int64_t label, std::int64_t n);
};

// f(gate) * value, by Activation; null where there is none, and the reference serves.
template <class T>
struct GatedLoops {
  using Forward = void (*)(const T* gate, const T* value, T* y, std::int64_t n);
  using Backward = void (*)(const T* dy, const T* gate, const T* value, T* dgate, T* dvalue,
                            std::int64_t n);
  std::array<Forward, kActivationCount> forward;
  std::array<Backward, kActivationCount> backward;
};

// Pairs rotated by angles; y may be x. Halves: (x[i], x[i + pairs]); neighbours:
// (x[2i], x[2i + 1]).
template <class T>
struct RotaryLoops {
  using Rotate = void (*)(const T* x, const float* cosine, const float* sine, float sign,
                          std::int64_t pairs, T* y);
  Rotate rotate_halves;
  Rotate rotate_neighbours;
  // Adds, for neighbours, the gradients of cosines and sines to what is there.
  void (*add_angle_gradients)(const T* dy, const T* x, std::int64_t pairs, float* dcosine,
                              float* dsine);
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
  StateCodec codec;
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

struct ConversionLoops {
  void (*widen)(const BFloat16* x, float* y, std::int64_t n);
  void (*narrow)(const float* x, BFloat16* y, std::int64_t n);  // to the nearest, ties to even
};

// Those for tensors of one element type.
template <class T>
struct TypedLoops {
  NormLoops<T> norm;
  ElementwiseLoops<T> elementwise;
  RowLoops<T> row;
  GatedLoops<T> gated;
  RotaryLoops<T> rotary;
};

struct Loops {
  TypedLoops<float> f32;
  TypedLoops<BFloat16> bf16;
  ConversionLoops conversion;
  OptimizerLoops optimizer;
  PoolLoops pool;

  template <class T>
  const TypedLoops<T>& Of() const {
    if constexpr (std::is_same_v<T, float>) {
      return f32;
    } else {
      return bf16;
    }
  }
};

const Loops& BaselineLoops();
const Loops& Avx2Loops();
const Loops& Avx512Loops();
const Loops& SelectLoops();  // the best of them for this processor

}  // namespace frugal::simd
