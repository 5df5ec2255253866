// The first promise: planned bytes are measured bytes, per purpose, to the byte.
#include <filesystem>

#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

std::string WeightsFor(const std::string& network, BackendKind backend) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("frugal_plan_is_run_" + network + std::string(NameOf(backend)));
  SmallRun run;
  run.network = network;
  run.backend = backend;
  BuilderFor(run).Build().SaveWeights(path.string());
  return path.string();
}

TEST_CASE("every preset trains exactly its plan") {
  for (const BackendKind backend : {BackendKind::kOneDnn, BackendKind::kEigen}) {
    for (const std::string& network : NetworkNames()) {
      for (const auto& [name, memory] : AllPresets(WeightsFor(network, backend))) {
        for (const std::int64_t batch : {2, 7, 16}) {
          INFO(NameOf(backend) << " " << network << " " << name << " batch " << batch);
          SmallRun run;
          run.network = network;
          run.memory = memory;
          run.batch = batch;
          run.backend = backend;
          const Trained trained = Train(run);
          CheckPlanIsRun(trained.plan, trained.result, memory.use_activation_pooling);
        }
      }
    }
  }
}

TEST_CASE("short runs and odd ends train exactly their plan") {
  for (const std::int64_t max_steps : {1, 2, 100}) {
    for (const bool drop_last : {true, false}) {
      for (const bool eager : {true, false}) {
        INFO("max_steps " << max_steps << " drop_last " << drop_last << " eager " << eager);
        SmallRun run;
        run.network = "resnet";
        run.batch = 15;  // 64 samples: four batches and a rest of four
        run.max_steps = max_steps;
        run.epochs = 2;
        run.drop_last = drop_last;
        run.memory = TrainingMemoryConfig::ForConvNets();
        if (!eager) run.memory.default_initialization_strategy = InitializationStrategy::kLazy;
        const Trained trained = Train(run);
        CheckPlanIsRun(trained.plan, trained.result, true);
      }
    }
  }
}

TEST_CASE("one sample, one step") {
  SmallRun run;
  run.network = "mlp";
  run.batch = 1;
  run.max_steps = 1;
  const Trained trained = Train(run);
  CheckPlanIsRun(trained.plan, trained.result, true);
}

TEST_CASE("the plan does not depend on what ran before") {
  SmallRun run;
  run.network = "resnet";
  const Plan first = BuilderFor(run).Plan().plan;
  Train(run);
  const Plan second = BuilderFor(run).Plan().plan;
  CHECK(first.peak_by_purpose == second.peak_by_purpose);
  CHECK(first.arena_bytes == second.arena_bytes);
}

TEST_CASE("an error in the middle of a step loses nothing") {
  SmallRun run;
  run.network = "resnet";
  Model model = BuilderFor(run).Build();
  const std::vector<std::int64_t> samples = {0, 1, 2, 3};
  model.TrainStep(samples);
  const std::int64_t live = model.live_bytes();
  const std::vector<std::int64_t> wrong = {0, 64};
  CHECK_THROWS_AS(model.TrainStep(wrong), UsageError);
  CHECK(model.live_bytes() == live);
  model.TrainStep(samples);
  CHECK(model.live_bytes() == live);
}

TEST_CASE("prediction of any batch size is planned on demand") {
  SmallRun run;
  run.network = "convnet";
  Model model = BuilderFor(run).Build();
  std::vector<float> inputs(3 * 8 * 8 * 2, 0.25F);
  CHECK(model.Predict(inputs, 3).size() == 15);
  const std::vector<float> one(inputs.begin(), inputs.begin() + 128);
  const std::vector<float> alone = model.Predict(one, 1);
  const std::vector<float> among = model.Predict(inputs, 3);
  REQUIRE(alone.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(alone[i] == Approx(among[i]).epsilon(1e-5));
  CHECK_THROWS_AS(model.Predict(inputs, 2), UsageError);
}

}  // namespace
}  // namespace frugal::testing
