#include <cmath>

#include "sdk/backend/eigen/dispatch.h"
#include "sdk/backend/eigen/norm.h"
#include "sdk/backend/eigen/normalize_columns.h"

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

struct BackwardArguments {
  const Tensor& dy;
  const Tensor& x;
  const Tensor& y;
  const Tensor& mean;
  bool relu;
};

// Per channel, the sums of dy and of dy xhat (dy cut where the relu did): sums[c] and
// sums[columns + c]. inverse(c) is one over the channel's deviation.
template <class T, class Inverse>
void GradientSums(const BackwardArguments& a, const Inverse& inverse, double* totals) {
  const std::int64_t columns = a.x.shape().back();
  const auto add_row = [&](std::int64_t row, std::int64_t first, std::int64_t count, double* sums) {
    const std::int64_t at = row * columns + first;
    const T* dy = a.dy.data<T>() + at;
    const T* x = a.x.data<T>() + at;
    const T* y = a.relu ? a.y.data<T>() + at : dy;
    const T* center = a.mean.data<T>() + first;
    const bool all = !a.relu;
    double* products = sums + kColumnBlock;
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j) {
      const T g = all || y[j] > T{0} ? dy[j] : T{0};
      sums[j] += static_cast<double>(g);
      products[j] += static_cast<double>(g * (x[j] - center[j]));
    }
  };
  SumColumns<2>(a.x.shape().RowCount(), columns, add_row,
                [&](std::int64_t column, const std::array<double, 2>& sums) {
                  totals[column] = sums[0];
                  totals[columns + column] = sums[1] * static_cast<double>(inverse(column));
                });
}

template <class T>
void StoreSums(const double* sums, std::int64_t columns, bool accumulate, const Tensor& dweight,
               const Tensor& dbias) {
  for (std::int64_t c = 0; c < columns; ++c) {
    StoreSum(DataOrNull<T>(dbias), c, sums[c], accumulate);
    StoreSum(DataOrNull<T>(dweight), c, sums[columns + c], accumulate);
  }
}

template <class T>
void BackwardData(const BackwardArguments& a, const Tensor& rstd, const Tensor& weight,
                  const double* sums, const Tensor& dx) {
  const std::int64_t rows = a.x.shape().RowCount();
  const std::int64_t columns = a.x.shape().back();
  const T* scale = DataOrNull<T>(weight);
  const double share = 1 / static_cast<double>(std::max<std::int64_t>(1, rows));
  GradientColumns<T>(
      a.dy.data<T>(), a.x.data<T>(), a.relu ? a.y.data<T>() : nullptr, rows, columns, columns,
      [&](std::int64_t c) {
        const T inverse = rstd.data<T>()[c];
        const T factor = inverse * ValueOr(scale, c, 1);
        return BackwardCoefficients<T>{
            a.mean.data<T>()[c], factor, factor * static_cast<T>(sums[c] * share),
            factor * inverse * static_cast<T>(sums[columns + c] * share)};
      },
      dx.data<T>());
}

template <class T>
void Backward(const BackwardArguments& a, const Tensor& rstd, const Tensor& weight,
              const Tensor& dx, const Tensor& dweight, const Tensor& dbias, bool accumulate,
              double* sums) {
  GradientSums<T>(
      a, [&](std::int64_t c) { return rstd.data<T>()[c]; }, sums);
  StoreSums<T>(sums, a.x.shape().back(), accumulate, dweight, dbias);
  if (dx) BackwardData<T>(a, rstd, weight, sums, dx);
}

// dx = weight / deviation * cut dy: the statistics are constants.
template <class T>
void InferenceBackward(const BackwardArguments& a, const Tensor& variance, const Tensor& weight,
                       double epsilon, const Tensor& dx, const Tensor& dweight, const Tensor& dbias,
                       bool accumulate, double* sums) {
  const std::int64_t columns = a.dy.shape().back();
  const auto inverse = [&](std::int64_t c) { return InverseDeviation<T>(variance, c, epsilon); };
  if (dweight || dbias) {
    GradientSums<T>(a, inverse, sums);
    StoreSums<T>(sums, columns, accumulate, dweight, dbias);
  }
  if (!dx) return;
  const T* dy = a.dy.data<T>();
  const T* scale = DataOrNull<T>(weight);
  GradientColumns<T>(
      dy, dy, a.relu ? a.y.data<T>() : nullptr, a.dy.shape().RowCount(), columns, columns,
      [&](std::int64_t c) {
        return BackwardCoefficients<T>{0, inverse(c) * ValueOr(scale, c, 1), 0, 0};
      },
      dx.data<T>());
}

template <class T>
void Update(const Tensor& mean, const Tensor& rstd, double epsilon, double momentum,
            std::int64_t rows, const Tensor& running_mean, const Tensor& running_variance) {
  const auto count = static_cast<double>(rows);
  const double unbias = rows > 1 ? count / (count - 1) : 1;
  const auto blend = [&](const Tensor& running, std::int64_t c, double value) {
    T& kept = running.data<T>()[c];
    kept = static_cast<T>((1 - momentum) * static_cast<double>(kept) + momentum * value);
  };
  for (std::int64_t c = 0; c < mean.size(); ++c) {
    const auto inverse = static_cast<double>(rstd.data<T>()[c]);
    const double variance = std::max(0.0, 1 / (inverse * inverse) - epsilon);
    blend(running_mean, c, static_cast<double>(mean.data<T>()[c]));
    blend(running_variance, c, variance * unbias);
  }
}

}  // namespace
}  // namespace eigen

std::int64_t EigenNormKernels::BatchScratch(const Tensor& x) const {
  return 2 * x.shape().back() * SizeOf(DType::kF64);
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

void EigenNormKernels::BatchBackward(const Tensor& dy, const Tensor& x, const Tensor& y,
                                     const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                     bool relu, const Tensor& dx, const Tensor& dweight,
                                     const Tensor& dbias, bool accumulate, void* scratch) {
  eigen::WithFloating("batch norm backward", x.dtype(), [&]<class T>() {
    eigen::Backward<T>({dy, x, y, mean, relu}, rstd, weight, dx, dweight, dbias, accumulate,
                       static_cast<double*>(scratch));
  });
}

void EigenNormKernels::BatchInferenceBackward(const Tensor& dy, const Tensor& x, const Tensor& y,
                                              const Tensor& running_mean,
                                              const Tensor& running_variance, const Tensor& weight,
                                              double epsilon, bool relu, const Tensor& dx,
                                              const Tensor& dweight, const Tensor& dbias,
                                              bool accumulate, void* scratch) {
  const Tensor& source = dweight ? x : dy;  // else what it adds up is not used
  eigen::WithFloating("batch norm inference backward", dy.dtype(), [&]<class T>() {
    eigen::InferenceBackward<T>({dy, source, y, running_mean, relu}, running_variance, weight,
                                epsilon, dx, dweight, dbias, accumulate,
                                static_cast<double*>(scratch));
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
