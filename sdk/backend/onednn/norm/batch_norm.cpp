#include <array>
#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/onednn/norm/moments.h"
#include "sdk/backend/onednn/norm/norm.h"
#include "sdk/backend/onednn/operation/element_type.h"
#include "sdk/backend/onednn/operation/partial_rows.h"

namespace frugal {
namespace {

using eigen::DataOrNull;
using onednn::DataAt;
using onednn::IsFast;
using onednn::Moments;
using onednn::PartialRows;

PartialRows PartsOf(const Tensor& x) { return {x.shape().RowCount(), x.shape().back()}; }

// Scratch of both directions: three tables of a row per part (two of sums, and what values are
// taken about), then five rows of coefficients.
struct Workspace {
  static constexpr std::int64_t kRows = 5;
  float *first, *second, *shift;
  std::array<float*, kRows> row;
  Workspace(const PartialRows& parts, void* scratch)
      : first(static_cast<float*>(scratch)),
        second(first + parts.TableStride()),
        shift(second + parts.TableStride()) {
    float* next = shift + parts.TableStride();
    for (float*& r : row) {
      r = next;
      next += parts.columns();
    }
  }
  static std::int64_t Bytes(const PartialRows& parts) {
    return parts.Bytes(3) + RoundUpToAlignment(kRows * parts.columns() * 4);
  }
};

// mean and rstd from the sums of each part, which were taken about the part's first row.
void FinishStatistics(const PartialRows& parts, const Workspace& w, double epsilon, float* mean,
                      float* rstd) {
  const std::int64_t columns = parts.columns();
  eigen::ParallelFor(columns, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      Moments all;
      for (std::int64_t part = 0; part < parts.count(); ++part) {
        const std::int64_t at = part * columns + c;
        all.Add(Moments::FromSums(static_cast<double>(parts.rows(part)), w.shift[at], w.first[at],
                                  w.second[at]));
      }
      mean[c] = static_cast<float>(all.mean);
      rstd[c] = static_cast<float>(1.0 / std::sqrt(all.Variance() + epsilon));
    }
  });
}

// scale = weight * rstd, offset = bias
void Coefficients(const float* weight, const float* bias, const float* rstd, std::int64_t columns,
                  float* scale, float* offset) {
  for (std::int64_t c = 0; c < columns; ++c) {
    scale[c] = weight != nullptr ? weight[c] * rstd[c] : rstd[c];
    offset[c] = bias != nullptr ? bias[c] : 0.0f;
  }
}

void AddTo(const float* from, std::int64_t n, bool accumulate, float* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = accumulate ? to[i] + from[i] : from[i];
}

void InverseDeviations(const Tensor& variance, double epsilon, float* rstd) {
  const float* const v = variance.data<float>();
  for (std::int64_t c = 0; c < variance.size(); ++c) {
    rstd[c] = static_cast<float>(1.0 / std::sqrt(static_cast<double>(v[c]) + epsilon));
  }
}

// y = (x - mean) * scale + offset, per channel
void NormalizeAll(const simd::Loops& loops, const Tensor& x, const float* mean, const float* scale,
                  const float* offset, bool relu, const Tensor& y) {
  const PartialRows parts = PartsOf(x);
  const std::int64_t columns = parts.columns();
  onednn::WithElement(x.dtype(), [&]<class T>() {
    parts.ForEach([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      loops.Of<T>().norm.normalize(x.data<T>() + begin * columns, end - begin, columns, mean, scale,
                                   offset, relu, y.data<T>() + begin * columns);
    });
  });
}

// Holds what both backward passes read. The relu, if any, cuts by y or by
// (x - mean) * scale + offset.
struct GradientInputs {
  Tensor dy, x, y;
  const float* mean;
  const float *scale = nullptr, *offset = nullptr;

  void CutByX(const float* with_scale, const float* with_offset) {
    scale = with_scale;
    offset = with_offset;
  }
  template <class T>
  simd::ReluCut<T> CutAt(std::int64_t element) const {
    return {DataAt<T>(y, element), scale, offset};
  }
};

// Per channel, the sums of the cut dy, and of its products with (x - mean) * rstd.
void SumGradients(const simd::Loops& loops, const PartialRows& parts, const Workspace& w,
                  const GradientInputs& in, const float* rstd, float* sum, float* product) {
  const std::int64_t columns = parts.columns();
  onednn::WithElement(in.dy.dtype(), [&]<class T>() {
    parts.ForEach([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      const std::int64_t at = begin * columns;
      loops.Of<T>().norm.gradient_moments(in.dy.data<T>() + at, in.x.data<T>() + at,
                                          in.CutAt<T>(at), end - begin, columns, in.mean,
                                          w.first + part * columns, w.second + part * columns);
    });
  });
  parts.AddUp(w.first, false, sum);
  parts.AddUp(w.second, false, product);
  for (std::int64_t c = 0; c < columns; ++c) product[c] *= rstd[c];
}

// dx = a * cut dy + b * (x - mean) + c
void WriteInputGradient(const simd::Loops& loops, const PartialRows& parts,
                        const GradientInputs& in, const float* a, const float* b, const float* c,
                        const Tensor& dx) {
  const std::int64_t columns = parts.columns();
  onednn::WithElement(in.dy.dtype(), [&]<class T>() {
    parts.ForEach([&](std::int64_t, std::int64_t begin, std::int64_t end) {
      const std::int64_t at = begin * columns;
      loops.Of<T>().norm.normalize_gradient(in.dy.data<T>() + at, in.x.data<T>() + at,
                                            in.CutAt<T>(at), end - begin, columns, in.mean, a, b, c,
                                            dx.data<T>() + at);
    });
  });
}

// Both directions of evaluation, so that the gradient is cut by the same arithmetic.
bool IsFastInference(const Tensor& x) {
  return IsFast(x) && x.shape().back() <= OneDnnNormKernels::kMostChannels;
}

}  // namespace

std::int64_t OneDnnNormKernels::BatchScratch(const Tensor& x) const {
  const std::int64_t reference = EigenNormKernels::BatchScratch(x);
  return IsFast(x) ? std::max(reference, Workspace::Bytes(PartsOf(x))) : reference;
}

void OneDnnNormKernels::BatchForward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                     double epsilon, bool relu, const Tensor& y, const Tensor& mean,
                                     const Tensor& rstd, void* scratch) {
  if (!IsFast(x)) {
    EigenNormKernels::BatchForward(x, weight, bias, epsilon, relu, y, mean, rstd, scratch);
    return;
  }
  const PartialRows parts = PartsOf(x);
  const Workspace w(parts, scratch);
  const std::int64_t columns = parts.columns();
  onednn::WithElement(x.dtype(), [&]<class T>() {
    parts.ForEach([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      const T* const rows = x.data<T>() + begin * columns;
      float* const shift = w.shift + part * columns;
      for (std::int64_t c = 0; c < columns; ++c) shift[c] = static_cast<float>(rows[c]);
      loops_.Of<T>().norm.column_moments(rows, end - begin, columns, shift,
                                         w.first + part * columns, w.second + part * columns);
    });
  });
  FinishStatistics(parts, w, epsilon, mean.data<float>(), rstd.data<float>());
  BatchNormalize(x, weight, bias, mean, rstd, relu, y, scratch);
}

void OneDnnNormKernels::BatchNormalize(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                       const Tensor& mean, const Tensor& rstd, bool relu,
                                       const Tensor& y, void* scratch) {
  if (!IsFast(x)) {
    return EigenNormKernels::BatchNormalize(x, weight, bias, mean, rstd, relu, y, scratch);
  }
  const Workspace w(PartsOf(x), scratch);
  Coefficients(DataOrNull<float>(weight), DataOrNull<float>(bias), rstd.data<float>(),
               x.shape().back(), w.row[0], w.row[1]);
  NormalizeAll(loops_, x, mean.data<float>(), w.row[0], w.row[1], relu, y);
}

void OneDnnNormKernels::BatchInference(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                       const Tensor& running_mean, const Tensor& running_variance,
                                       double epsilon, bool relu, const Tensor& y) {
  const std::int64_t columns = x.shape().back();
  if (!IsFastInference(x)) {
    EigenNormKernels::BatchInference(x, weight, bias, running_mean, running_variance, epsilon, relu,
                                     y);
    return;
  }
  std::array<float, kMostChannels> rstd, scale, offset;
  InverseDeviations(running_variance, epsilon, rstd.data());
  Coefficients(DataOrNull<float>(weight), DataOrNull<float>(bias), rstd.data(), columns,
               scale.data(), offset.data());
  NormalizeAll(loops_, x, running_mean.data<float>(), scale.data(), offset.data(), relu, y);
}

// With g the cut dy and n rows:
//   dx = weight rstd (g - sum(g) / n - (x - mean) rstd^2 sum(g (x - mean)) / n)
void OneDnnNormKernels::BatchBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                                      const Tensor& rstd, const Tensor& weight, const Tensor& bias,
                                      bool relu, const Tensor& dx, const Tensor& dweight,
                                      const Tensor& dbias, bool accumulate, void* scratch) {
  if (!IsFast(x)) {
    EigenNormKernels::BatchBackward(dy, x, mean, rstd, weight, bias, relu, dx, dweight, dbias,
                                    accumulate, scratch);
    return;
  }
  const PartialRows parts = PartsOf(x);
  const Workspace w(parts, scratch);
  const std::int64_t columns = parts.columns();
  const float* const s = rstd.data<float>();
  const auto [sum, product, scale, offset, unused] = w.row;
  Coefficients(DataOrNull<float>(weight), DataOrNull<float>(bias), s, columns, scale, offset);
  GradientInputs in{dy, x, {}, mean.data<float>()};
  if (relu) in.CutByX(scale, offset);
  SumGradients(loops_, parts, w, in, s, sum, product);
  if (dbias) AddTo(sum, columns, accumulate, dbias.data<float>());
  if (dweight) AddTo(product, columns, accumulate, dweight.data<float>());
  if (!dx) return;
  const float inverse = 1.0f / static_cast<float>(x.shape().RowCount());
  for (std::int64_t c = 0; c < columns; ++c) {
    product[c] *= -scale[c] * s[c] * inverse;
    sum[c] *= -scale[c] * inverse;
  }
  WriteInputGradient(loops_, parts, in, scale, product, sum, dx);
}

// dx = weight rstd g
void OneDnnNormKernels::BatchInferenceBackward(const Tensor& dy, const Tensor& x, const Tensor& y,
                                               const Tensor& running_mean,
                                               const Tensor& running_variance, const Tensor& weight,
                                               const Tensor& bias, double epsilon, bool relu,
                                               const Tensor& dx, const Tensor& dweight,
                                               const Tensor& dbias, bool accumulate,
                                               void* scratch) {
  if (!IsFastInference(dy)) {
    EigenNormKernels::BatchInferenceBackward(dy, x, y, running_mean, running_variance, weight, bias,
                                             epsilon, relu, dx, dweight, dbias, accumulate,
                                             scratch);
    return;
  }
  const PartialRows parts = PartsOf(dy);
  const Workspace w(parts, scratch);
  const std::int64_t columns = parts.columns();
  const auto [sum, product, scale, offset, rstd] = w.row;
  InverseDeviations(running_variance, epsilon, rstd);
  Coefficients(DataOrNull<float>(weight), DataOrNull<float>(bias), rstd, columns, scale, offset);
  const bool cuts_by_x = relu && !y;
  // Where nobody wants its values, dy stands for x, so that nothing else is read.
  GradientInputs in{dy, dweight || cuts_by_x ? x : dy, relu ? y : Tensor(),
                    running_mean.data<float>()};
  if (cuts_by_x) in.CutByX(scale, offset);
  if (dweight || dbias) SumGradients(loops_, parts, w, in, rstd, sum, product);
  if (dbias) AddTo(sum, columns, accumulate, dbias.data<float>());
  if (dweight) AddTo(product, columns, accumulate, dweight.data<float>());
  if (!dx) return;
  float* const zero = sum;
  std::fill_n(zero, columns, 0.0f);
  if (!cuts_by_x) in.x = dy;
  WriteInputGradient(loops_, parts, in, scale, zero, zero, dx);
}

}  // namespace frugal
