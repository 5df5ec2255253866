#pragma once

#include <string_view>

#include "sdk/core/registry.h"
#include "sdk/optim/optimizer_rule.h"

namespace frugal {

// Ours, and those that programs add: Optimizers().Add({.name = "sign", ...}), or RegisterOptimizer
// (builders/config/types/optimizer_registry.h) for a rule with options of its own. Threads: as
// Registry.
Registry<OptimizerRule>& Optimizers();

// Throws ConfigError where there is none of that name, with the names that there are.
const OptimizerRule& FindOptimizer(const OptimizerName& name);

// Returns how many state tensors a parameter has. Throws UsageError where they are too many.
std::size_t StateCountOf(const OptimizerRule& rule, const OptimizerOptions& options);

// Returns the struct of the rule's own options, the given one or the default one. Throws UsageError
// where the rule has others.
template <class T>
const T& OwnOptionsOf(const OptimizerOptions& options) {
  const OptimizerRule& rule = FindOptimizer(options.kind);
  const T* own = (options.options.empty() ? rule.options : options.options).template As<T>();
  if (own != nullptr) return *own;
  throw UsageError({.where = "optimizer " + rule.name,
                    .required = "a rule is registered with the struct of its options",
                    .given = "another one is asked for",
                    .advice = "name it in RegisterOptimizer<Options>"});
}

}  // namespace frugal
