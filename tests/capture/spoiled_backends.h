#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "sdk/autograd/context.h"
#include "sdk/capture/call_description.h"
#include "sdk/capture/recorder/capturing_backend.h"
#include "sdk/memory/system_memory.h"
#include "sdk/module/parameter_store.h"

namespace frugal::testing {

// Spoils one element, the largest, of what one kernel makes.
class Spoiler final : public CallSink {
 public:
  explicit Spoiler(std::string kernel) : kernel_(std::move(kernel)) {}
  bool Wants(const Call& call, const CallPlace&) override { return call.name() == kernel_; }
  void Before(Call&, const CallPlace&) override {}
  void After(Call& call, const CallPlace&) override {
    for (const CallBuffer& buffer : Describe(call).buffers) {
      if (!buffer.written || buffer.dtype != DType::kF32) continue;
      const std::span<float> values = buffer.tensor.values<float>();
      const auto largest = std::ranges::max_element(
          values, {}, [](float x) { return std::isfinite(x) ? std::abs(x) : -1; });
      *largest += 0.02F * *largest;
      return;
    }
  }

 private:
  std::string kernel_;
};

// Makes backends that are spoiled so. It must outlive them.
class SpoiledBackends {
 public:
  explicit SpoiledBackends(std::string kernel) : spoiler_(std::move(kernel)) {}

  std::function<std::unique_ptr<Backend>(BackendKind)> Maker() {
    return [this](BackendKind kind) {
      auto backend = std::make_unique<CapturingBackend>(MakeBackend(kind), spoiler_);
      context_ = std::make_unique<Context>(Context::Parts{
          .backend = *backend, .ledger = ledger_, .step_memory = heap_, .parameters = store_});
      context_->set_training(true);
      backend->SetContext(context_.get());
      return backend;
    };
  }

 private:
  Spoiler spoiler_;
  HeapAllocator heap_;
  MemoryLedger ledger_;
  ParameterStore store_{heap_, ledger_, {}};
  std::unique_ptr<Context> context_;
};

}  // namespace frugal::testing
