#include "sdk/optim/optimizer_registry.h"

#include "sdk/core/error.h"
#include "sdk/optim/built_in_rules.h"

namespace frugal {

Registry<OptimizerRule>& Optimizers() {
  static Registry<OptimizerRule> rules("optimizer", BuiltInRules());
  return rules;
}

const OptimizerRule& FindOptimizer(const OptimizerName& name) {
  if (const OptimizerRule* rule = Optimizers().Find(name.text())) return *rule;
  std::string names;
  for (const std::string& known : Optimizers().Names()) {
    names += (names.empty() ? "" : ", ") + known;
  }
  throw ConfigError({.where = "optimizer",
                     .required = "kind is one of " + names,
                     .given = "\"" + name.text() + "\" is none",
                     .advice = "correct the name, or register a rule of your own with "
                               "Optimizers().Add or RegisterOptimizer"});
}

std::size_t StateCountOf(const OptimizerRule& rule, const OptimizerOptions& options) {
  const std::size_t count = rule.states ? rule.states(options) : 0;
  if (count <= OptimizerRule::kMostStates) return count;
  throw UsageError({.where = "optimizer " + rule.name,
                    .required = "a rule has at most " + std::to_string(OptimizerRule::kMostStates) +
                                " state tensors for a parameter",
                    .given = "it asks for " + std::to_string(count),
                    .advice = "keep fewer"});
}

}  // namespace frugal
