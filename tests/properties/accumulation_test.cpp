// A batch that goes through in parts computes what it does as a whole.
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"
#include "tests/support/tensors.h"

namespace frugal::testing {
namespace {

// In f64, with plain gradient descent: an adaptive optimizer would blow a last bit up.
AiModelBuilder BuilderOf(const std::string& network, std::int64_t accumulate) {
  SmallRun run;
  run.network = network;
  run.backend = BackendKind::kEigen;
  run.precision = Precision::kF64;
  run.batch = 6;
  run.max_steps = 4;
  run.accumulate = accumulate;
  run.dropout = 0;
  AiModelBuilder builder = BuilderFor(run);
  builder.Optimizer({.kind = OptimizerKind::kSgd, .lr = 0.1});
  TrainingOptions training = builder.config().training;
  training.evaluate = false;
  builder.Training(training);
  if (network == "mlp") {  // without its dropout, which draws a mask for each part
    builder.Layers([](LayerList& l) {
      l.Flatten().Dense({.units = 24, .activation = Activation::kGelu}).LayerNorm();
      l.Dense({.units = 5});
    });
  }
  return builder;
}

TEST_CASE("parts of a batch give the weights of the whole") {
  for (const std::string network : {"mlp", "gpt2"}) {
    Model whole = BuilderOf(network, 1).Build();
    const TrainingResult expected = whole.Train();
    for (const std::int64_t parts : {2, 3, 5, 6}) {
      INFO(network << " in " << parts << " parts");
      Model model = BuilderOf(network, parts).Build();
      const TrainingResult result = model.Train();
      CheckPlanIsRun(model.plan(), result, true);
      CHECK(model.plan().peak_by_purpose[MemoryTag::kActivation] <
            whole.plan().peak_by_purpose[MemoryTag::kActivation]);
      CHECK(testing::RelativeError(result.losses, expected.losses) < 1e-10);
      CHECK(testing::RelativeError(result.gradient_norms, expected.gradient_norms) < 1e-10);
      for (const Parameter* parameter : model.parameters()) {
        INFO(parameter->path);
        CHECK(testing::RelativeError(model.Values(parameter->path), whole.Values(parameter->path)) <
              1e-10);
      }
    }
  }
}

TEST_CASE("a batch has no more parts than samples") {
  CHECK(MessageOf<ConfigError>([] { BuilderOf("mlp", 7).Plan(); }) ==
        "[training] a batch goes through in at most as many parts as it has samples; "
        "gradient_accumulation_steps = 7 and batch_size = 6; use a smaller "
        "gradient_accumulation_steps, or a larger batch");
}

TEST_CASE("parts of equal size, up to one sample") {
  for (std::int64_t batch = 0; batch < 9; ++batch) {
    for (std::int64_t parts = 1; parts < 12; ++parts) {
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < parts; ++i) {
        const std::int64_t size = MicroBatchSize(batch, parts, i);
        CHECK(size <= MicroBatchSize(batch, parts, 0));
        CHECK(size >= MicroBatchSize(batch, parts, 0) - 1);
        sum += size;
      }
      CHECK(sum == batch);
    }
  }
}

}  // namespace
}  // namespace frugal::testing
