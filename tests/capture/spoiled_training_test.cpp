// A backend with one wrong element passes no verification of a captured training.
#include "builders/capture/capture_training.h"
#include "sdk/capture/verify/verify_capture.h"
#include "tests/builders/diffusion_runs.h"
#include "tests/capture/spoiled_backends.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

// All entries of the kernel fail, but those that cannot tell (of zeros), and no others.
void CheckFails(const std::string& directory, const std::string& kernel) {
  INFO(kernel);
  SpoiledBackends spoiled(kernel);
  const VerifyReport report = VerifyCapture(
      directory, {.backends = {BackendKind::kOneDnn}, .make_backend = spoiled.Maker()});
  CHECK_FALSE(report.passed());
  CHECK(report.Count(EntryStatus::kFailed) > 0);
  for (const EntryResult& result : report.results) {
    INFO(result.entry << " in " << result.path);
    if (result.operation != kernel) {
      CHECK_FALSE(IsBad(result.status));
    } else {
      CHECK((result.status == EntryStatus::kFailed || result.status == EntryStatus::kCannotTell));
    }
  }
}

void CaptureNetwork(const std::string& network, const std::string& directory) {
  const SmallRun run{.network = network, .memory = {}, .max_steps = 2};
  CaptureTraining(
      BuilderFor(run).Plan(),
      {.directory = directory, .steps = 2, .sources = SyntheticSources(LayoutFor(network))});
}

TEST_CASE("one wrong element fails the verification of a captured GPT") {
  const TempDir directory;
  CaptureNetwork("gpt2", directory.File("capture"));
  for (const char* kernel : {"linear_forward", "linear_backward_weight", "attention_forward",
                             "attention_backward", "norm_layer_forward", "adam"}) {
    CheckFails(directory.File("capture"), kernel);
  }
}

TEST_CASE("one wrong element fails the verification of a captured ResNet") {
  const TempDir directory;
  CaptureNetwork("resnet18", directory.File("capture"));
  for (const char* kernel : {"conv_forward", "conv_backward_data", "conv_backward_weight",
                             "norm_batch_forward", "cross_entropy_forward"}) {
    CheckFails(directory.File("capture"), kernel);
  }
}

TEST_CASE("one wrong element fails the verification of a captured diffusion") {
  const TempDir directory;
  CaptureTraining(DrawingBuilder().Plan(), {.directory = directory.File("capture"),
                                            .steps = 2,
                                            .sources = SyntheticSources(SyntheticLayout())});
  for (const char* kernel : {"linear_forward", "linear_backward_data"}) {
    CheckFails(directory.File("capture"), kernel);
  }
}

}  // namespace
}  // namespace frugal::testing
