#include <cmath>

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/norm/norm.h"
#include "sdk/backend/eigen/norm/normalize_columns.h"

namespace frugal {
namespace eigen {
namespace {

template <class T>
void ColumnMeans(const T* x, std::int64_t rows, std::int64_t columns, T* mean) {
  SumRowsInto(x, rows, columns, false, mean);
  const double share = 1 / static_cast<double>(std::max<std::int64_t>(1, rows));
  for (std::int64_t c = 0; c < columns; ++c) {
    mean[c] = static_cast<T>(static_cast<double>(mean[c]) * share);
  }
}

// Two sums, so that the rounding of `mean` to T does not enter the variance.
template <class T>
void ColumnInverseDeviations(const T* x, std::int64_t rows, std::int64_t columns, const T* mean,
                             double epsilon, T* rstd) {
  const double share = 1 / static_cast<double>(std::max<std::int64_t>(1, rows));
  const auto add_row = [&](std::int64_t row, std::int64_t first, std::int64_t count, double* sums) {
    const T* in = x + row * columns + first;
    const T* center = mean + first;
    double* squares = sums + kColumnBlock;
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) {
      const double deviation = static_cast<double>(in[j]) - static_cast<double>(center[j]);
      sums[j] += deviation;
      squares[j] += deviation * deviation;
    }
  };
  SumColumns<2>(rows, columns, add_row,
                [&](std::int64_t column, const std::array<double, 2>& sums) {
                  const double rest = sums[0] * share;
                  const double variance = std::max(0.0, sums[1] * share - rest * rest);
                  rstd[column] = static_cast<T>(1 / std::sqrt(variance + epsilon));
                });
}

template <class T>
void Statistics(const Tensor& x, double epsilon, const Tensor& mean, const Tensor& rstd) {
  const std::int64_t rows = x.shape().RowCount();
  const std::int64_t columns = x.shape().back();
  ColumnMeans(x.data<T>(), rows, columns, mean.data<T>());
  ColumnInverseDeviations(x.data<T>(), rows, columns, mean.data<T>(), epsilon, rstd.data<T>());
}

template <class T>
void Normalize(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
               const Tensor& rstd, bool relu, const Tensor& y) {
  const std::int64_t columns = x.shape().back();
  const T* center = mean.data<T>();
  const T* inverse = rstd.data<T>();
  const T* scale = DataOrNull<T>(weight);
  const T* shift = DataOrNull<T>(bias);
  NormalizeColumns<T>(
      x.data<T>(), x.shape().RowCount(), columns, columns, relu,
      [&](std::int64_t c) {
        return ForwardCoefficients<T>{center[c], inverse[c] * ValueOr(scale, c, 1),
                                      ValueOr(shift, c, 0)};
      },
      y.data<T>());
}

template <class T>
T InverseDeviation(const Tensor& variance, std::int64_t column, double epsilon) {
  const double spread = static_cast<double>(variance.data<T>()[column]) + epsilon;
  return static_cast<T>(1 / std::sqrt(spread));
}

template <class T>
void Inference(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
               const Tensor& variance, double epsilon, bool relu, const Tensor& y) {
  const std::int64_t columns = x.shape().back();
  const T* scale = DataOrNull<T>(weight);
  const T* shift = DataOrNull<T>(bias);
  NormalizeColumns<T>(
      x.data<T>(), x.shape().RowCount(), columns, columns, relu,
      [&](std::int64_t c) {
        return ForwardCoefficients<T>{
            mean.data<T>()[c], InverseDeviation<T>(variance, c, epsilon) * ValueOr(scale, c, 1),
            ValueOr(shift, c, 0)};
      },
      y.data<T>());
}

// A backward pass over [rows, columns], and what lies in scratch for it: two sums per channel, then
// scale and shift as the forward pass had them, by which its relu is found again.
template <class T>
struct BackwardArguments {
  const T *dy, *x, *y;
  const T* center;
  bool relu;
  std::int64_t rows, columns;
  double* sums;
  T *scale, *shift;

  BackwardArguments(const Tensor& gradient, const Tensor& input, const Tensor& output,
                    const Tensor& mean, bool cut, void* scratch)
      : dy(gradient.data<T>()),
        x(input.data<T>()),
        y(DataOrNull<T>(output)),
        center(mean.data<T>()),
        relu(cut),
        rows(gradient.shape().RowCount()),
        columns(gradient.shape().back()),
        sums(static_cast<double*>(scratch)),
        scale(static_cast<T*>(static_cast<void*>(sums + 2 * columns))),
        shift(scale + columns) {}
};

// inverse(c) is one over the channel's deviation.
template <class T, class Inverse>
void SetForward(const BackwardArguments<T>& a, const Inverse& inverse, const Tensor& weight,
                const Tensor& bias) {
  for (std::int64_t c = 0; c < a.columns; ++c) {
    a.scale[c] = inverse(c) * ValueOr(DataOrNull<T>(weight), c, 1);
    a.shift[c] = ValueOr(DataOrNull<T>(bias), c, 0);
  }
}

// Columns [first, first + count) of a row of dy, cut where the relu did: by y where that is given,
// else by what x makes. What is cut lies in `room`.
template <class T>
const T* CutRow(const BackwardArguments<T>& a, std::int64_t row, std::int64_t first,
                std::int64_t count, T* room) {
  const std::int64_t at = row * a.columns + first;
  const T *dy = a.dy + at, *x = a.x + at, *y = a.y != nullptr ? a.y + at : nullptr;
  const T *center = a.center + first, *scale = a.scale + first, *shift = a.shift + first;
  if (!a.relu) return dy;
#pragma omp simd
  for (std::int64_t j = 0; j < count; ++j) {
    const T seen = y != nullptr ? y[j] : Normalized(x[j], center[j], scale[j], shift[j]);
    room[j] = seen > T{0} ? dy[j] : T{0};
  }
  return room;
}

// Per channel, the sums of the cut dy and of its products with xhat: sums[c] and sums[columns + c].
template <class T, class Inverse>
void GradientSums(const BackwardArguments<T>& a, const Inverse& inverse) {
  const auto add_row = [&](std::int64_t row, std::int64_t first, std::int64_t count, double* sums) {
    std::array<T, kColumnBlock> room;
    const T* g = CutRow(a, row, first, count, room.data());
    const T* x = a.x + row * a.columns + first;
    const T* center = a.center + first;
    double* products = sums + kColumnBlock;
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) {
      sums[j] += static_cast<double>(g[j]);
      products[j] += static_cast<double>(g[j] * (x[j] - center[j]));
    }
  };
  SumColumns<2>(a.rows, a.columns, add_row,
                [&](std::int64_t column, const std::array<double, 2>& sums) {
                  a.sums[column] = sums[0];
                  a.sums[a.columns + column] = sums[1] * static_cast<double>(inverse(column));
                });
}

template <class T>
void StoreSums(const BackwardArguments<T>& a, bool accumulate, const Tensor& dweight,
               const Tensor& dbias) {
  for (std::int64_t c = 0; c < a.columns; ++c) {
    StoreSum(DataOrNull<T>(dbias), c, a.sums[c], accumulate);
    StoreSum(DataOrNull<T>(dweight), c, a.sums[a.columns + c], accumulate);
  }
}

template <class T, class Coefficients>
void WriteInputGradient(const BackwardArguments<T>& a, const T* x, const Coefficients& coefficients,
                        const Tensor& dx) {
  GradientColumns<T>([&](auto... part) { return CutRow(a, part...); }, x, a.rows, a.columns,
                     a.columns, coefficients, dx.data<T>());
}

template <class T>
void Backward(const BackwardArguments<T>& a, const Tensor& rstd, const Tensor& weight,
              const Tensor& bias, const Tensor& dx, const Tensor& dweight, const Tensor& dbias,
              bool accumulate) {
  const auto inverse = [&](std::int64_t c) { return rstd.data<T>()[c]; };
  SetForward(a, inverse, weight, bias);
  GradientSums(a, inverse);
  StoreSums(a, accumulate, dweight, dbias);
  if (!dx) return;
  const double share = 1 / static_cast<double>(std::max<std::int64_t>(1, a.rows));
  const auto coefficients = [&](std::int64_t c) {
    const T factor = a.scale[c];
    return BackwardCoefficients<T>{
        a.center[c], factor, factor * static_cast<T>(a.sums[c] * share),
        factor * inverse(c) * static_cast<T>(a.sums[a.columns + c] * share)};
  };
  WriteInputGradient(a, a.x, coefficients, dx);
}

// dx = weight / deviation * cut dy: the statistics are constants.
template <class T>
void InferenceBackward(const BackwardArguments<T>& a, const Tensor& variance, const Tensor& weight,
                       const Tensor& bias, double epsilon, const Tensor& dx, const Tensor& dweight,
                       const Tensor& dbias, bool accumulate) {
  const auto inverse = [&](std::int64_t c) { return InverseDeviation<T>(variance, c, epsilon); };
  SetForward(a, inverse, weight, bias);
  if (dweight || dbias) {
    GradientSums(a, inverse);
    StoreSums(a, accumulate, dweight, dbias);
  }
  if (!dx) return;
  const auto coefficients = [&](std::int64_t c) {
    return BackwardCoefficients<T>{0, a.scale[c], 0, 0};
  };
  WriteInputGradient(a, a.dy, coefficients, dx);
}

template <class T>
void Update(const Tensor& mean, const Tensor& rstd, double epsilon, double momentum,
            std::int64_t rows, const Tensor& running_mean, const Tensor& running_variance) {
  const auto count = static_cast<double>(rows);
  const double unbias = rows > 1 ? count / (count - 1) : 1;
  const auto blend = [&](const Tensor& running, std::int64_t c, double value) {
    T& kept = running.data<T>()[c];
    const auto moved =
        static_cast<T>((1 - momentum) * static_cast<double>(kept) + momentum * value);
    if (std::isfinite(moved)) kept = moved;
  };
  for (std::int64_t c = 0; c < mean.size(); ++c) {
    const auto center = static_cast<double>(mean.data<T>()[c]);
    const auto inverse = static_cast<double>(rstd.data<T>()[c]);
    const double spread = 1 / (inverse * inverse) - epsilon;
    if (!std::isfinite(center) || !std::isfinite(spread)) continue;
    blend(running_mean, c, center);
    blend(running_variance, c, std::max(0.0, spread) * unbias);
  }
}

}  // namespace
}  // namespace eigen

std::int64_t EigenNormKernels::BatchScratch(const Tensor& x) const {
  return 4 * x.shape().back() * SizeOf(DType::kF64);
}

void EigenNormKernels::BatchForward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                    double epsilon, bool relu, const Tensor& y, const Tensor& mean,
                                    const Tensor& rstd, void* scratch) {
  eigen::WithFloating("batch norm", x.dtype(),
                      [&]<class T>() { eigen::Statistics<T>(x, epsilon, mean, rstd); });
  EigenNormKernels::BatchNormalize(x, weight, bias, mean, rstd, relu, y, scratch);
}

void EigenNormKernels::BatchNormalize(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                      const Tensor& mean, const Tensor& rstd, bool relu,
                                      const Tensor& y, void* /*scratch*/) {
  eigen::WithFloating("batch norm", x.dtype(), [&]<class T>() {
    eigen::Normalize<T>(x, weight, bias, mean, rstd, relu, y);
  });
}

void EigenNormKernels::BatchInference(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                      const Tensor& running_mean, const Tensor& running_variance,
                                      double epsilon, bool relu, const Tensor& y) {
  eigen::WithFloating("batch norm inference", x.dtype(), [&]<class T>() {
    eigen::Inference<T>(x, weight, bias, running_mean, running_variance, epsilon, relu, y);
  });
}

void EigenNormKernels::BatchBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                                     const Tensor& rstd, const Tensor& weight, const Tensor& bias,
                                     bool relu, const Tensor& dx, const Tensor& dweight,
                                     const Tensor& dbias, bool accumulate, void* scratch) {
  eigen::WithFloating("batch norm backward", x.dtype(), [&]<class T>() {
    const eigen::BackwardArguments<T> arguments(dy, x, {}, mean, relu, scratch);
    eigen::Backward<T>(arguments, rstd, weight, bias, dx, dweight, dbias, accumulate);
  });
}

void EigenNormKernels::BatchInferenceBackward(const Tensor& dy, const Tensor& x, const Tensor& y,
                                              const Tensor& running_mean,
                                              const Tensor& running_variance, const Tensor& weight,
                                              const Tensor& bias, double epsilon, bool relu,
                                              const Tensor& dx, const Tensor& dweight,
                                              const Tensor& dbias, bool accumulate, void* scratch) {
  const Tensor& source = x ? x : dy;  // else what it adds up is not used
  eigen::WithFloating("batch norm inference backward", dy.dtype(), [&]<class T>() {
    const eigen::BackwardArguments<T> arguments(dy, source, y, running_mean, relu, scratch);
    eigen::InferenceBackward<T>(arguments, running_variance, weight, bias, epsilon, dx, dweight,
                                dbias, accumulate);
  });
}

void EigenNormKernels::UpdateRunning(const Tensor& mean, const Tensor& rstd, double epsilon,
                                     double momentum, std::int64_t rows, const Tensor& running_mean,
                                     const Tensor& running_variance) {
  eigen::WithFloating("batch norm statistics", mean.dtype(), [&]<class T>() {
    eigen::Update<T>(mean, rstd, epsilon, momentum, rows, running_mean, running_variance);
  });
}

}  // namespace frugal
