#include "builders/config/optimizer_rules.h"

#include <algorithm>

#include "builders/config/owned_fields.h"
#include "builders/config/types/optimizer_registry.h"

namespace frugal {
namespace {

std::string KindGiven(const OptimizerOptions& options) {
  return "kind = \"" + options.kind.text() + "\"";
}

bool Reads(const OptimizerRule& rule, const std::string& key) {
  return std::ranges::find(rule.reads, key) != rule.reads.end();
}

template <class Condition>
std::vector<std::string> RulesThat(const Condition& condition) {
  std::vector<std::string> names;
  for (const OptimizerRule* rule : Optimizers().Rows()) {
    if (condition(*rule)) names.push_back(rule->name);
  }
  return names;
}

// The keys that some rules read, with these.
std::vector<OwnedField> FieldsInUse(const OptimizerOptions& options) {
  const OptimizerOptions defaults;
  std::vector<OwnedField> fields = {
      {"momentum", options.momentum != defaults.momentum, {}},
      {"nesterov", options.nesterov, {}},
      {"beta1", options.beta1 != defaults.beta1, {}},
      {"beta2", options.beta2 != defaults.beta2, {}},
      {"alpha", options.alpha != defaults.alpha, {}},
      {"rho", options.rho != defaults.rho, {}},
      {"rate_decay", options.rate_decay != defaults.rate_decay, {}},
      {"momentum_decay", options.momentum_decay != defaults.momentum_decay, {}},
      {"eps", options.eps.has_value(), {}}};
  for (OwnedField& field : fields) {
    field.owners = RulesThat([&](const OptimizerRule& rule) { return Reads(rule, field.key); });
  }
  return fields;
}

// The tables of rules with options of their own.
std::vector<OwnedField> TablesOfRules() {
  std::vector<OwnedField> tables;
  for (const OwnFields* own : OptimizerOptionFields().Rows()) {
    tables.push_back({own->name, false, {own->name}});
  }
  return tables;
}

void CheckNesterov(const RunConfig& config, Diagnostics& diagnostics) {
  const OptimizerOptions& options = config.optimizer;
  if (!options.nesterov || options.momentum != 0) return;
  diagnostics.Add(config.origins.PlaceOf("optimizer.nesterov"),
                  {.where = "optimizer",
                   .required = "nesterov needs a momentum above 0",
                   .given = KindGiven(options),
                   .advice = "set momentum, e.g. 0.9"});
}

// Only rules whose state may be rounded have kernels for it, and only in f32.
void CheckState(const RunConfig& config, const OptimizerRule& rule, Diagnostics& diagnostics) {
  const OptimizerOptions& options = config.optimizer;
  if (options.state == StateFormat::kF32) return;
  const auto refuse = [&](const std::string& required, const std::string& given,
                          const std::string& advice) {
    diagnostics.Add(config.origins.PlaceOf("optimizer.state"),
                    {.where = "optimizer", .required = required, .given = given, .advice = advice});
  };
  const std::string format = "state = \"" + std::string(NameOf(options.state)) + "\"";
  if (!rule.narrow_state) {
    refuse(format + " belongs to " +
               ListOf(RulesThat([](const OptimizerRule& other) { return other.narrow_state; })),
           KindGiven(options), "leave it out, or change the kind");
  } else if (StateCountOf(rule, options) == 0 && Reads(rule, "momentum")) {
    refuse(format + " needs a momentum above 0: there is no state without",
           KindGiven(options) + " and momentum = 0", "set momentum, e.g. 0.9, or leave state out");
  } else if (config.training.precision == Precision::kF64) {
    refuse(format + " is rounded from f32", "precision = \"f64\"",
           "set precision = \"f32\", or leave state out");
  }
}

void CheckLrMultiplier(const RunConfig& config, Diagnostics& diagnostics) {
  const OptimizerOptions& options = config.optimizer;
  const bool changed = options.lr_multiplier != OptimizerOptions().lr_multiplier;
  if (!options.lr_multiplier_for.empty() || !IsMeant(config, "optimizer", "lr_multiplier", changed))
    return;
  diagnostics.Add(
      config.origins.PlaceOf("optimizer.lr_multiplier"),
      {.where = "optimizer",
       .required = "lr_multiplier is about the paths in lr_multiplier_for",
       .given = "lr_multiplier_for names none",
       .advice = "set lr_multiplier_for, e.g. to [\"layer4\"], or leave lr_multiplier out"});
}

}  // namespace

void CheckOptimizer(const RunConfig& config, Diagnostics& diagnostics) {
  const OptimizerOptions& options = config.optimizer;
  const OptimizerRule* rule = Optimizers().Find(options.kind.text());
  if (rule == nullptr) return;  // which the field's choices refuse
  CheckOwnedFields(config, {.section = "optimizer", .kind = rule->name, .quotes_owners = false},
                   FieldsInUse(options), diagnostics);
  const std::size_t before = diagnostics.size();
  CheckOwnedFields(config, {.section = "optimizer", .kind = rule->name, .owner = "kind = "},
                   TablesOfRules(), diagnostics);
  if (diagnostics.size() == before) {
    CheckOwnOptions(config,
                    {.section = "optimizer",
                     .owner = "the rule that kind names",
                     .given = KindGiven(options),
                     .defaults = rule->options},
                    options.options, diagnostics);
  }
  if (Reads(*rule, "nesterov")) CheckNesterov(config, diagnostics);
  CheckState(config, *rule, diagnostics);
  CheckLrMultiplier(config, diagnostics);
}

}  // namespace frugal
