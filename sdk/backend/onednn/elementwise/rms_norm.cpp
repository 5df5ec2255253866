#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/onednn/elementwise/sequence.h"
#include "sdk/backend/onednn/operation/element_type.h"
#include "sdk/backend/onednn/operation/partial_rows.h"

namespace frugal {
namespace {

using eigen::DataOrNull;
using onednn::DataAt;
using onednn::IsFast;
using onednn::PartialRows;

}  // namespace

void OneDnnSequenceKernels::RmsForward(const Tensor& x, const Tensor& weight, double epsilon,
                                       const Tensor& y, const Tensor& rstd) {
  if (!IsFast(x)) return EigenSequenceKernels::RmsForward(x, weight, epsilon, y, rstd);
  const std::int64_t columns = x.shape().back();
  onednn::WithElement(x.dtype(), [&]<class T>() {
    eigen::ParallelFor(x.shape().RowCount(), eigen::RowsPerChunk(columns),
                       [&](std::int64_t begin, std::int64_t end) {
                         loops_.Of<T>().norm.rms_forward(
                             x.data<T>() + begin * columns, end - begin, columns,
                             DataOrNull<float>(weight), static_cast<float>(epsilon),
                             y.data<T>() + begin * columns, rstd.data<float>() + begin);
                       });
  });
}

std::int64_t OneDnnSequenceKernels::RmsBackwardScratch(const Tensor& x) const {
  if (!IsFast(x)) return EigenSequenceKernels::RmsBackwardScratch(x);
  return PartialRows(x.shape().RowCount(), x.shape().back()).Bytes(1);
}

void OneDnnSequenceKernels::RmsBackward(const Tensor& dy, const Tensor& x, const Tensor& rstd,
                                        const Tensor& weight, const Tensor& dx,
                                        const Tensor& dweight, bool accumulate, void* scratch) {
  if (!IsFast(x)) {
    return EigenSequenceKernels::RmsBackward(dy, x, rstd, weight, dx, dweight, accumulate, scratch);
  }
  const PartialRows parts(x.shape().RowCount(), x.shape().back());
  float* const sums = dweight ? static_cast<float*>(scratch) : nullptr;
  onednn::WithElement(x.dtype(), [&]<class T>() {
    parts.ForEach([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      const std::int64_t first = begin * parts.columns();
      loops_.Of<T>().norm.rms_backward(dy.data<T>() + first, x.data<T>() + first,
                                       rstd.data<float>() + begin, DataOrNull<float>(weight),
                                       end - begin, parts.columns(), DataAt<T>(dx, first),
                                       sums != nullptr ? sums + part * parts.columns() : nullptr);
    });
  });
  if (dweight) parts.AddUp(sums, accumulate, dweight.data<float>());
}

}  // namespace frugal
