// A number that is not finite stays so through every operation: were it lost, no one would ever
// hear that a training diverged. One element of one input is poisoned at a time, and every kernel
// must show it wherever the reference in plain loops does.

#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "layers/convolution.h"
#include "layers/dense.h"
#include "layers/norms.h"
#include "layers/pool2d.h"
#include "layers/simple_layers.h"
#include "tests/catch.h"
#include "tests/oracles/operations.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

namespace frugal {
namespace {

using oracles::FindOperation;
using oracles::OracleCase;
using oracles::OracleRun;
using oracles::Poison;
using testing::EnvironmentKind;
using testing::TestEnvironment;

const std::string kOracles = std::string(FRUGAL_TEST_DATA) + "/oracles";
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Results = std::map<std::string, std::vector<double>>;

Results RunPoisoned(const EnvironmentKind& kind, const OracleCase& one, const Poison& poison) {
  TestEnvironment environment(kind);
  OracleRun run(environment, one, poison);
  return run.Results(FindOperation(one.operation));
}

// The names of a case's floating inputs and of the gradient of its output, each with its size.
std::vector<std::pair<std::string, std::size_t>> PlacesOf(const OracleCase& one) {
  const oracles::CaseFile file(one);
  std::vector<std::pair<std::string, std::size_t>> places;
  const auto add = [&](const std::string& name) {
    if (!file.Has(name) || file.IsInteger(name) || file.IsBoolean(name)) return;
    places.emplace_back(name, static_cast<std::size_t>(file.ShapeOf(name).ElementCount()));
  };
  for (const std::string& input : one.inputs) add("in/" + input);
  add("upstream");
  return places;
}

// Elements that are finite here and not in the reference. Whether one is infinite or no number may
// differ: x sigmoid(x) of minus infinity is either, by the order of its steps.
std::size_t Lost(const std::vector<double>& here, const std::vector<double>& reference) {
  std::size_t lost = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (!std::isfinite(reference[i]) && std::isfinite(here[i])) ++lost;
  }
  return lost;
}

std::size_t NonFinite(const Results& results) {
  std::size_t count = 0;
  for (const auto& [name, values] : results) {
    for (const double value : values) count += std::isfinite(value) ? 0 : 1;
  }
  return count;
}

struct Tally {
  int runs = 0;
  int shown = 0;  // where the reference has something that is not finite
};

// Returns what the reference says of a poisoned element. The reference multiplies the zeros around
// an image like any other numbers, which kernels need not: results of a convolution that do not
// move with the element where that is a finite number count as finite.
Results Reference(const OracleCase& one, const Poison& poison) {
  Results reference = RunPoisoned(testing::kReferenceF32, one, poison);
  if (!one.operation.starts_with("conv")) return reference;
  const Results low = RunPoisoned(testing::kReferenceF64, one, {poison.input, poison.element, 1});
  const Results high = RunPoisoned(testing::kReferenceF64, one, {poison.input, poison.element, 2});
  for (auto& [name, values] : reference) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (low.at(name)[i] == high.at(name)[i]) values[i] = 0;
    }
  }
  return reference;
}

void CheckPoison(const OracleCase& one, const Poison& poison, Tally& tally) {
  const Results reference = Reference(one, poison);
  ++tally.runs;
  tally.shown += NonFinite(reference) > 0 ? 1 : 0;
  for (const EnvironmentKind& kind : {testing::kOneDnnF32, testing::kOneDnnBf16}) {
    const Results here = RunPoisoned(kind, one, poison);
    REQUIRE(here.size() == reference.size());
    for (const auto& [name, values] : reference) {
      INFO(one.Name() << " " << one.attributes << ": " << name << " on " << kind << " where "
                      << poison.input << "[" << poison.element << "] is " << poison.value);
      REQUIRE(here.at(name).size() == values.size());
      CHECK(Lost(here.at(name), values) == 0);
    }
  }
}

void CheckCase(const OracleCase& one, Tally& tally) {
  for (const auto& [name, size] : PlacesOf(one)) {
    for (const std::size_t element : std::set<std::size_t>{0, size / 2, size - 1}) {
      for (const double value : {kNaN, kInfinity, -kInfinity}) {
        CheckPoison(one, {name, element, value}, tally);
      }
    }
  }
}

// A layer at sizes that reach the kernels of large tensors.
struct LargeCase {
  std::string name;
  Shape input;
  std::function<std::unique_ptr<Layer>()> make;
  bool has_weight = true;  // poisoned too
};

LargeCase DenseCase(std::int64_t rows, std::int64_t inputs, std::int64_t units, Activation kind) {
  return {"dense " + std::string(NameOf(kind)) + " of " + std::to_string(rows), Shape{rows, inputs},
          [=] {
            return std::make_unique<Dense>(inputs,
                                           DenseOptions{.units = units, .activation = kind});
          }};
}

LargeCase ConvCase(const Shape& input, const Conv2dOptions& options) {
  const Activation kind = options.activation.kind;
  return {"conv2d " + std::string(NameOf(kind)) + " over " + ToString(input), input,
          [=] { return std::make_unique<Conv2d>(input.back(), options); }};
}

std::vector<LargeCase> FusedCases() {
  using enum Activation;
  std::vector<LargeCase> cases;
  for (const Activation kind : {kRelu, kLeakyRelu, kElu, kSigmoid, kTanh, kGelu}) {
    cases.push_back(DenseCase(3, 5, 7, kind));
    cases.push_back(DenseCase(64, 96, 80, kind));
    cases.push_back(DenseCase(2048, 64, 64, kind));
    // By Winograd's method, by a stride, of one pixel, and in groups.
    cases.push_back(ConvCase({2, 16, 16, 32}, {.filters = 32, .kernel = {3}, .activation = kind}));
    cases.push_back(ConvCase({4, 28, 28, 1},
                             {.filters = 32, .kernel = {5}, .stride = {2}, .activation = kind}));
    cases.push_back(ConvCase({2, 14, 14, 64}, {.filters = 32, .kernel = {1}, .activation = kind}));
    cases.push_back(
        ConvCase({2, 9, 9, 32}, {.filters = 32, .kernel = {3}, .groups = 32, .activation = kind}));
  }
  return cases;
}

// Activations, norms and pools over more elements than any vector has, and the layers there are.
std::vector<LargeCase> OtherCases() {
  std::vector<LargeCase> cases;
  for (std::size_t i = 0; i < kActivationCount; ++i) {
    const auto kind = static_cast<Activation>(i);
    const auto make = [kind] { return std::make_unique<ActivationLayer>(ActivationOptions{kind}); };
    cases.push_back({std::string(NameOf(kind)), {3, 1000}, make, false});
  }
  const Shape image = {2, 14, 14, 48};
  const auto add = [&](const std::string& name, auto make) {
    cases.push_back({name, image, make, false});
  };
  add("batch norm, relu",
      [] { return std::make_unique<BatchNormLayer>(48, BatchNormOptions{.relu = true}); });
  add("layer norm", [] { return std::make_unique<LayerNormLayer>(48, LayerNormOptions{}); });
  add("rms norm", [] { return std::make_unique<RmsNormLayer>(48, RmsNormOptions{}); });
  add("group norm",
      [] { return std::make_unique<GroupNormLayer>(48, GroupNormOptions{.groups = 4}); });
  for (const PoolKind kind : {PoolKind::kMax, PoolKind::kAverage}) {
    add(kind == PoolKind::kMax ? "max pool" : "average pool",
        [kind] { return std::make_unique<Pool2d>(kind, Pool2dOptions{.kernel = {2}}); });
  }
  // Not convolutions with zeros around their images, of which Reference tells.
  for (const testing::LayerCase& one : testing::LayerCases()) {
    if (one.name.starts_with("conv")) continue;
    cases.push_back({one.name, one.input, one.make, false});
  }
  return cases;
}

// The output and the gradients of a layer, where one element of its input, or of its first
// parameter, is poisoned.
Results RunLarge(const EnvironmentKind& kind, const LargeCase& one, bool in_weight, double value) {
  TestEnvironment environment(kind);
  const auto layer = testing::Ready(one.make());
  const Tensor input = testing::RandomTensor(one.input, 5, kind.dtype);
  const Tensor place = in_weight ? environment.store().Value(*layer->Parameters().front()) : input;
  const auto middle = static_cast<std::size_t>(place.size() / 2);
  if (place.dtype() == DType::kBF16) {
    place.values<BFloat16>()[middle] = BFloat16(static_cast<float>(value));
  } else {
    place.values<float>()[middle] = static_cast<float>(value);
  }
  const testing::Pass pass = RunPass(
      environment, [&](Context& context, const Var& x) { return (*layer)(context, x); }, input);
  Results results = {{"out", testing::Values(pass.output)},
                     {"gradient of the input", testing::Values(pass.input_gradient)}};
  for (const Parameter* parameter : layer->Parameters()) {
    const Tensor gradient = environment.store().Gradient(*parameter);
    if (gradient) results[parameter->path] = testing::Values(gradient);
  }
  return results;
}

void CheckLarge(const LargeCase& one, bool in_weight, double value) {
  const Results reference = RunLarge(testing::kReferenceF32, one, in_weight, value);
  for (const EnvironmentKind& kind : {testing::kOneDnnF32, testing::kOneDnnBf16}) {
    const Results here = RunLarge(kind, one, in_weight, value);
    REQUIRE(here.size() == reference.size());
    for (const auto& [name, values] : reference) {
      INFO(one.name << ": " << name << " on " << kind << " where one element of the "
                    << (in_weight ? "weight" : "input") << " is " << value);
      CHECK(Lost(here.at(name), values) == 0);
    }
  }
}

TEST_CASE("large tensors lose nothing either, nor do fused activations", "[properties]") {
  for (const auto cases : {FusedCases, OtherCases}) {
    for (const LargeCase& one : cases()) {
      for (const double value : {kNaN, kInfinity, -kInfinity}) {
        CheckLarge(one, false, value);
        if (one.has_weight) CheckLarge(one, true, value);
      }
    }
  }
}

TEST_CASE("no operation loses what is not finite", "[properties]") {
  Tally tally;
  for (const std::string directory : {"/ops", "/more_ops", "/point_ops", "/loss_ops"}) {
    for (const OracleCase& one : oracles::ReadIndex(kOracles + directory)) CheckCase(one, tally);
  }
  CHECK(tally.runs > 2000);
  CHECK(tally.shown > tally.runs * 8 / 10);
}

}  // namespace
}  // namespace frugal
