#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/onednn/norm/norm.h"
#include "sdk/backend/onednn/operation/element_type.h"
#include "sdk/backend/onednn/operation/partial_rows.h"

namespace frugal {
namespace {

using eigen::DataOrNull;
using onednn::DataAt;
using onednn::IsFast;
using onednn::PartialRows;

}  // namespace

void OneDnnNormKernels::LayerForward(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                     double epsilon, const Tensor& y, const Tensor& mean,
                                     const Tensor& rstd) {
  if (!IsFast(x)) {
    EigenNormKernels::LayerForward(x, weight, bias, epsilon, y, mean, rstd);
    return;
  }
  const std::int64_t columns = x.shape().back();
  const std::int64_t rows = x.shape().RowCount();
  onednn::WithElement(x.dtype(), [&]<class T>() {
    eigen::ParallelFor(
        rows, eigen::RowsPerChunk(columns), [&](std::int64_t begin, std::int64_t end) {
          loops_.Of<T>().norm.layer_forward(
              x.data<T>() + begin * columns, end - begin, columns, DataOrNull<float>(weight),
              DataOrNull<float>(bias), static_cast<float>(epsilon), y.data<T>() + begin * columns,
              mean.data<float>() + begin, rstd.data<float>() + begin);
        });
  });
}

std::int64_t OneDnnNormKernels::LayerBackwardScratch(const Tensor& x) const {
  if (!IsFast(x)) return EigenNormKernels::LayerBackwardScratch(x);
  return PartialRows(x.shape().RowCount(), x.shape().back()).Bytes(2);
}

void OneDnnNormKernels::LayerBackward(const Tensor& dy, const Tensor& x, const Tensor& mean,
                                      const Tensor& rstd, const Tensor& weight, const Tensor& dx,
                                      const Tensor& dweight, const Tensor& dbias, bool accumulate,
                                      void* scratch) {
  if (!IsFast(x)) {
    EigenNormKernels::LayerBackward(dy, x, mean, rstd, weight, dx, dweight, dbias, accumulate,
                                    scratch);
    return;
  }
  const PartialRows parts(x.shape().RowCount(), x.shape().back());
  const std::int64_t columns = parts.columns();
  float* const weights = dweight ? static_cast<float*>(scratch) : nullptr;
  float* const biases = dbias ? static_cast<float*>(scratch) + parts.TableStride() : nullptr;
  onednn::WithElement(x.dtype(), [&]<class T>() {
    parts.ForEach([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * columns;
      loops_.Of<T>().norm.layer_backward(
          dy.data<T>() + first, x.data<T>() + first, mean.data<float>() + begin,
          rstd.data<float>() + begin, DataOrNull<float>(weight), end - begin, columns,
          DataAt<T>(dx, first), weights != nullptr ? weights + part * columns : nullptr,
          biases != nullptr ? biases + part * columns : nullptr);
    });
  });
  if (dweight) parts.AddUp(weights, accumulate, dweight.data<float>());
  if (dbias) parts.AddUp(biases, accumulate, dbias.data<float>());
}

}  // namespace frugal
