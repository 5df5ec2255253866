#pragma once

#include <string>
#include <utility>
#include <vector>

#include "builders/config/types/own_options_field.h"
#include "presets/config/make_field.h"
#include "sdk/optim/optimizer_registry.h"

namespace frugal {

// The options of rules that have some of their own.
Registry<OwnFields>& OptimizerOptionFields();

// The fields of OptimizerOptions: those of [optimizer], with a table for each rule that has options
// of its own: [optimizer.lion].
const FieldTable& OptimizerFields();

// Throws UsageError where a key of [optimizer] has this name.
void RequireOwnTableName(const std::string& rule);

// Makes an update rule of the program's own known by name, with a struct of options of its own: to
// TOML, to the schema, and to messages. To be called before configurations are read. Throws
// UsageError where the name is taken, by a rule or by a key of [optimizer]. A rule without such
// options needs no more than Optimizers().Add(rule).
//
//   struct LionOptions { double beta1 = 0.9; };
//   RegisterOptimizer<LionOptions>(
//       {.name = "lion", .states = [](const OptimizerOptions&) { return 1; }, .update = RunLion},
//       {MakeField("beta1", &LionOptions::beta1, "Share of the momentum in the update.")});
//
//   [optimizer]                     builder.Optimizer({.kind = "lion", .lr = 1e-4,
//   kind = "lion"                                      .options = LionOptions{.beta1 = 0.95}});
//   lr = 1e-4
//   lion.beta1 = 0.95
//
// OwnOptionsOf<LionOptions>(options) gives RunLion what was chosen.
template <class Options>
const OptimizerRule& RegisterOptimizer(OptimizerRule rule, std::vector<Field> fields) {
  RequireOwnTableName(rule.name);
  rule.options = Options();
  const OptimizerRule& added = Optimizers().Add(std::move(rule));
  OptimizerOptionFields().Add({.name = added.name,
                               .defaults = Options(),
                               .fields = MakeFieldTable<Options>(added.name, std::move(fields))});
  return added;
}

}  // namespace frugal
