#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/norm/modulation.h"
#include "sdk/backend/eigen/norm/norm.h"
#include "sdk/backend/eigen/norm/normalize_columns.h"
#include "sdk/backend/eigen/norm/sample_rows.h"

namespace frugal {
namespace eigen {
namespace {

using LayerParts = ModulationKernels::LayerParts;
using LayerGradients = ModulationKernels::LayerGradients;

// With g = dy (1 + scale) weight and xhat = (x - mean) rstd:
// dx = rstd (g - mean(g) - xhat mean(g xhat))
template <class T>
void Rows(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
          const LayerParts& parts, const Tensor& dx) {
  const SampleRows rows(x);
  const auto count = static_cast<double>(rows.columns);
  rows.ForEachRow([&](std::int64_t at, std::int64_t sample) {
    const std::int64_t row = at / rows.columns;
    const T center = mean.data<T>()[row], inverse = rstd.data<T>()[row];
    const T* scale = parts.scale.data<T>() + sample;
    const auto gradient = [&](std::int64_t c) {
      const T weight = ValueOr(DataOrNull<T>(parts.weight), c, 1);
      return dy.data<T>()[at + c] * (T{1} + scale[c]) * weight;
    };
    const auto normal = [&](std::int64_t c) { return (x.data<T>()[at + c] - center) * inverse; };
    double sum = 0, product = 0;
    for (std::int64_t c = 0; c < rows.columns; ++c) {
      sum += static_cast<double>(gradient(c));
      product += static_cast<double>(gradient(c) * normal(c));
    }
    const auto offset = static_cast<T>(sum / count), slope = static_cast<T>(product / count);
    for (std::int64_t c = 0; c < rows.columns; ++c) {
      dx.data<T>()[at + c] = inverse * (gradient(c) - offset - normal(c) * slope);
    }
  });
}

// Per sample: the sums of dy and of dy xhat.
template <class T>
void SampleSums(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                const LayerParts& parts, const LayerGradients& gradients) {
  const SampleRows rows(x);
  rows.SumRows<2>(
      [&](std::int64_t row, std::int64_t column, auto& sums) {
        const std::int64_t at = row * rows.columns + column;
        const T normal = (x.data<T>()[at] - mean.data<T>()[row]) * rstd.data<T>()[row];
        sums[0] += static_cast<double>(dy.data<T>()[at]);
        sums[1] += static_cast<double>(dy.data<T>()[at] * normal);
      },
      [&](std::int64_t sample, std::int64_t column, const auto& sums) {
        const std::int64_t at = sample * rows.columns + column;
        const T weight = ValueOr(DataOrNull<T>(parts.weight), column, 1);
        const T bias = ValueOr(DataOrNull<T>(parts.bias), column, 0);
        if (gradients.shift) gradients.shift.data<T>()[at] = static_cast<T>(sums[0]);
        if (!gradients.scale) return;
        gradients.scale.data<T>()[at] = static_cast<T>(static_cast<double>(weight) * sums[1] +
                                                       static_cast<double>(bias) * sums[0]);
      });
}

// Sums dy (1 + scale) xhat and dy (1 + scale) over all samples.
template <class T>
void ParameterSums(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                   const LayerParts& parts, const LayerGradients& gradients) {
  const SampleRows rows(x);
  const auto add_row = [&](std::int64_t row, std::int64_t first, std::int64_t count, double* sums) {
    const T* scale = parts.scale.data<T>() + row / rows.rows * rows.columns;
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t at = row * rows.columns + first + j;
      const T g = dy.data<T>()[at] * (T{1} + scale[first + j]);
      const T normal = (x.data<T>()[at] - mean.data<T>()[row]) * rstd.data<T>()[row];
      sums[j] += static_cast<double>(g);
      sums[kColumnBlock + j] += static_cast<double>(g * normal);
    }
  };
  SumColumns<2>(rows.samples * rows.rows, rows.columns, add_row,
                [&](std::int64_t column, const std::array<double, 2>& sums) {
                  StoreSum(DataOrNull<T>(gradients.bias), column, sums[0], gradients.accumulate);
                  StoreSum(DataOrNull<T>(gradients.weight), column, sums[1], gradients.accumulate);
                });
}

}  // namespace
}  // namespace eigen

std::int64_t EigenModulationKernels::LayerScratch(const Tensor& /*x*/) const { return 0; }

void EigenModulationKernels::LayerForward(const Tensor& x, const LayerParts& parts, double epsilon,
                                          const Tensor& y, const Tensor& mean, const Tensor& rstd,
                                          void* scratch) {
  EigenNormKernels().LayerForward(x, parts.weight, parts.bias, epsilon, y, mean, rstd);
  Modulate(y, parts.shift, parts.scale, y, scratch);
}

void EigenModulationKernels::LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                                           const Tensor& rstd, const LayerParts& parts,
                                           const LayerGradients& gradients, void* /*scratch*/) {
  eigen::WithFloating("modulated layer norm backward", x.dtype(), [&]<class T>() {
    // Sums first: the gradient of x may take the place of dy.
    if (gradients.shift || gradients.scale) {
      eigen::SampleSums<T>(dy, x, mean, rstd, parts, gradients);
    }
    if (gradients.weight || gradients.bias) {
      eigen::ParameterSums<T>(dy, x, mean, rstd, parts, gradients);
    }
    if (gradients.x) eigen::Rows<T>(dy, x, mean, rstd, parts, gradients.x);
  });
}

}  // namespace frugal
