#include "tests/oracles/resnet.h"

#include "sdk/io/open_weights.h"
#include "sdk/ops/loss.h"
#include "tests/catch.h"
#include "tests/oracles/axis_order.h"
#include "tests/support/tensors.h"
#include "tests/support/test_world.h"

namespace frugal::oracles {
namespace {

using test::AllWorlds;
using test::MakeTensor;
using test::RelativeError;
using test::TestWorld;
using test::WorldKind;

struct ModelFiles {
  explicit ModelFiles(const std::string& name)
      : weights(OpenWeights(Path(name) + "/weights.safetensors")),
        expected(OpenWeights(Path(name) + "/expected.safetensors")) {}

  static std::string Path(const std::string& name) {
    return std::string(FRUGAL_TEST_DATA) + "/oracles/models/" + name;
  }
  static Numbers Read(const WeightSource& source, const std::string& name) {
    REQUIRE(source.Find(name) != nullptr);
    Numbers numbers = {source.Find(name)->shape, {}};
    numbers.values.resize(static_cast<std::size_t>(numbers.shape.ElementCount()));
    source.ReadAsF64(name, numbers.values);
    return numbers;
  }
  Numbers Expected(const std::string& name) const { return Read(*expected, name); }

  std::unique_ptr<WeightSource> weights;
  std::unique_ptr<WeightSource> expected;
};

// A world whose parameters come from the checkpoint.
struct ResNetRun {
  ResNetRun(const WorldKind& kind, const std::string& name) : files(name), world(kind) {
    world.store().SetSource([this](const Parameter& parameter, const Tensor& value) {
      const Numbers stored = ModelFiles::Read(*files.weights, PublicName(parameter.path));
      CHECK(stored.shape == parameter.shape);
      world.backend().elementwise().Copy(MakeTensor(stored.shape, stored.values, world.dtype()),
                                         value);
      return true;
    });
  }
  Tensor Input() const {
    const Numbers x = ToChannelsLast(files.Expected("input/x"));
    return MakeTensor(x.shape, x.values, world.dtype());
  }

  ModelFiles files;
  TestWorld world;
  std::unique_ptr<Sequential> net = MakeResNet(4, 5);
};

void CheckAfterBackward(ResNetRun& run, const WorldKind& kind) {
  // The same in f64: twenty layers with batch statistics magnify the rounding of the file itself.
  constexpr double kTolerance = 1e-4;
  for (const Parameter* parameter : run.net->Parameters()) {
    INFO(parameter->path << " on " << kind);
    const std::string name = PublicName(parameter->path);
    if (parameter->is_buffer && !run.world.context().training()) continue;  // not in the file
    if (parameter->is_buffer) {
      CHECK(RelativeError(run.world.store().Value(*parameter),
                          run.files.Expected("buffer/" + name).values) < 1e-5);
    } else {
      CHECK(RelativeError(run.world.store().Gradient(*parameter),
                          run.files.Expected("grad/param/" + name).values) < kTolerance);
    }
  }
}

// Output, loss and all gradients.
void CheckPass(ResNetRun& run, const WorldKind& kind) {
  INFO(kind);
  Context& context = run.world.context();
  CHECK(run.net->ParameterCount() == 20217);
  Tape tape;
  const TapeScope scope(context, &tape);
  const int input_slot = tape.NewSlot();
  const Var output = (*run.net)(context, {run.Input(), input_slot});
  CHECK(RelativeError(output.value, run.files.Expected("output").values) < 1e-5);
  const Numbers target = run.files.Expected("target");
  const Var loss = RegressionLoss(
      context, output, MakeTensor(target.shape, target.values, kind.dtype), Regression::kMse);
  CHECK(RelativeError(loss.value, run.files.Expected("loss").values) < 1e-5);
  tape.Backward(context, loss.slot, test::Full({1}, 1, kind.dtype));
  CheckAfterBackward(run, kind);
  const Numbers expected = ToChannelsLast(run.files.Expected("grad/input/x"));
  CHECK(RelativeError(tape.TakeGradient(input_slot), expected.values) < 1e-4);
}

TEST_CASE("a residual network trains as torchvision's does", "[oracles][layers]") {
  for (const WorldKind& kind : AllWorlds()) {
    ResNetRun run(kind, "resnet_train");
    CheckPass(run, kind);
  }
}

TEST_CASE("a residual network evaluates as torchvision's does", "[oracles][layers]") {
  for (const WorldKind& kind : AllWorlds()) {
    ResNetRun run(kind, "resnet_eval");
    run.world.context().set_training(false);
    CheckPass(run, kind);
  }
}

}  // namespace
}  // namespace frugal::oracles
