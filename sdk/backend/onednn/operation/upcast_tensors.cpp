#include "sdk/backend/onednn/operation/upcast_tensors.h"

#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::onednn {

using std::int64_t;

Block UpcastTensors::DoAllocate(int64_t bytes, MemoryTag tag) {
  void* const data = Rest();
  taken_ += bytes;
  return {this, data, bytes, tag};
}

void UpcastTensors::DoFree(Block& /*block*/) noexcept {}

Tensor UpcastTensors::Take(const Shape& shape) {
  return {*this, shape, DType::kF32, MemoryTag::kWorkspace};
}

Tensor UpcastTensors::CastToF32(const Tensor& bf16) {
  if (!bf16) return {};
  Tensor f32 = Take(bf16.shape());
  const simd::ConversionLoops& loops = simd::SelectLoops().conversion;
  eigen::ParallelFor(f32.size(), eigen::kChunk, [&](int64_t at, int64_t end) {
    loops.widen(bf16.data<BFloat16>() + at, f32.data<float>() + at, end - at);
  });
  return f32;
}

void DowncastInto(const Tensor& bf16, const Tensor& f32) {
  const simd::ConversionLoops& loops = simd::SelectLoops().conversion;
  eigen::ParallelFor(f32.size(), eigen::kChunk, [&](int64_t at, int64_t end) {
    loops.narrow(f32.data<float>() + at, bf16.data<BFloat16>() + at, end - at);
  });
}

}  // namespace frugal::onednn
