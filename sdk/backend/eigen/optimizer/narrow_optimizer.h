#pragma once

#include "sdk/backend/common/dispatch.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/eigen/optimizer/narrow_state.h"
#include "sdk/backend/optimizer_kernels.h"

// Updates with narrow state: block by block it is widened, updated by a backend's f32 loop, and
// narrowed, all within the first-level cache.
namespace frugal::eigen {

static_assert(kChunk % kStateBlock == 0);

// body(at, n) for each block.
template <class Body>
void ForStateBlocks(std::int64_t elements, const Body& body) {
  ParallelFor(elements, kChunk, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kStateBlock) {
      body(at, std::min(kStateBlock, end - at));
    }
  });
}

// update(gradient, momentum, parameter, n)
template <class Update>
void NarrowSgd(const StateCodec& codec, const SgdArguments& arguments, const Tensor& gradient,
               const Tensor& momentum, const Tensor& parameter, const Update& update) {
  if (parameter.dtype() != DType::kF32) ThrowUnsupported("narrow state", parameter.dtype());
  const std::int64_t size = parameter.size();
  const NarrowState state{codec, momentum, StateSign::kSigned, arguments.noise_key, size};
  ForStateBlocks(size, [&](std::int64_t at, std::int64_t n) {
    float buffer[kStateBlock];
    state.Load(at, n, buffer);
    update(gradient.data<float>() + at, buffer, parameter.data<float>() + at, n);
    state.Store(at, n, buffer);
  });
}

// update(gradient, first, second, parameter, n)
template <class Update>
void NarrowAdam(const StateCodec& codec, const AdamArguments& arguments, const Tensor& gradient,
                const Tensor& first_moment, const Tensor& second_moment, const Tensor& parameter,
                const Update& update) {
  if (parameter.dtype() != DType::kF32) ThrowUnsupported("narrow state", parameter.dtype());
  const std::int64_t size = parameter.size();
  const std::uint64_t key = arguments.noise_key;
  const NarrowState first{codec, first_moment, StateSign::kSigned, key, size};
  const NarrowState second{codec, second_moment, StateSign::kUnsigned, key + 1, size};
  ForStateBlocks(size, [&](std::int64_t at, std::int64_t n) {
    float m[kStateBlock];
    float v[kStateBlock];
    first.Load(at, n, m);
    second.Load(at, n, v);
    update(gradient.data<float>() + at, m, v, parameter.data<float>() + at, n);
    first.Store(at, n, m);
    second.Store(at, n, v);
  });
}

}  // namespace frugal::eigen
