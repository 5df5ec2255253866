#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "sdk/capture/calls/call.h"
#include "tests/support/tensors.h"

// A call of each kernel with random numbers in it, small and of uneven sizes.
namespace frugal::testing {

// Draws tensors, each from a stream of its own.
class CallDraw {
 public:
  explicit CallDraw(std::uint64_t seed) : seed_(seed * 1000) {}
  Tensor Real(const Shape& shape, double low = -1, double high = 1) {
    return RandomTensor(shape, ++seed_, DType::kF32, low, high);
  }
  Tensor Positive(const Shape& shape) { return Real(shape, 0.1, 1); }
  Tensor Labels(const Shape& shape, std::int64_t classes) {
    return RandomTensor(shape, ++seed_, DType::kI64, 0, static_cast<double>(classes) - 1e-3);
  }
  static Tensor Out(const Shape& shape) { return Uninitialized(shape); }
  std::int64_t Extent(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(UniformAt(++seed_, 0) * static_cast<double>(high - low));
  }

 private:
  std::uint64_t seed_;
};

using CallMaker = std::function<std::unique_ptr<Call>(CallDraw&)>;
struct CallCase {
  std::string_view name;
  CallMaker make;
};

// Makes a case: `fill(call, draw)` gives it tensors.
template <class T, class Fill>
CallCase CaseOf(const Fill& fill) {
  return {T::kName, [fill](CallDraw& draw) {
            auto call = std::make_unique<T>();
            fill(*call, draw);
            return call;
          }};
}

std::vector<CallCase> ProductCallCases();
std::vector<CallCase> WindowCallCases();
std::vector<CallCase> NormCallCases();
std::vector<CallCase> LossCallCases();
std::vector<CallCase> UpdateCallCases();
std::vector<CallCase> ArrayCallCases();
std::vector<CallCase> SequenceCallCases();

inline std::vector<CallCase> AllCallCases() {
  std::vector<CallCase> all;
  for (const auto& family :
       {ProductCallCases(), WindowCallCases(), NormCallCases(), LossCallCases(), UpdateCallCases(),
        ArrayCallCases(), SequenceCallCases()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace frugal::testing
