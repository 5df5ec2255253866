#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/memory/system_memory.h"
#include "sdk/module/parameter_store.h"

namespace frugal::testing {

// Says which kernels and element type a test runs with.
struct EnvironmentKind {
  BackendKind backend = BackendKind::kEigen;
  DType dtype = DType::kF64;
  bool dry = false;
};

inline std::string ToString(const EnvironmentKind& kind) {
  return std::string(NameOf(kind.backend)) + " " + std::string(NameOf(kind.dtype)) +
         (kind.dry ? " dry" : "");
}
inline std::ostream& operator<<(std::ostream& out, const EnvironmentKind& kind) {
  return out << ToString(kind);
}

inline constexpr EnvironmentKind kReferenceF64{BackendKind::kEigen, DType::kF64};
inline constexpr EnvironmentKind kReferenceF32{BackendKind::kEigen, DType::kF32};
inline constexpr EnvironmentKind kOneDnnF32{BackendKind::kOneDnn, DType::kF32};
inline constexpr EnvironmentKind kOneDnnBf16{BackendKind::kOneDnn, DType::kBF16};
inline std::vector<EnvironmentKind> AllEnvironments() {
  return {kReferenceF64, kReferenceF32, kOneDnnF32};
}

// Everything that operations reach for, real or dry, in training mode.
class TestEnvironment {
 public:
  explicit TestEnvironment(const EnvironmentKind& kind, std::uint64_t seed = 7)
      : kind_(kind),
        step_memory_(ledger_, Upstream(), true),
        tensor_memory_(ledger_, Upstream(), false),
        backend_(MakeBackend(kind.backend)),
        store_(tensor_memory_, ledger_,
               {.dtype = MasterType(kind.dtype), .seed = seed, .dry = kind.dry}),
        context_({.backend = *backend_,
                  .ledger = ledger_,
                  .step_memory = step_memory_,
                  .parameters = store_,
                  .dtype = kind.dtype,
                  .seed = seed,
                  .dry = kind.dry}) {
    context_.set_training(true);
  }
  TestEnvironment(const TestEnvironment&) = delete;
  TestEnvironment& operator=(const TestEnvironment&) = delete;

  const EnvironmentKind& kind() const { return kind_; }
  DType dtype() const { return kind_.dtype; }
  HeapAllocator& heap() { return heap_; }
  MemoryLedger& ledger() { return ledger_; }
  Backend& backend() { return *backend_; }
  ParameterStore& store() { return store_; }
  Context& context() { return context_; }

 private:
  Allocator& Upstream() {
    if (kind_.dry) return null_;
    return heap_;
  }

  EnvironmentKind kind_;
  HeapAllocator heap_;
  NullAllocator null_;
  MemoryLedger ledger_;
  TrackedAllocator step_memory_;
  TrackedAllocator tensor_memory_;
  std::unique_ptr<Backend> backend_;
  ParameterStore store_;
  Context context_;
};

}  // namespace frugal::testing
