#pragma once

#include <memory>
#include <optional>

#include "sdk/autograd/context.h"
#include "sdk/memory/system_memory.h"
#include "sdk/module/parameter_store.h"

namespace frugal {

// A context of the reference backend in f64 with memory of its own, real or dry. Dry, it guards its
// thread against accesses to that memory (DryMemoryGuard).
class ReferenceContext {
 public:
  ReferenceContext(std::uint64_t seed, bool training, bool dry)
      : dry_(dry),
        step_memory_(ledger_, Upstream(), true),
        tensor_memory_(ledger_, Upstream(), false),
        backend_(MakeBackend(BackendKind::kEigen)),
        store_(tensor_memory_, ledger_, {.dtype = DType::kF64, .seed = seed, .dry = dry}),
        context_({.backend = *backend_,
                  .ledger = ledger_,
                  .step_memory = step_memory_,
                  .parameters = store_,
                  .dtype = DType::kF64,
                  .seed = seed,
                  .dry = dry}) {
    context_.set_training(training);
    if (dry) guard_.emplace(ledger_);
  }
  ReferenceContext(const ReferenceContext&) = delete;
  ReferenceContext& operator=(const ReferenceContext&) = delete;

  Context& context() { return context_; }
  bool dry() const { return dry_; }
  MemoryLedger& ledger() { return ledger_; }
  ParameterStore& store() { return store_; }

 private:
  Allocator& Upstream() {
    if (dry_) return null_;
    return heap_;
  }

  bool dry_;
  HeapAllocator heap_;
  NullAllocator null_;
  MemoryLedger ledger_;
  TrackedAllocator step_memory_;
  TrackedAllocator tensor_memory_;
  std::unique_ptr<Backend> backend_;
  ParameterStore store_;
  Context context_;
  std::optional<DryMemoryGuard> guard_;
};

}  // namespace frugal
