// Layers, networks, losses and schedules that programs bring are built, planned, checkpointed,
// counted, saved and named in errors like ours.
#include <sys/wait.h>
#include <unistd.h>

#include "builders/config/run_config_reader.h"
#include "layers/sequential.h"
#include "sdk/core/error.h"
#include "sdk/ops/elementwise.h"
#include "sdk/ops/loss.h"
#include "sdk/ops/reduce.h"
#include "tests/io/temp_dir.h"
#include "tests/skip.h"
#include "tests/support/compare_trained.h"
#include "tests/support/own_parts.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

SmallRun RunOf(const std::string& network) {
  SmallRun run;
  run.network = network;
  return run;
}

void OwnNetwork(LayerList& l) {
  l.Conv2d({.filters = 8, .kernel = {3}, .padding = {1}}).BatchNorm({.relu = true});
  l.Add<SqueezeExcitation>({.reduction = 2}, "se");
  l.Custom("gain", [](const Shape& in) { return std::make_unique<Gain>(in, GainOptions{0.5}); });
  l.Add<Gain>().AdaptiveAveragePool2d().Flatten().Dense({.units = 5});
}

AiModelBuilder OwnBuilder(const TrainingMemoryConfig& memory = {}) {
  SmallRun run;
  run.memory = memory;
  run.threads = 1;
  return BuilderFor(run).Layers(OwnNetwork);
}

TEST_CASE("layers of a program's own keep the promises under every preset", "[own]") {
  const TempDir directory;
  Model first = OwnBuilder().Build();
  first.SaveWeights(directory.File("weights"));
  const Trained expected = Train(first);
  CHECK(first.Values("se.squeeze.weight").size() == 8 * 4);
  CHECK(first.Values("gain.weight").size() == 8);
  for (const auto& [name, memory] : AllPresets(directory.File("weights"))) {
    INFO(name);
    Model model = OwnBuilder(memory).Build();
    const Trained trained = Train(model);
    CheckSame(expected, trained);
    CheckPlanIsRun(trained.plan, trained.result, false);
  }
}

TEST_CASE("a model with own layers is copied, checkpointed and split", "[own]") {
  Model model = OwnBuilder().Build();
  model.Train();
  Model copy = model.Clone();
  CHECK(copy.WeightsHash() == model.WeightsHash());
  TrainingMemoryConfig devices;
  devices.num_devices = 3;
  Model split = OwnBuilder(devices).Build();
  split.Train();
  CHECK(split.WeightsHash() == model.WeightsHash());
}

constexpr const char* kLayersToml = R"(
[[model.layers]]
type = "conv2d"
filters = 8
kernel = 3
[[model.layers]]
type = "squeeze_excitation"
reduction = 2
[[model.layers]]
type = "gain"
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "dense"
units = 10
)";

TEST_CASE("registered layers are known to files, values and the schema", "[own]") {
  RegisterOwnParts();
  const RunConfig config = ReadRunConfigText(kLayersToml, "own.toml");
  CHECK(config.model.layers[1].options.As<SqueezeOptions>()->reduction == 2);
  CHECK(config.model.layers[2].options.As<GainOptions>()->start == 1);
  CHECK_THAT(RunConfigSchema(), Contains("squeeze_excitation") && Contains("one in so many"));
  std::string wrong = kLayersToml;
  wrong.replace(wrong.find("reduction = 2"), 13, "reduction = 0");
  CHECK_THROWS_WITH(ReadRunConfigText(wrong, "own.toml"),
                    Contains("model.layers.1") && Contains("reduction"));
  CHECK_THROWS_WITH(
      Register<Gain>("gain"),
      Contains("every layer type has a name of its own; there is one called \"gain\" already"));
  CHECK_THROWS_WITH(Register<Gain>(""), Contains("one has none"));
}

TEST_CASE("a network of a program's own is trained and copied", "[own]") {
  const SmallRun run = RunOf("mlp");
  AiModelBuilder builder = BuilderFor(run);
  const Shape sample = builder.Plan().layout.sample_shape;
  const auto make = [sample] {
    auto network = std::make_unique<Sequential>();
    network->Append("first", std::make_unique<FlattenLayer>());
    network->Append("head",
                    std::make_unique<Dense>(sample.ElementCount(), DenseOptions{.units = 5}));
    return network;
  };
  Model model = builder.Network(make).Build();
  {
    const Trained trained = Train(model);
    CheckPlanIsRun(trained.plan, trained.result, false);
  }
  CHECK(model.Values("head.bias").size() == 5);
  CHECK(model.Clone().WeightsHash() == model.WeightsHash());

  AiModelBuilder once = BuilderFor(run).Network(make());
  CHECK(once.Plan().plan.parameter_count == model.plan().parameter_count);
  CHECK_THROWS_WITH(once.Build(), Contains("give a function that makes the network"));
  CHECK_THROWS_WITH(builder.Network([] { return std::unique_ptr<Sequential>(); }).Plan(),
                    Contains("a network of at least one layer; null"));
}

TEST_CASE("a loss and a schedule of a program's own are used", "[own]") {
  const SmallRun run = RunOf("mlp");
  Model usual = BuilderFor(run).Build();
  const Trained expected = Train(usual);
  std::vector<std::int64_t> steps;
  Model own = BuilderFor(run)
                  .Loss([](Context& context, const Var& output, const Tensor& targets) {
                    return CrossEntropy(context, output, targets);
                  })
                  .Schedule([&](std::int64_t step, std::int64_t) {
                    steps.push_back(step);
                    return 1.0;
                  })
                  .Build();
  const Trained trained = Train(own);
  CheckSame(expected, trained);
  CheckPlanIsRun(trained.plan, trained.result, false);
  CHECK_FALSE(steps.empty());
  CHECK_THROWS_WITH(BuilderFor(run)
                        .Loss([](Context&, const Var& output, const Tensor&) { return output; })
                        .Plan(),
                    Contains("a loss is a scalar [1]"));
}

TEST_CASE("what a layer's maker does wrong has its place", "[own]") {
  const SmallRun run = RunOf("mlp");
  CHECK_THROWS_WITH(BuilderFor(run)
                        .Layers([](LayerList& l) {
                          l.Flatten().Custom("none",
                                             [](const Shape&) { return std::unique_ptr<Layer>(); });
                        })
                        .Plan(),
                    Contains("model.layers.1") && Contains("it returned null"));
  LayerList list;
  CHECK_THROWS_WITH(list.Custom("empty", {}), Contains("the one of \"empty\" is empty"));
}

// Writes into its output outside of a kernel.
class Careless final : public Layer {
 public:
  std::string Describe() const override { return "careless"; }

 private:
  Var Forward(Context& context, const Var& input) override {
    const Var output = Scale(context, input, 1);
    output.value.values<float>()[0] = 1;
    return output;
  }
};

TEST_CASE("a layer that writes outside of a kernel is told so", "[own][needs-plain]") {
  FRUGAL_SKIP_UNLESS(!kIsSanitized, "a sanitizer catches faults itself");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    BuilderFor(RunOf("mlp"))
        .Layers([](LayerList& l) {
          l.Custom("careless", [](const Shape&) { return std::make_unique<Careless>(); });
          l.Flatten().Dense({.units = 5});
        })
        .Plan();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text(4096, '\0');
  std::size_t size = 0;
  for (ssize_t got = 0; (got = ::read(ends[0], text.data() + size, text.size() - size)) > 0;) {
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK_THAT(text, Contains("model.layers.0 (custom)") && Contains("outside of Context::Launch"));
}

TEST_CASE("elements are read as what they are", "[own]") {
  HeapAllocator heap;
  const Tensor tensor(heap, {4}, DType::kF32, MemoryTag::kActivation);
  CHECK_THROWS_WITH(tensor.values<double>(), Contains("it holds f32, and f64 is asked for"));
}

}  // namespace
}  // namespace frugal::testing
