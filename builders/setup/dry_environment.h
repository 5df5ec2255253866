#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sdk/autograd/activation_pager.h"
#include "sdk/autograd/context.h"
#include "sdk/memory/dry_memory.h"
#include "sdk/memory/system_memory.h"
#include "sdk/module/parameter_store.h"

namespace frugal {

struct DryOptions {
  LabelTable::Keeps names = LabelTable::Keeps::kAll;  // of who holds memory
  bool step_gradients = false;                        // gradients come from the step's memory
  const ParameterShards* shards = nullptr;            // those of one of several replicas
  ParameterPaging paging{};                           // by a pager that only counts
};

// Everything a step touches, without storage: addresses that lead nowhere, kernels that do not run.
class DryEnvironment {
 public:
  DryEnvironment(Backend& backend, DType dtype, const DryOptions& options = {})
      : ledger_(options.names),
        tensors_(ledger_, null_, false),
        step_(ledger_, null_, true),
        store_(tensors_, ledger_,
               {.dtype = MasterType(dtype),
                .dry = true,
                .step_memory = &step_,
                .step_gradients = options.step_gradients,
                .shards = options.shards,
                .paging = WithPager(options.paging)}),
        context_({.backend = backend,
                  .ledger = ledger_,
                  .step_memory = step_,
                  .parameters = store_,
                  .dtype = dtype,
                  .dry = true}) {}

  MemoryLedger& ledger() { return ledger_; }
  Allocator& tensor_memory() { return tensors_; }
  ParameterStore& store() { return store_; }
  Context& context() { return context_; }
  TensorPager& pager() { return pager_; }
  // Returns who keeps what of the last part of a batch in the page file, largest first.
  std::vector<Holder> PagedActivations() {
    std::vector<Holder> holders;
    if (!activation_pager_) return holders;
    for (const auto& [label, bytes] : activation_pager_->paged()) {
      holders.push_back({ledger_.labels().NameOf(label), MemoryTag::kActivation, bytes});
    }
    return MergeHolders(std::move(holders));
  }
  // Counts that activations are paged too.
  void PageActivations(std::int64_t most_bytes, std::int64_t least_bytes) {
    activation_pager_.emplace(pager_, most_bytes, least_bytes);
    context_.set_activation_pager(&*activation_pager_);
  }

 private:
  ParameterPaging WithPager(ParameterPaging paging) {
    paging.pager = &pager_;
    return paging;
  }

  NullAllocator null_;
  DryPager pager_;
  MemoryLedger ledger_;
  DryMemoryGuard guard_{ledger_};
  TrackedAllocator tensors_;
  TrackedAllocator step_;
  ParameterStore store_;
  Context context_;
  std::optional<ActivationPager> activation_pager_;
};

}  // namespace frugal
