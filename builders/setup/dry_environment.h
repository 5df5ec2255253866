#pragma once

#include "sdk/autograd/context.h"
#include "sdk/memory/dry_memory.h"
#include "sdk/memory/system_memory.h"
#include "sdk/module/parameter_store.h"

namespace frugal {

// Everything a step touches, without storage: addresses that lead nowhere, kernels that do not run.
class DryEnvironment {
 public:
  // `step_gradients`: gradients come from the step's memory. `shards` are those of one of several
  // replicas.
  DryEnvironment(Backend& backend, DType dtype, std::uint64_t seed = 0, bool step_gradients = false,
                 const ParameterShards* shards = nullptr)
      : tensors_(ledger_, null_, false),
        step_(ledger_, null_, true),
        store_(tensors_, ledger_,
               {.dtype = MasterType(dtype),
                .seed = seed,
                .dry = true,
                .step_memory = &step_,
                .step_gradients = step_gradients,
                .shards = shards}),
        context_({.backend = backend,
                  .ledger = ledger_,
                  .step_memory = step_,
                  .parameters = store_,
                  .dtype = dtype,
                  .seed = seed,
                  .dry = true}) {}

  MemoryLedger& ledger() { return ledger_; }
  Allocator& tensor_memory() { return tensors_; }
  ParameterStore& store() { return store_; }
  Context& context() { return context_; }

 private:
  NullAllocator null_;
  MemoryLedger ledger_;
  DryMemoryGuard guard_{ledger_};
  TrackedAllocator tensors_;
  TrackedAllocator step_;
  ParameterStore store_;
  Context context_;
};

}  // namespace frugal
