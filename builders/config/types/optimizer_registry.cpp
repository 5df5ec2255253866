#include "builders/config/types/optimizer_registry.h"

#include "presets/config/make_field.h"

namespace frugal {
namespace {

Field RuleField() {
  Field field;
  field.name = "kind";
  field.doc = "The update rule.";
  field.kind = ValueKind::kChoice;
  field.choices = Optimizers().Names();
  field.get = [](const void* object) {
    return Value{static_cast<const OptimizerOptions*>(object)->kind.text()};
  };
  field.set = [](void* object, const Value& value) {
    static_cast<OptimizerOptions*>(object)->kind = std::get<std::string>(value);
  };
  return field;
}

Field StateField() {
  Choices<StateFormat> formats;
  for (const StateFormat format : {StateFormat::kF32, StateFormat::kBF16, StateFormat::k8Bit}) {
    formats.emplace_back(NameOf(format), format);
  }
  return MakeChoice(
      "state", &OptimizerOptions::state,
      "SGD with momentum, Adam, AdamW: the type that momentum and moments are kept in.", formats);
}

// The keys that all rules share, and those that several read.
std::vector<Field> SharedFields() {
  return {
      RuleField(),
      MakeField("lr", &OptimizerOptions::lr, "Learning rate, before the schedule.", {.min = 0}),
      MakeField("momentum", &OptimizerOptions::momentum,
                "SGD, RMSprop: share of the last update kept.",
                {.min = 0, .max = 1, .max_exclusive = true}),
      MakeField("nesterov", &OptimizerOptions::nesterov, "SGD: Nesterov's momentum."),
      MakeField("beta1", &OptimizerOptions::beta1, "Adam: decay of the first moment.",
                {.min = 0, .max = 1, .max_exclusive = true}),
      MakeField("beta2", &OptimizerOptions::beta2, "Adam: decay of the second moment.",
                {.min = 0, .max = 1, .max_exclusive = true}),
      MakeField("alpha", &OptimizerOptions::alpha, "RMSprop: decay of the mean square.",
                {.min = 0, .max = 1, .max_exclusive = true}),
      MakeField("rho", &OptimizerOptions::rho, "Adadelta: decay of both means.",
                {.min = 0, .max = 1, .max_exclusive = true}),
      MakeField("rate_decay", &OptimizerOptions::rate_decay,
                "Adagrad: the rate falls with 1 / (1 + step * rate_decay).", {.min = 0}),
      MakeField("momentum_decay", &OptimizerOptions::momentum_decay,
                "NAdam: how fast the momentum grows to beta1.", {.min = 0}),
      MakeField("eps", &OptimizerOptions::eps,
                "Added to the denominator; none: as the rule's authors and PyTorch have it.",
                {.min = 0, .min_exclusive = true}),
      MakeField("weight_decay", &OptimizerOptions::weight_decay,
                "Pull towards zero; AdamW applies it apart from the gradient.", {.min = 0}),
      MakeField("decay_vectors", &OptimizerOptions::decay_vectors,
                "Weight decay of vectors too: biases, scales of norms."),
      StateField(),
      MakeField("ema_decay", &OptimizerOptions::ema_decay,
                "Above 0: a moving average of the weights is kept, and used outside of training.",
                {.min = 0, .max = 1, .max_exclusive = true, .formerly = "average_decay"}),
      MakeField("lr_multiplier_for", &OptimizerOptions::lr_multiplier_for,
                "Parameters under these paths learn at lr_multiplier times the rate.",
                {.formerly = "slow"}),
      MakeField("lr_multiplier", &OptimizerOptions::lr_multiplier,
                "Share of the rate for the paths in lr_multiplier_for.",
                {.min = 0,
                 .max = 1,
                 .min_exclusive = true,
                 .max_exclusive = true,
                 .formerly = "slow_factor"})};
}

FieldTable MakeOptimizerFields() {
  std::vector<Field> fields = SharedFields();
  for (const OwnFields* own : OptimizerOptionFields().Rows()) {
    fields.push_back(OwnOptionsField<OptimizerOptions>(
        *own, &OptimizerOptions::options,
        [name = own->name](const OptimizerOptions& options) { return options.kind == name; }));
  }
  return MakeFieldTable<OptimizerOptions>("optimizer", std::move(fields));
}

}  // namespace

Registry<OwnFields>& OptimizerOptionFields() {
  static Registry<OwnFields> rows("optimizer", {});
  return rows;
}

const FieldTable& OptimizerFields() {
  static GrowingFields fields(MakeOptimizerFields);
  return fields.At(Optimizers().Rows().size() + OptimizerOptionFields().Rows().size());
}

void RequireOwnTableName(const std::string& rule) {
  RequireTableName(rule, SharedFields(), {"RegisterOptimizer", "optimizer"});
}

}  // namespace frugal
