#include "sdk/backend/onednn/operation/separate_activation.h"

#include <utility>

#include "sdk/backend/common/activation_range.h"
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/operation/element_type.h"
#include "sdk/backend/onednn/simd/loops.h"

namespace frugal::onednn {
namespace {

bool LosesNaN(Activation activation) {
  if (activation == Activation::kRelu) return true;
  return activation == Activation::kSigmoid &&
         simd::BestInstructionSet() == simd::InstructionSet::kBaseline;
}

// y[i] = activation(y[i])
void Activate(const LinearEpilogue& epilogue, BFloat16* y, std::int64_t count) {
  const auto kind = static_cast<std::size_t>(epilogue.activation);
  const auto loop = simd::SelectLoops().bf16.elementwise.activation_forward[kind];
  loop(y, static_cast<float>(epilogue.parameter), y, count);
}
void Activate(const LinearEpilogue& epilogue, float* y, std::int64_t count) {
  const auto kind = static_cast<std::size_t>(epilogue.activation);
  const auto loop = simd::SelectLoops().f32.elementwise.activation_forward[kind];
  if (loop != nullptr) return loop(y, static_cast<float>(epilogue.parameter), y, count);
  eigen::ActivateRange(epilogue.activation, epilogue.parameter, y, y, count);
}

class SeparateActivation final : public Operation {
 public:
  SeparateActivation(std::unique_ptr<Operation> before, const LinearEpilogue& epilogue,
                     std::int64_t size, DType dtype)
      : before_(std::move(before)), epilogue_(epilogue), size_(size), dtype_(dtype) {}

  std::int64_t ScratchBytes() const override { return before_->ScratchBytes(); }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    before_->Run(arguments, scratch);
    void* const y = DataOf(arguments, Slot::kDestination);
    WithElement(dtype_, [&]<class T>() {
      eigen::ParallelFor(size_, eigen::kChunk, [&](std::int64_t begin, std::int64_t end) {
        Activate(epilogue_, static_cast<T*>(y) + begin, end - begin);
      });
    });
  }

 private:
  std::unique_ptr<Operation> before_;
  LinearEpilogue epilogue_;
  std::int64_t size_;  // elements of the destination
  DType dtype_;
};

// Describes what an epilogue's activation is applied to.
struct Destination {
  LinearEpilogue* epilogue = nullptr;
  std::int64_t size = 0;
  DType dtype = DType::kF32;
};

Destination DestinationOf(Description& description) {
  if (auto* d = std::get_if<LinearDescription>(&description)) {
    return {&d->epilogue, d->rows * d->outputs, DType::kF32};
  }
  if (auto* d = std::get_if<PackedLinearDescription>(&description)) {
    return {&d->epilogue, d->rows * d->outputs, DType::kBF16};
  }
  if (auto* d = std::get_if<ConvDescription>(&description)) {
    const ConvGeometry& g = d->geometry;
    return {&d->epilogue, g.window.batch * g.window.OutputSize() * g.output_channels, d->dtype};
  }
  return {};
}

using Maker = std::function<std::unique_ptr<Operation>(const Description&)>;

std::unique_ptr<Operation> Separate(const Description& description, const Maker& make,
                                    bool (*separates)(Activation)) {
  Description linear = description;
  const Destination y = DestinationOf(linear);
  if (y.epilogue == nullptr || !separates(y.epilogue->activation)) return make(linear);
  const LinearEpilogue epilogue = std::exchange(*y.epilogue, {});
  auto before = make(linear);
  if (before == nullptr) return nullptr;
  return std::make_unique<SeparateActivation>(std::move(before), epilogue, y.size, y.dtype);
}

}  // namespace

std::unique_ptr<Operation> WithSeparateActivation(const Description& description,
                                                  const Maker& make) {
  return Separate(description, make, LosesNaN);
}

std::unique_ptr<Operation> WithActivationBehind(const Description& description, const Maker& make) {
  return Separate(description, make,
                  [](Activation activation) { return activation != Activation::kIdentity; });
}

}  // namespace frugal::onednn
