#pragma once

#include <memory>
#include <random>

#include "sdk/backend/backend.h"
#include "tests/support/tensors.h"

// The tests of the fast backend share these: both backends, random sizes, and scratch that shows
// when a kernel writes past what it asked for.
namespace frugal::testing {

struct Backends {
  std::unique_ptr<Backend> fast = MakeOneDnnBackend();
  std::unique_ptr<Backend> reference = MakeEigenBackend();
};

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool Flip() { return Between(0, 1) == 1; }
  std::uint64_t Seed() { return engine_(); }

 private:
  std::mt19937 engine_;
};

// `bytes` of scratch full of NaN, with a guard behind.
class Scratch {
 public:
  explicit Scratch(std::int64_t bytes)
      : bytes_(bytes), memory_(Full({bytes + kGuard}, 255, DType::kU8)) {}
  void* get() const { return memory_.raw(); }
  bool GuardIsIntact() const {
    const auto bytes = memory_.values<std::uint8_t>();
    return std::all_of(bytes.begin() + bytes_, bytes.end(), [](auto b) { return b == 255; });
  }

 private:
  static constexpr std::int64_t kGuard = 256;
  std::int64_t bytes_;
  Tensor memory_;
};

inline Tensor Clone(const Tensor& tensor) {
  Tensor copy = Uninitialized(tensor.shape(), tensor.dtype());
  if (tensor.bytes() == 0) return copy;  // memcpy takes no null pointer
  std::memcpy(copy.raw(), tensor.raw(), static_cast<std::size_t>(tensor.bytes()));
  return copy;
}

inline constexpr double kForward = 1e-5;  // relative norm of the difference
inline constexpr double kGradient = 1e-4;
inline constexpr int kRepeats = 20;

}  // namespace frugal::testing
