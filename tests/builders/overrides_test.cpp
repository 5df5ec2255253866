#include "builders/config/overrides.h"

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

TEST_CASE("overrides go on top of what code has set, and say so") {
  RunConfig config;
  config.training.batch_size = 8;
  ApplyOverrides(config, {"training.epochs=3", "memory.max_pool_memory_mb=64", "optimizer.kind=sgd",
                          "training.max_steps=none"});
  CHECK(config.training.epochs == 3);
  CHECK(config.training.batch_size == 8);
  CHECK(config.memory.max_pool_memory_mb == 64);
  CHECK(config.optimizer.kind == OptimizerKind::kSgd);
  CHECK_FALSE(config.training.max_steps);
  CHECK(config.origins.Of("training.epochs").kind == OriginKind::kCommandLine);
  CHECK(config.origins.Of("training.batch_size").kind == OriginKind::kDefault);
}

TEST_CASE("overrides: no overrides change nothing") {
  RunConfig config;
  ApplyOverrides(config, {});
  CHECK(config.training.epochs == TrainingOptions().epochs);
}

TEST_CASE("overrides: mistakes are said all at once") {
  RunConfig config;
  const std::string message = MessageOf<ConfigError>([&] {
    ApplyOverrides(config, {"trainig.epochs=3", "memory.preset=Default", "training.epochs=0",
                            "model.layers=[]", "loss=3"});
  });
  for (const char* part :
       {"did you mean 'training'?", "unknown key 'preset'", "'epochs' must be an integer >= 1",
        "unknown key 'layers'", "[loss] must be a table"}) {
    CheckContains(message, part);
  }
}

}  // namespace
}  // namespace frugal::testing
