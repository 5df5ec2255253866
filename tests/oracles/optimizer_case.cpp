#include "tests/oracles/optimizer_case.h"

#include <nlohmann/json.hpp>

#include "sdk/core/error.h"
#include "tests/support/tensors.h"

namespace frugal::oracles {
namespace {

[[noreturn]] void Refuse(const WeightSource& source, const std::string& required,
                         const std::string& given) {
  throw DataError({.where = source.Path(),
                   .required = required,
                   .given = given,
                   .advice = "give a file of the form that tests/oracles/README.md describes"});
}

std::vector<double> ReadAll(const WeightSource& source, const std::string& name) {
  const StoredTensor* entry = source.Find(name);
  if (entry == nullptr) Refuse(source, "a tensor named '" + name + "'", "there is none");
  std::vector<double> values(static_cast<std::size_t>(entry->shape.ElementCount()));
  source.ReadAsF64(name, values);
  return values;
}

std::vector<double> StepOf(const std::vector<double>& all, std::size_t step, std::size_t size) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(step * size);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

nlohmann::json ReadOptions(const WeightSource& source) {
  const auto found = source.Metadata().find("options");
  if (found == source.Metadata().end()) {
    Refuse(source, "metadata 'options' with those of each optimizer", "there are none");
  }
  const auto options = nlohmann::json::parse(found->second, nullptr, false);
  if (!options.is_object()) Refuse(source, "metadata 'options' is a JSON object", found->second);
  return options;
}

OptimizerKind KindOf(const WeightSource& source, const std::string& name) {
  std::string_view longest;
  OptimizerKind kind = OptimizerKind::kSgd;
  for (std::size_t i = 0; i < kOptimizerKindCount; ++i) {
    const std::string_view candidate = NameOf(static_cast<OptimizerKind>(i));
    if (!name.starts_with(candidate) || candidate.size() <= longest.size()) continue;
    longest = candidate;
    kind = static_cast<OptimizerKind>(i);
  }
  if (longest.empty()) Refuse(source, "optimizers that there are here", "'" + name + "'");
  return kind;
}

// Extra options, such as amsgrad, would be another computation.
void RefuseUnknown(const WeightSource& source, const nlohmann::json& options) {
  constexpr const char* kKnown[] = {"lr",       "momentum",      "nesterov", "weight_decay",
                                    "betas",    "eps",           "alpha",    "rho",
                                    "lr_decay", "momentum_decay"};
  for (const auto& [key, value] : options.items()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
      Refuse(source, "options that there are here", "'" + key + "'");
    }
  }
}

}  // namespace

std::vector<std::string> OptimizerNames(const WeightSource& source) {
  std::vector<std::string> names;
  const nlohmann::json options = ReadOptions(source);
  for (const auto& [name, value] : options.items()) names.push_back(name);
  return names;
}

OptimizerOptions PyTorchDefaults(OptimizerKind kind) {
  OptimizerOptions options;
  options.kind = kind;
  switch (kind) {
    case OptimizerKind::kRmsProp:
    case OptimizerKind::kAdagrad:
      options.lr = 0.01;
      break;
    case OptimizerKind::kAdadelta:
      options.lr = 1;
      break;
    case OptimizerKind::kNAdam:
    case OptimizerKind::kAdamax:
      options.lr = 2e-3;
      break;
    case OptimizerKind::kAdamW:
      options.weight_decay = 0.01;
      break;
    default:
      break;
  }
  return options;
}

OptimizerOptions OptimizerOptionsOf(const WeightSource& source, const std::string& name) {
  const nlohmann::json json = ReadOptions(source).at(name);
  RefuseUnknown(source, json);
  OptimizerOptions options = PyTorchDefaults(KindOf(source, name));
  options.lr = json.value("lr", options.lr);
  options.momentum = json.value("momentum", options.momentum);
  options.nesterov = json.value("nesterov", options.nesterov);
  options.weight_decay = json.value("weight_decay", options.weight_decay);
  options.alpha = json.value("alpha", options.alpha);
  options.rho = json.value("rho", options.rho);
  options.rate_decay = json.value("lr_decay", options.rate_decay);
  options.momentum_decay = json.value("momentum_decay", options.momentum_decay);
  if (json.contains("eps")) options.eps = json["eps"].get<double>();
  if (json.contains("betas")) {
    options.beta1 = json["betas"].at(0);
    options.beta2 = json["betas"].at(1);
  }
  return options;
}

std::vector<double> OptimizerErrors(testing::TestEnvironment& environment,
                                    const WeightSource& source, const std::string& name) {
  const std::vector<double> start = ReadAll(source, "start");
  const std::vector<double> gradients = ReadAll(source, "gradients");
  const std::vector<double> after = ReadAll(source, "after/" + name);
  if (start.empty() || gradients.size() != after.size() || after.size() % start.size() != 0) {
    Refuse(source, "'gradients' and 'after/" + name + "' are [steps, shape of 'start']",
           "their sizes differ");
  }
  const std::size_t steps = after.size() / start.size();
  Parameter parameter;
  parameter.path = "p";
  parameter.shape = source.Find("start")->shape;
  Parameter* const parameters[] = {&parameter};
  const auto copy = [&](const std::vector<double>& values, const Tensor& to) {
    const Tensor from =
        testing::MakeTensor(parameter.shape, values, MasterType(environment.dtype()));
    environment.backend().elementwise().Copy(from, to);
  };
  copy(start, environment.store().Value(parameter));
  const Optimizer optimizer(OptimizerOptionsOf(source, name), {}, 0,
                            static_cast<std::int64_t>(steps));
  std::vector<double> errors;
  for (std::size_t step = 0; step < steps; ++step) {
    environment.context().set_step(static_cast<std::int64_t>(step));
    copy(StepOf(gradients, step, start.size()), environment.store().GradientFor(parameter).tensor);
    optimizer.Step(environment.context(), parameters);
    errors.push_back(testing::RelativeError(environment.store().Value(parameter),
                                            StepOf(after, step, start.size())));
  }
  return errors;
}

}  // namespace frugal::oracles
