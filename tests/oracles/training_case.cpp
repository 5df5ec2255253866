#include "tests/oracles/training_case.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "builders/config/architecture_reader.h"
#include "presets/config/toml_reader.h"
#include "sdk/core/error.h"
#include "sdk/io/weights/open_weights.h"
#include "sdk/train/step.h"
#include "tests/oracles/optimizer_case.h"
#include "tests/oracles/stored_numbers.h"
#include "tests/support/tensors.h"

namespace frugal::oracles {
namespace {

constexpr double kNoBound = 1e30;

double NumberOf(const ConfigNode& node) {
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) {
    return static_cast<double>(*integer);
  }
  return std::get<double>(node.value);
}

OptimizerKind KindNamed(const std::string& name) {
  for (std::size_t i = 0; i < kOptimizerKindCount; ++i) {
    if (NameOf(static_cast<OptimizerKind>(i)) == name) return static_cast<OptimizerKind>(i);
  }
  throw ConfigError({.where = "optimizer.kind",
                     .required = "an optimizer that there is here",
                     .given = "'" + name + "'",
                     .advice = "see sdk/optim/optimizer.h"});
}

// An option that is not known here would be another computation.
void SetOption(const ConfigNode& entry, OptimizerOptions& options) {
  const std::map<std::string, double OptimizerOptions::*> numbers = {
      {"lr", &OptimizerOptions::lr},
      {"weight_decay", &OptimizerOptions::weight_decay},
      {"momentum", &OptimizerOptions::momentum},
      {"alpha", &OptimizerOptions::alpha},
      {"rho", &OptimizerOptions::rho},
      {"lr_decay", &OptimizerOptions::rate_decay},
      {"momentum_decay", &OptimizerOptions::momentum_decay}};
  if (const auto number = numbers.find(entry.key); number != numbers.end()) {
    options.*number->second = NumberOf(entry);
  } else if (entry.key == "eps") {
    options.eps = NumberOf(entry);
  } else if (entry.key == "nesterov") {
    options.nesterov = std::get<bool>(entry.value);
  } else if (entry.key == "betas") {
    options.beta1 = NumberOf(entry.children.at(0));
    options.beta2 = NumberOf(entry.children.at(1));
  } else {
    throw ConfigError({.where = "optimizer." + entry.key,
                       .required = "an option that there is here",
                       .given = "this one is not known",
                       .advice = "leave this case out"});
  }
}

OptimizerOptions OptimizerIn(const ConfigNode& root) {
  const ConfigNode* table = root.Find("optimizer");
  if (table == nullptr) return {};
  const ConfigNode* kind = table->Find("kind");
  OptimizerOptions options = kind == nullptr
                                 ? OptimizerOptions()
                                 : PyTorchDefaults(KindNamed(std::get<std::string>(kind->value)));
  for (const ConfigNode& entry : table->children) {
    if (entry.key != "kind") SetOption(entry, options);
  }
  return options;
}

// Sample number s * B + b is row b of step s: inputs tokens[s, b, :-1], targets tokens[s, b, 1:].
class StoredTokens final : public DataSource {
 public:
  explicit StoredTokens(Numbers tokens) : tokens_(std::move(tokens)) {}

  std::int64_t count() const override { return tokens_.shape[0] * tokens_.shape[1]; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    const std::int64_t length = tokens_.shape[2];
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (std::int64_t t = 0; t + 1 < length; ++t) {
        const std::size_t from = static_cast<std::size_t>(samples[i] * length + t);
        const std::size_t to =
            i * static_cast<std::size_t>(length - 1) + static_cast<std::size_t>(t);
        inputs.values<std::int64_t>()[to] = static_cast<std::int64_t>(tokens_.values[from]);
        targets.values<std::int64_t>()[to] = static_cast<std::int64_t>(tokens_.values[from + 1]);
      }
    }
  }

 private:
  Numbers tokens_;
};

double RelativeDifference(double ours, double theirs) {
  return std::abs(ours - theirs) / std::abs(theirs);
}

double SumOfSquares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

void CompareWeights(const WeightSource& expected, std::span<Parameter* const> parameters,
                    testing::TestEnvironment& environment, TrainingErrors& errors) {
  double distance = 0;
  double norm = 0;
  for (const Parameter* parameter : parameters) {
    const Numbers final = ReadNumbers(expected, "final/" + parameter->path);
    const double error =
        testing::RelativeError(environment.store().Value(*parameter), final.values);
    const double squares = SumOfSquares(final.values);
    norm += squares;
    distance += error * error * squares;
    if (error < errors.worst_weight) continue;
    errors.worst_weight = error;
    errors.worst_name = parameter->path;
  }
  errors.all_weights = std::sqrt(distance / norm);
}

}  // namespace

double TrainingErrors::WorstLoss() const { return *std::ranges::max_element(losses); }
double TrainingErrors::WorstNorm() const { return *std::ranges::max_element(gradient_norms); }

TrainingErrors TrainCase(const std::string& directory, const testing::EnvironmentKind& kind,
                         StateFormat state) {
  const ConfigNode root = ParseTomlFile(directory + "/case.toml");
  Origins unused;
  Diagnostics diagnostics;
  const auto architecture = ReadArchitecture(root, unused, diagnostics);
  diagnostics.ThrowIfAny();
  if (!architecture) {
    throw DataError({.where = directory + "/case.toml",
                     .required = "family and [config]",
                     .given = "there is no family",
                     .advice = "give a case of the form that tests/oracles/README.md describes"});
  }
  const auto weights = OpenWeights(directory + "/weights.safetensors");
  const auto expected = OpenWeights(directory + "/expected.safetensors");
  testing::TestEnvironment environment(kind);
  TakeWeightsFrom(*weights, environment);
  const auto network = BuildArchitecture(*architecture);
  const std::vector<Parameter*> parameters = network->Parameters();
  const StoredTokens tokens(ReadNumbers(*expected, "tokens"));
  const Shape shape = ReadNumbers(*expected, "tokens").shape;
  const Shape positions = {shape[2] - 1};
  const ConfigNode* clip = root.Find("clip_gradient_norm");
  OptimizerOptions options = OptimizerIn(root);
  options.state = state;
  // Norms are compared, and computed for clipping only: without it they are clipped to no bound.
  const double bound = clip == nullptr ? kNoBound : NumberOf(*clip);
  const Optimizer optimizer(options, {}, bound > 0 ? bound : kNoBound, shape[0]);
  const DataLayout layout = {.sample_shape = positions,
                             .classes = network->LastProjection()->weight->shape[0],
                             .target_shape = {},
                             .train_count = tokens.count(),
                             .vocabulary = network->LastProjection()->weight->shape[0],
                             .label_shape = positions};
  const NetworkInputs inputs = {{.name = "tokens", .role = InputRole::kTokens, .shape = positions}};
  const Numbers losses = ReadNumbers(*expected, "losses");
  const Numbers norms = ReadNumbers(*expected, "gradient_norms");
  TrainingErrors errors;
  for (std::int64_t step = 0; step < shape[0]; ++step) {
    std::vector<std::int64_t> samples;
    for (std::int64_t row = 0; row < shape[1]; ++row) samples.push_back(step * shape[1] + row);
    environment.context().set_step(step);
    const StepResult result =
        TrainStep(environment.context(), {*network, parameters, LossOptions(), layout, inputs},
                  optimizer, &tokens, samples);
    const auto at = static_cast<std::size_t>(step);
    errors.losses.push_back(RelativeDifference(result.loss, losses.values[at]));
    errors.gradient_norms.push_back(RelativeDifference(result.gradient_norm, norms.values[at]));
  }
  CompareWeights(*expected, parameters, environment, errors);
  return errors;
}

}  // namespace frugal::oracles
