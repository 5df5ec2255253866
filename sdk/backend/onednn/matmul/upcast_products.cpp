#include "sdk/backend/onednn/matmul/upcast_products.h"

#include <algorithm>
#include <cassert>
#include <functional>

#include "sdk/backend/onednn/operation/upcast_tensors.h"

namespace frugal::onednn {
namespace {

using std::int64_t;

bool IsBf16(const Tensor& x) { return x.dtype() == DType::kBF16; }

// Enough for products about as fast as of all rows at once (bench_compare --precision bf16), and so
// few that their copies are small beside what bf16 saves.
int64_t RowsAtOnce(int64_t inputs, int64_t outputs) {
  constexpr int64_t kElements = 1 << 22, kFew = 64, kMany = 512;
  return std::clamp(kElements / std::max<int64_t>(1, inputs + 2 * outputs), kFew, kMany);
}

// body(first, count) for blocks of at most `most` of `count`; once for none, of which sums are 0.
template <class Body>
void ForBlocks(int64_t count, int64_t most, const Body& body) {
  int64_t at = 0;
  do {
    body(at, std::min(most, count - at));
    at += most;
  } while (at < count);
}

// The most that a block takes: a whole one or the last.
int64_t MostOf(int64_t count, int64_t most, const std::function<int64_t(int64_t)>& bytes) {
  if (count <= most) return bytes(count);
  return count % most == 0 ? bytes(most) : std::max(bytes(most), bytes(count % most));
}

int64_t RowsAtOnce(const LinearWeight& weight) {
  return RowsAtOnce(weight.inputs(), weight.outputs());
}

Tensor Rows(const Tensor& x, int64_t begin, int64_t count) {
  if (!x) return {};
  return x.Reshape({x.shape().RowCount(), x.shape().back()}).Narrow(begin, count);
}

LinearWeight Exact(const LinearWeight& weight) { return {weight.tensor, weight.layout}; }

// Returns the geometry for `batch` of its images.
ConvGeometry Images(ConvGeometry g, int64_t batch) {
  g.window.batch = batch;
  return g;
}

int64_t ImagesAtOnce(const ConvGeometry& g) {
  const int64_t elements =
      g.window.InputSize() * g.input_channels + g.window.OutputSize() * g.output_channels;
  constexpr int64_t kElements = 1 << 20;
  return std::max<int64_t>(1, kElements / std::max<int64_t>(1, elements));
}

// Returns the bytes of f32 copies of the input and the output together.
int64_t UpcastBytes(const ConvGeometry& g) {
  UpcastTensors tensors(nullptr);
  tensors.Take({g.window.batch * g.window.InputSize(), g.input_channels});
  tensors.Take({g.window.batch * g.window.OutputSize(), g.output_channels});
  return tensors.bytes();
}

}  // namespace

int64_t UpcastProducts::LinearForwardScratch(const Tensor& x, const LinearWeight& weight) const {
  if (!IsBf16(x)) return exact_.LinearForwardScratch(x, weight);
  return MostOf(x.shape().RowCount(), RowsAtOnce(weight), [&](int64_t rows) {
    UpcastTensors tensors(nullptr);
    const Tensor wide_x = tensors.Take({rows, weight.inputs()});
    tensors.Take({rows, weight.outputs()});
    tensors.Take({rows, weight.outputs()});  // a residual
    return tensors.bytes() + exact_.LinearForwardScratch(wide_x, Exact(weight));
  });
}

void UpcastProducts::LinearForward(const Tensor& x, const LinearWeight& weight, const Tensor& bias,
                                   const Tensor& residual, const Tensor& y, LinearEpilogue epilogue,
                                   void* scratch) {
  if (!IsBf16(x)) {
    return exact_.LinearForward(x, weight, bias, residual, y, epilogue, scratch);
  }
  ForBlocks(x.shape().RowCount(), RowsAtOnce(weight), [&](int64_t begin, int64_t count) {
    UpcastTensors tensors(scratch);
    const Tensor wide_x = tensors.CastToF32(Rows(x, begin, count));
    const Tensor wide_residual = tensors.CastToF32(Rows(residual, begin, count));
    const Tensor wide_y = tensors.Take({count, weight.outputs()});
    exact_.LinearForward(wide_x, Exact(weight), bias, wide_residual, wide_y, epilogue,
                         tensors.Rest());
    DowncastInto(Rows(y, begin, count), wide_y);
  });
}

int64_t UpcastProducts::LinearBackwardDataScratch(const Tensor& dy,
                                                  const LinearWeight& weight) const {
  if (!IsBf16(dy)) return exact_.LinearBackwardDataScratch(dy, weight);
  return MostOf(dy.shape().RowCount(), RowsAtOnce(weight), [&](int64_t rows) {
    UpcastTensors tensors(nullptr);
    const Tensor wide_dy = tensors.Take({rows, weight.outputs()});
    tensors.Take({rows, weight.inputs()});
    return tensors.bytes() + exact_.LinearBackwardDataScratch(wide_dy, Exact(weight));
  });
}

void UpcastProducts::LinearBackwardData(const Tensor& dy, const LinearWeight& weight,
                                        const Tensor& dx, bool accumulate, void* scratch) {
  if (!IsBf16(dy)) return exact_.LinearBackwardData(dy, weight, dx, accumulate, scratch);
  assert(!accumulate);
  ForBlocks(dy.shape().RowCount(), RowsAtOnce(weight), [&](int64_t begin, int64_t count) {
    UpcastTensors tensors(scratch);
    const Tensor wide_dy = tensors.CastToF32(Rows(dy, begin, count));
    const Tensor wide_dx = tensors.Take({count, weight.inputs()});
    exact_.LinearBackwardData(wide_dy, Exact(weight), wide_dx, false, tensors.Rest());
    DowncastInto(Rows(dx, begin, count), wide_dx);
  });
}

int64_t UpcastProducts::LinearBackwardWeightScratch(const Tensor& dy, const Tensor& x,
                                                    bool accumulate) const {
  if (!IsBf16(dy)) return exact_.LinearBackwardWeightScratch(dy, x, accumulate);
  return MostOf(
      dy.shape().RowCount(), RowsAtOnce(x.shape().back(), dy.shape().back()), [&](int64_t rows) {
        UpcastTensors tensors(nullptr);
        const Tensor wide_dy = tensors.Take({rows, dy.shape().back()});
        const Tensor wide_x = tensors.Take({rows, x.shape().back()});
        const int64_t first = exact_.LinearBackwardWeightScratch(wide_dy, wide_x, accumulate);
        const int64_t next = exact_.LinearBackwardWeightScratch(wide_dy, wide_x, true);
        return tensors.bytes() + std::max(first, next);
      });
}

void UpcastProducts::LinearBackwardWeight(const Tensor& dy, const Tensor& x,
                                          const LinearWeight& dweight, const Tensor& dbias,
                                          bool accumulate, void* scratch) {
  if (!IsBf16(dy)) {
    return exact_.LinearBackwardWeight(dy, x, dweight, dbias, accumulate, scratch);
  }
  ForBlocks(dy.shape().RowCount(), RowsAtOnce(x.shape().back(), dy.shape().back()),
            [&](int64_t begin, int64_t count) {
              UpcastTensors tensors(scratch);
              const Tensor wide_dy = tensors.CastToF32(Rows(dy, begin, count));
              const Tensor wide_x = tensors.CastToF32(Rows(x, begin, count));
              exact_.LinearBackwardWeight(wide_dy, wide_x, dweight, dbias, accumulate || begin > 0,
                                          tensors.Rest());
            });
}

int64_t UpcastConvolutions::ForwardScratch(const ConvGeometry& g, DType dtype) const {
  if (dtype != DType::kBF16) return exact_.ForwardScratch(g, dtype);
  return MostOf(g.window.batch, ImagesAtOnce(g), [&](int64_t batch) {
    const ConvGeometry some = Images(g, batch);
    return UpcastBytes(some) + exact_.ForwardScratch(some, DType::kF32);
  });
}

void UpcastConvolutions::Forward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                                 const Tensor& bias, const Tensor& y, LinearEpilogue epilogue,
                                 void* scratch) {
  if (!IsBf16(x)) return exact_.Forward(g, x, weight, bias, y, epilogue, scratch);
  ForBlocks(g.window.batch, ImagesAtOnce(g), [&](int64_t begin, int64_t count) {
    UpcastTensors tensors(scratch);
    const Tensor wide_x = tensors.CastToF32(x.Narrow(begin, count));
    const Tensor some_y = y.Narrow(begin, count);
    const Tensor wide_y = tensors.Take(some_y.shape());
    exact_.Forward(Images(g, count), wide_x, weight, bias, wide_y, epilogue, tensors.Rest());
    DowncastInto(some_y, wide_y);
  });
}

int64_t UpcastConvolutions::BackwardDataScratch(const ConvGeometry& g, DType dtype) const {
  if (dtype != DType::kBF16) return exact_.BackwardDataScratch(g, dtype);
  return MostOf(g.window.batch, ImagesAtOnce(g), [&](int64_t batch) {
    const ConvGeometry some = Images(g, batch);
    return UpcastBytes(some) + exact_.BackwardDataScratch(some, DType::kF32);
  });
}

void UpcastConvolutions::BackwardData(const ConvGeometry& g, const Tensor& dy, const Tensor& weight,
                                      const Tensor& dx, void* scratch) {
  if (!IsBf16(dy)) return exact_.BackwardData(g, dy, weight, dx, scratch);
  ForBlocks(g.window.batch, ImagesAtOnce(g), [&](int64_t begin, int64_t count) {
    UpcastTensors tensors(scratch);
    const Tensor wide_dy = tensors.CastToF32(dy.Narrow(begin, count));
    const Tensor some_dx = dx.Narrow(begin, count);
    const Tensor wide_dx = tensors.Take(some_dx.shape());
    exact_.BackwardData(Images(g, count), wide_dy, weight, wide_dx, tensors.Rest());
    DowncastInto(some_dx, wide_dx);
  });
}

int64_t UpcastConvolutions::BackwardWeightScratch(const ConvGeometry& g, DType dtype, bool has_bias,
                                                  bool accumulate) const {
  if (dtype != DType::kBF16) return exact_.BackwardWeightScratch(g, dtype, has_bias, accumulate);
  return MostOf(g.window.batch, ImagesAtOnce(g), [&](int64_t batch) {
    const ConvGeometry some = Images(g, batch);
    const int64_t first = exact_.BackwardWeightScratch(some, DType::kF32, has_bias, accumulate);
    const int64_t next = exact_.BackwardWeightScratch(some, DType::kF32, has_bias, true);
    return UpcastBytes(some) + std::max(first, next);
  });
}

void UpcastConvolutions::BackwardWeight(const ConvGeometry& g, const Tensor& dy, const Tensor& x,
                                        const Tensor& dweight, const Tensor& dbias, bool accumulate,
                                        void* scratch) {
  if (!IsBf16(dy)) {
    return exact_.BackwardWeight(g, dy, x, dweight, dbias, accumulate, scratch);
  }
  ForBlocks(g.window.batch, ImagesAtOnce(g), [&](int64_t begin, int64_t count) {
    UpcastTensors tensors(scratch);
    const Tensor wide_dy = tensors.CastToF32(dy.Narrow(begin, count));
    const Tensor wide_x = tensors.CastToF32(x.Narrow(begin, count));
    exact_.BackwardWeight(Images(g, count), wide_dy, wide_x, dweight, dbias,
                          accumulate || begin > 0, tensors.Rest());
  });
}

}  // namespace frugal::onednn
