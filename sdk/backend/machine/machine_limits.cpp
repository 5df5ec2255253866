#include "sdk/backend/machine/machine_limits.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/onednn/choose_operation.h"
#include "sdk/backend/onednn/operation/operation.h"
#include "sdk/core/seconds_since.h"
#include "sdk/memory/system_memory.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

template <class Body>
double MedianSeconds(double seconds, const Body& body) {
  body();  // makes the primitive and touches the memory
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 3 || SecondsSince(start) < seconds) {
    const auto begin = Clock::now();
    body();
    times.push_back(SecondsSince(begin));
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// Bytes that are an ordinary number (0.75) in f32 and in bf16.
Tensor Written(HeapAllocator& heap, const Shape& shape, DType dtype) {
  Tensor tensor(heap, shape, dtype, MemoryTag::kWorkspace);
  if (tensor.bytes() > 0) std::memset(tensor.raw(), 0x3f, static_cast<std::size_t>(tensor.bytes()));
  return tensor;
}

bool HasProduct(DType dtype) {
  return dtype == DType::kF32 || (dtype == DType::kBF16 && simd::HasFastBf16Products());
}

struct ProductShape {
  std::int64_t rows, inputs, outputs;
};

// oneDNN's product, not ours where that is faster: what a limit means shall not change with it.
class LimitProduct {
 public:
  LimitProduct(Backend& backend, const ProductShape& shape, DType dtype)
      : product_(backend.product()),
        x_(Written(heap_, {shape.rows, shape.inputs}, dtype)),
        weight_(Written(heap_, {shape.outputs, shape.inputs}, DType::kF32)),
        y_(Written(heap_, {shape.rows, shape.outputs}, dtype)) {
    if (dtype == DType::kBF16) {
      onednn::PackedLinearDescription description;
      description.rows = shape.rows;
      description.inputs = shape.inputs;
      description.outputs = shape.outputs;
      packed_ = onednn::MakePrimitive(description);
      weight_.packed = Written(heap_, {product_.PackedWeightBytes(weight_)}, DType::kU8);
      product_.PackWeight(weight_, weight_.packed);
    }
    const std::int64_t bytes =
        packed_ ? packed_->ScratchBytes() : product_.LinearForwardScratch(x_, weight_);
    scratch_ = Written(heap_, {bytes}, DType::kU8);
  }

  void Run() {
    if (!packed_) return product_.LinearForward(x_, weight_, {}, {}, y_, {}, scratch_.raw());
    packed_->Run({{onednn::Slot::kSource, x_.raw()},
                  {onednn::Slot::kWeight, weight_.packed.raw()},
                  {onednn::Slot::kDestination, y_.raw()}},
                 scratch_.raw());
  }

 private:
  HeapAllocator heap_;
  ProductKernels& product_;
  std::unique_ptr<onednn::Operation> packed_;  // of bf16
  Tensor x_;
  LinearWeight weight_;
  Tensor y_, scratch_;
};

double ProductRate(Backend& backend, const ProductShape& shape, DType dtype, double seconds) {
  LimitProduct product(backend, shape, dtype);
  const double each = MedianSeconds(seconds, [&] { product.Run(); });
  return 2 * static_cast<double>(shape.rows * shape.inputs) * static_cast<double>(shape.outputs) /
         each;
}

}  // namespace

double MeasureProductLimit(DType dtype, double seconds) {
  const auto backend = MakeBackend(BackendKind::kOneDnn);
  if (!HasProduct(dtype)) return 0;
  double best = 0;
  for (const ProductShape& shape :
       {ProductShape{4096, 384, 1536}, {1024, 768, 3072}, {2048, 1024, 1024}}) {
    best = std::max(best, ProductRate(*backend, shape, dtype, seconds));
  }
  return best;
}

double MeasureCopyLimit(double seconds) {
  constexpr std::int64_t kElements = std::int64_t{32} << 20;  // far more than caches hold
  const auto backend = MakeBackend(BackendKind::kOneDnn);
  HeapAllocator heap;
  const Tensor from = Written(heap, {kElements}, DType::kF32);
  const Tensor to = Written(heap, {kElements}, DType::kF32);
  const double each = MedianSeconds(seconds, [&] { backend->elementwise().Copy(from, to); });
  return static_cast<double>(from.bytes() + to.bytes()) / each;
}

MachineLimits MeasureMachineLimits() {
  constexpr double kSeconds = 0.08;  // of each of seven
  return {.product_f32 = MeasureProductLimit(DType::kF32, kSeconds),
          .product_bf16 = MeasureProductLimit(DType::kBF16, kSeconds),
          .copy = MeasureCopyLimit(kSeconds)};
}

}  // namespace frugal
