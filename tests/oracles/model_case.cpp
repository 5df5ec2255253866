#include "tests/oracles/model_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <random>
#include <utility>

#include "builders/config/architecture_reader.h"
#include "presets/config/nearest_name.h"
#include "presets/config/toml_reader.h"
#include "sdk/core/bfloat16.h"
#include "sdk/core/error.h"
#include "sdk/io/weights/open_weights.h"
#include "sdk/ops/loss.h"
#include "tests/oracles/stored_numbers.h"
#include "tests/support/tensors.h"

namespace frugal::oracles {
namespace {

// Gradients of less than this share of all together are zero but for f32 rounding.
constexpr double kZeroShare = 1e-6;
// A single number that scales a whole branch: its gradient is a sum over all elements whose terms
// cancel, and as inexact in the file as they are. It is measured against this share at least.
constexpr double kSingleShare = 1e-3;
constexpr double kMissing = std::numeric_limits<double>::infinity();

// Takes a key out of a table and returns whether it was true.
bool TakeFlag(ConfigNode& table, const std::string& key) {
  const ConfigNode* node = table.Find(key);
  const bool value = node != nullptr && std::get<bool>(node->value);
  std::erase_if(table.children, [&](const ConfigNode& child) { return child.key == key; });
  return value;
}

double DistanceOf(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double NormOf(const std::vector<double>& values) {
  return DistanceOf(values, std::vector<double>(values.size(), 0.0));
}

using Rounding = std::function<double(double)>;

double ToNearestBf16(double value) {
  return static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(value))));
}

// To one of the two bf16 numbers beside a value, the nearer one more often.
struct ToSomeBf16 {
  std::mt19937 engine;
  double operator()(double value) {
    const auto word = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t raised = word + (engine() & 0xffffU);
    return static_cast<double>(std::bit_cast<float>(raised & 0xffff0000U));
  }
};

class ModelRun {
 public:
  ModelRun(const ModelCase& one, const testing::EnvironmentKind& kind, Rounding rounding = {})
      : case_(one),
        environment_(kind),
        network_(BuildArchitecture(one.config)),
        rounding_(std::move(rounding)) {
    TakeWeightsFrom(*one.weights, environment_);
    for (const Parameter* parameter : network_->Parameters()) {
      if (rounding_) Round(environment_.store().Value(*parameter));
    }
    total_norm_ = TotalNorm();
    environment_.context().set_training(one.training);
  }

  std::map<std::string, double> Errors() {
    CheckCount();
    Context& context = environment_.context();
    const TapeScope scope(context, &tape_);
    VarTuple vars = Inputs();
    (*network_)(context, vars);
    const Var output = std::exchange(vars, {})[0];
    errors_["output"] = ErrorOf(output.value, "output");
    const Tensor target = Read("target", MasterType(environment_.dtype()));
    const Var loss = RegressionLoss(context, output, target, Regression::kMse);
    errors_["loss"] = ErrorOf(loss.value, "loss");
    tape_.Backward(context, loss.slot, testing::Full({1}, 1, loss.dtype()));
    CompareInputs();
    CompareParameters();
    AddWhatOnlyTheFileHas();
    return errors_;
  }

 private:
  void Round(const Tensor& values) const {
    for (double& value : values.values<double>()) value = rounding_(value);
  }

  double TotalNorm() const {
    double sum = 0;
    for (const StoredTensor& stored : case_.expected->Entries()) {
      if (!stored.name.starts_with("grad/param/")) continue;
      const double norm = NormOf(ReadNumbers(*case_.expected, stored.name).values);
      sum += norm * norm;
    }
    return std::sqrt(sum);
  }

  void CheckCount() const {
    const std::int64_t count = network_->ParameterCount();
    if (count == case_.parameters) return;
    throw DataError({.where = case_.directory + "/case.toml",
                     .required = std::to_string(case_.parameters) + " parameters",
                     .given = "the model here has " + std::to_string(count),
                     .advice = "see whether the configuration has keys that are not known here"});
  }

  // The file's inputs as the network takes them, each with a slot where the file has its gradient.
  VarTuple Inputs() {
    CheckInputNames();
    VarTuple vars;
    for (const std::string& name : case_.inputs) {
      const DType dtype = InputTypeOf(vars.size());
      const Tensor x = Read("input/" + name, dtype);
      if (rounding_ && x.dtype() != DType::kI64) Round(x);
      const bool differentiable = case_.expected->Find("grad/input/" + name) != nullptr;
      vars.push_back({x, differentiable ? tape_.NewSlot() : Var::kNoGradient});
      if (differentiable) input_slots_[name] = vars.back().slot;
    }
    return vars;
  }

  void CheckInputNames() const {
    std::vector<std::string> names;
    for (const NetworkInput& input : network_->inputs()) names.push_back(input.name);
    if (names.empty() ? case_.inputs.size() == 1 : names == case_.inputs) return;
    throw DataError({.where = case_.directory + "/case.toml",
                     .required = "the inputs " + JoinWithCommas(names),
                     .given = JoinWithCommas(case_.inputs),
                     .advice = "see whether the configuration has keys that are not known here"});
  }

  DType InputTypeOf(std::size_t i) const {
    const NetworkInputs& inputs = network_->inputs();
    return i < inputs.size() ? TypeOf(inputs[i], environment_.dtype()) : environment_.dtype();
  }

  // Returns a tensor of the case's file, images and videos with the channels last. Some files have
  // a video's channels behind the frames.
  Tensor Read(const std::string& name, DType dtype) const {
    const std::string& family = FamilyOf(case_.config).name;
    const bool frames_first = family == "video_unet" || family == "cogvideox";
    return ReadInput(*case_.expected, name, dtype, frames_first ? 2 : 1);
  }

  double ErrorOf(const Tensor& computed, const std::string& name) const {
    if (!computed || case_.expected->Find(name) == nullptr) return kMissing;
    const Tensor expected = Read(name, DType::kF64);
    if (computed.size() != expected.size()) return kMissing;
    return testing::RelativeError(computed, testing::Values(expected));
  }

  void CompareInputs() {
    for (const auto& [input, slot] : input_slots_) {
      const std::string name = "grad/input/" + input;
      errors_[name] = InputError(tape_.TakeGradient(slot), name);
    }
  }

  // As PlainError: a time that norms of one channel per group take out again has no gradient.
  double InputError(const Tensor& computed, const std::string& name) const {
    if (!computed || case_.expected->Find(name) == nullptr) return kMissing;
    const std::vector<double> expected = testing::Values(Read(name, DType::kF64));
    if (static_cast<std::size_t>(computed.size()) != expected.size()) return kMissing;
    return DistanceOf(testing::Values(computed), expected) / Measure(expected);
  }

  // Returns what the distance from `expected` is divided by.
  double Measure(const std::vector<double>& expected) const {
    const double norm = NormOf(expected);
    if (norm < kZeroShare * total_norm_) return total_norm_;
    return expected.size() == 1 ? std::max(norm, kSingleShare * total_norm_) : norm;
  }

  void CompareParameters() {
    for (const Parameter* parameter : network_->Parameters()) {
      if (!parameter->is_buffer && !parameter->trainable) continue;
      if (!parameter->is_buffer) {
        const std::string name = "grad/param/" + parameter->path;
        errors_[name] = PlainError(environment_.store().Gradient(*parameter), name);
      } else if (case_.training) {
        const std::string name = "buffer/" + parameter->path;
        errors_[name] = PlainError(environment_.store().Value(*parameter), name);
      }
    }
  }

  // Weights keep their public layout: no axes are turned. A gradient that is zero but for rounding
  // (of a bias that every key shares) is measured against all gradients together.
  double PlainError(const Tensor& computed, const std::string& name) const {
    if (!computed || case_.expected->Find(name) == nullptr) return kMissing;
    const Numbers expected = ReadNumbers(*case_.expected, name);
    if (!(computed.shape() == expected.shape)) return kMissing;
    return DistanceOf(testing::Values(computed), expected.values) / Measure(expected.values);
  }

  void AddWhatOnlyTheFileHas() {
    for (const StoredTensor& stored : case_.expected->Entries()) {
      if (!stored.name.starts_with("grad/") && !stored.name.starts_with("buffer/")) continue;
      if (stored.name.ends_with("num_batches_tracked")) continue;
      errors_.try_emplace(stored.name, kMissing);
    }
  }

  const ModelCase& case_;
  testing::TestEnvironment environment_;
  std::unique_ptr<Sequential> network_;
  Rounding rounding_;  // of weights and inputs
  Tape tape_;
  std::map<std::string, int> input_slots_;
  double total_norm_ = 0;  // of all gradients of parameters, in the file
  std::map<std::string, double> errors_;
};

}  // namespace

ModelCase ReadModelCase(const std::string& directory) {
  ConfigNode root = ParseTomlFile(directory + "/case.toml");
  bool training = false;
  if (ConfigNode* config = root.Find("config")) training = TakeFlag(*config, "training");
  Origins unused;
  Diagnostics diagnostics;
  const auto architecture = ReadArchitecture(root, unused, diagnostics);
  diagnostics.ThrowIfAny();
  const ConfigNode* parameters = root.Find("parameters");
  const ConfigNode* inputs = root.Find("inputs");
  if (!architecture || parameters == nullptr || inputs == nullptr) {
    throw DataError({.where = directory + "/case.toml",
                     .required = "family, parameters, inputs and [config]",
                     .given = "not all of them are there",
                     .advice = "give a case of the form that tests/oracles/README.md describes"});
  }
  ModelCase one{.directory = directory,
                .name = std::filesystem::path(directory).filename().string(),
                .config = *architecture,
                .parameters = std::get<std::int64_t>(parameters->value),
                .inputs = {},
                .training = training,
                .weights = OpenWeights(directory + "/weights.safetensors"),
                .expected = OpenWeights(directory + "/expected.safetensors")};
  for (const ConfigNode& input : inputs->children) {
    one.inputs.push_back(std::get<std::string>(input.value));
  }
  return one;
}

std::vector<std::string> ModelCaseDirectories(const std::string& directory) {
  namespace fs = std::filesystem;
  if (fs::exists(fs::path(directory) / "case.toml")) return {directory};
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (fs::exists(entry.path() / "case.toml")) found.push_back(entry.path().string());
  }
  std::ranges::sort(found);
  return found;
}

std::map<std::string, double> ModelErrors(const ModelCase& one,
                                          const testing::EnvironmentKind& kind) {
  return ModelRun(one, kind).Errors();
}

std::map<std::string, double> RoundingErrors(const ModelCase& one) {
  std::map<std::string, double> largest =
      ModelRun(one, testing::kReferenceF64, ToNearestBf16).Errors();
  for (const std::uint32_t seed : {1U, 2U}) {
    const ToSomeBf16 rounding{std::mt19937(seed)};
    for (const auto& [name, error] : ModelRun(one, testing::kReferenceF64, rounding).Errors()) {
      largest[name] = std::max(largest[name], error);
    }
  }
  return largest;
}

}  // namespace frugal::oracles
