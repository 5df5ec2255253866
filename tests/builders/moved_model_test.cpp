#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

TEST_CASE("a model that was moved into another refuses every use") {
  SmallRun run;
  run.network = "mlp";
  AiModelBuilder builder = BuilderFor(run);
  Model model = builder.Build();
  Model other = std::move(model);
  const auto refused = [&](auto use) {  // NOLINTNEXTLINE(bugprone-use-after-move)
    CheckContains(MessageOf<UsageError>([&] { use(model); }), "use the one that it was moved into");
  };
  refused([](Model& moved) { moved.plan(); });
  refused([](Model& moved) { moved.Train(); });
  refused([](Model& moved) { moved.TrainStep(std::vector<std::int64_t>{0}); });
  refused([](Model& moved) { moved.Predict(std::vector<float>(128), 1); });
  refused([](Model& moved) { moved.SaveWeights("nowhere"); });
  refused([](Model& moved) { moved.live_bytes(); });
  refused([](Model& moved) { moved.Clone(); });
  model = builder.Build();
  model.TrainStep(std::vector<std::int64_t>{0, 1});
  other.TrainStep(std::vector<std::int64_t>{0, 1});
  PlannedTraining planned = builder.Plan();
  const Model made(std::move(planned));  // NOLINTNEXTLINE(bugprone-use-after-move)
  CheckContains(MessageOf<UsageError>([&] { Model again(std::move(planned)); }),
                "a planned training that no model was made of");
}

}  // namespace
}  // namespace frugal::testing
