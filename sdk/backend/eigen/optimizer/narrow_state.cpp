#include "sdk/backend/eigen/optimizer/narrow_state.h"

namespace frugal::eigen {
namespace {

// The finalizer of SplitMix64 (Steele et al., OOPSLA 2014): a seed for each block.
std::uint32_t SeedOf(std::uint64_t key, std::int64_t block) {
  std::uint64_t x = key + static_cast<std::uint64_t>(block + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::uint32_t>(x >> 32);
}

}  // namespace

float* NarrowState::Scale(std::int64_t at) const {
  auto* bytes = tensor.data<std::uint8_t>() + StateScalesOffset(elements);
  return reinterpret_cast<float*>(bytes) + at / kStateBlock;
}

void NarrowState::Load(std::int64_t at, std::int64_t n, float* x) const {
  if (tensor.dtype() == DType::kBF16) return codec.widen(tensor.data<BFloat16>() + at, x, n);
  codec.decode(tensor.data<std::uint8_t>() + at, *Scale(at), sign, x, n);
}

void NarrowState::Store(std::int64_t at, std::int64_t n, const float* x) const {
  const std::uint32_t seed = SeedOf(key, at / kStateBlock);
  if (tensor.dtype() == DType::kBF16) return codec.narrow(x, seed, tensor.data<BFloat16>() + at, n);
  *Scale(at) = codec.encode(x, seed, sign, tensor.data<std::uint8_t>() + at, n);
}

}  // namespace frugal::eigen
