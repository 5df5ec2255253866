#include "sdk/backend/eigen/matmul/product.h"

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/eigen/matmul/column_sums.h"
#include "sdk/backend/eigen/matmul/epilogue.h"

namespace frugal {
namespace eigen {
namespace {

// An extent in at least eight blocks where it is long enough for that.
std::int64_t BlockSize(std::int64_t extent) {
  return std::clamp<std::int64_t>((extent / 8 + 15) / 16 * 16, 16, 512);
}

// body(first_row, rows, first_column, columns) for blocks of the longer side of the output.
template <class Body>
void ForEachBlock(std::int64_t rows, std::int64_t columns, const Body& body) {
  const bool by_rows = rows >= columns;
  const std::int64_t extent = by_rows ? rows : columns;
  ParallelFor(extent, BlockSize(extent), [&](std::int64_t begin, std::int64_t end) {
    if (by_rows) {
      body(begin, end - begin, std::int64_t{0}, columns);
    } else {
      body(std::int64_t{0}, rows, begin, end - begin);
    }
  });
}

template <class T>
Matrix<T> AsRows(const Tensor& tensor) {
  const std::int64_t columns = tensor.shape().back();
  return {tensor.data<std::remove_const_t<T>>(), tensor.shape().RowCount(), columns, columns};
}

template <class T>
Matrix<T> Part(Matrix<T> m, std::int64_t row, std::int64_t rows, std::int64_t column,
               std::int64_t columns) {
  return {m.data + row * m.stride + column, rows, columns, m.stride};
}

template <class T>
void Forward(const Tensor& x, const LinearWeight& weight, const Tensor& bias,
             const Tensor& residual, const Tensor& y, const LinearEpilogue& epilogue) {
  const auto xs = AsRows<const T>(x);
  const auto ws = AsRows<const T>(weight.tensor);
  const auto ys = AsRows<T>(y);
  const T* shift = DataOrNull<T>(bias);
  const T* added = DataOrNull<T>(residual);
  ForEachBlock(ys.rows, ys.columns, [&](auto row, auto rows, auto column, auto columns) {
    const Matrix<T> out = Part(ys, row, rows, column, columns);
    const T* added_here = added == nullptr ? nullptr : added + row * ys.stride + column;
    StartWithBias<T>(shift == nullptr ? nullptr : shift + column, added_here, out);
    const auto xs_here = Part(xs, row, rows, 0, xs.columns);
    if (weight.layout == WeightLayout::kOutIn) {
      MultiplyTransposedRight<T>(xs_here, Part(ws, column, columns, 0, ws.columns), out, true);
    } else {
      Multiply<T>(xs_here, Part(ws, 0, ws.rows, column, columns), out, true);
    }
    Activate(epilogue, out);
  });
}

template <class T>
void BackwardData(const Tensor& dy, const LinearWeight& weight, const Tensor& dx, bool accumulate) {
  const auto dys = AsRows<const T>(dy);
  const auto ws = AsRows<const T>(weight.tensor);
  const auto dxs = AsRows<T>(dx);
  ForEachBlock(dxs.rows, dxs.columns, [&](auto row, auto rows, auto column, auto columns) {
    const auto dys_here = Part(dys, row, rows, 0, dys.columns);
    const Matrix<T> out = Part(dxs, row, rows, column, columns);
    if (weight.layout == WeightLayout::kOutIn) {
      Multiply<T>(dys_here, Part(ws, 0, ws.rows, column, columns), out, accumulate);
    } else {
      MultiplyTransposedRight<T>(dys_here, Part(ws, column, columns, 0, ws.columns), out,
                                 accumulate);
    }
  });
}

template <class T>
void BackwardWeight(const Tensor& dy, const Tensor& x, const LinearWeight& dweight,
                    const Tensor& dbias, bool accumulate) {
  const auto dys = AsRows<const T>(dy);
  const auto xs = AsRows<const T>(x);
  const auto dws = AsRows<T>(dweight.tensor);
  const bool out_in = dweight.layout == WeightLayout::kOutIn;
  const auto& left = out_in ? dys : xs;
  const auto& right = out_in ? xs : dys;
  ForEachBlock(dws.rows, dws.columns, [&](auto row, auto rows, auto column, auto columns) {
    MultiplyTransposedLeft<T>(Part(left, 0, left.rows, row, rows),
                              Part(right, 0, right.rows, column, columns),
                              Part(dws, row, rows, column, columns), accumulate);
  });
  if (dbias) SumRowsInto(dys.data, dys.rows, dys.columns, accumulate, dbias.data<T>());
}

}  // namespace
}  // namespace eigen

std::int64_t EigenProductKernels::PackedWeightBytes(const LinearWeight& /*weight*/) const {
  eigen::ThrowUnsupported("product", DType::kBF16);
}

void EigenProductKernels::PackWeight(const LinearWeight& /*weight*/, const Tensor& /*packed*/) {
  eigen::ThrowUnsupported("product", DType::kBF16);
}

bool EigenProductKernels::FusesActivation(Activation activation) const {
  return DerivesFromOutput(activation);
}

std::int64_t EigenProductKernels::LinearForwardScratch(const Tensor& /*x*/,
                                                       const LinearWeight& /*weight*/) const {
  return 0;
}

void EigenProductKernels::LinearForward(const Tensor& x, const LinearWeight& weight,
                                        const Tensor& bias, const Tensor& residual, const Tensor& y,
                                        LinearEpilogue epilogue, void* /*scratch*/) {
  eigen::WithFloating("linear forward", x.dtype(), [&]<class T>() {
    eigen::Forward<T>(x, weight, bias, residual, y, epilogue);
  });
}

std::int64_t EigenProductKernels::LinearBackwardDataScratch(const Tensor& /*dy*/,
                                                            const LinearWeight& /*weight*/) const {
  return 0;
}

void EigenProductKernels::LinearBackwardData(const Tensor& dy, const LinearWeight& weight,
                                             const Tensor& dx, bool accumulate, void* /*scratch*/) {
  eigen::WithFloating("linear backward data", dy.dtype(),
                      [&]<class T>() { eigen::BackwardData<T>(dy, weight, dx, accumulate); });
}

std::int64_t EigenProductKernels::LinearBackwardWeightScratch(const Tensor& /*dy*/,
                                                              const Tensor& /*x*/,
                                                              bool /*accumulate*/) const {
  return 0;
}

void EigenProductKernels::LinearBackwardWeight(const Tensor& dy, const Tensor& x,
                                               const LinearWeight& dweight, const Tensor& dbias,
                                               bool accumulate, void* /*scratch*/) {
  eigen::WithFloating("linear backward weight", dy.dtype(), [&]<class T>() {
    eigen::BackwardWeight<T>(dy, x, dweight, dbias, accumulate);
  });
}

}  // namespace frugal
