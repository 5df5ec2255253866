#include "presets/memory_rules.h"

#include <functional>

#include "tests/catch.h"

namespace frugal {
namespace {

using Config = TrainingMemoryConfig;

std::vector<std::string> RulesBrokenBy(const std::function<void(Config&)>& change) {
  Config config;
  change(config);
  std::vector<std::string> lines;
  for (const Contradiction& found : MemoryContradictions(config)) {
    lines.push_back(Describe(found.diagnostic));
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("The defaults contradict nothing") {
  CHECK(RulesBrokenBy([](Config&) {}).empty());
  CHECK_NOTHROW(CheckMemory({}));
}

TEST_CASE("A weight file and FromFile need each other") {
  CHECK(RulesBrokenBy([](Config& c) {
          c.default_initialization_strategy = InitializationStrategy::kFromFile;
        }) == Lines{"[memory] default_initialization_strategy = \"FromFile\" needs a "
                    "weights_file_path; none was given; add weights_file_path = "
                    "\"model.safetensors\""});
  CHECK(RulesBrokenBy([](Config& c) {
          c.default_initialization_strategy = InitializationStrategy::kFromFile;
          c.weights_file_path = "";
        }).size() == 1);
  CHECK(RulesBrokenBy([](Config& c) {
          c.weights_file_path = "x";
          c.weights_file_format = WeightsFormat::kJson;
        }) == Lines{"[memory] weights_file_path needs default_initialization_strategy = "
                    "\"FromFile\"; default_initialization_strategy is \"Eager\"; set it to "
                    "\"FromFile\", or remove weights_file_path",
                    "[memory] weights_file_format needs default_initialization_strategy = "
                    "\"FromFile\"; default_initialization_strategy is \"Eager\"; set it to "
                    "\"FromFile\", or remove weights_file_format"});
}

TEST_CASE("Assignments and Custom need each other") {
  CHECK(RulesBrokenBy([](Config& c) { c.sharding_strategy = ShardingStrategy::kCustom; }) ==
        Lines{"[memory] sharding_strategy = \"Custom\" needs custom_device_assignments; none were "
              "given; add custom_device_assignments = [0, 0, ...]"});
  CHECK(RulesBrokenBy([](Config& c) { c.custom_device_assignments = {0}; }) ==
        Lines{"[memory] custom_device_assignments needs sharding_strategy = \"Custom\"; "
              "sharding_strategy is \"EvenSplit\"; set it to \"Custom\", or remove "
              "custom_device_assignments"});
  CHECK(RulesBrokenBy([](Config& c) {
          c.sharding_strategy = ShardingStrategy::kCustom;
          c.custom_device_assignments = {0, 0};
        }).empty());
  CHECK(RulesBrokenBy([](Config& c) {
          c.sharding_strategy = ShardingStrategy::kCustom;
          c.custom_device_assignments = {0, 1, 2};
        }) == Lines{"[memory] custom_device_assignments must name devices below num_devices = 1; "
                    "device 1 was given; devices are counted from 0"});
}

TEST_CASE("Several devices contradict nothing by themselves") {
  CHECK(RulesBrokenBy([](Config& c) { c = Config::MultiGpu(2); }).empty());
  CHECK(RulesBrokenBy([](Config& c) { c = Config::MultiGpu(1); }).empty());
}

TEST_CASE("Pool options need the pool") {
  CHECK(RulesBrokenBy([](Config& c) {
          c.use_tensor_pooling = false;
          c.tensor_pool_options.emplace();
        }) == Lines{"[memory] tensor_pool_options needs use_tensor_pooling = true; "
                    "use_tensor_pooling is false; set it to true, or tensor_pool_options to "
                    "\"none\""});
}

TEST_CASE("A configuration from code is told all its mistakes at once") {
  Config config = Config::MultiGpu(2);
  config.memory_warning_threshold = 0;
  config.tensor_pool_options = TensorPoolOptions{.max_pool_size_mb = -1};
  config.custom_device_assignments = {0, 1};
  CHECK_THROWS_WITH(
      CheckMemory(config),
      "[memory] 'memory_warning_threshold' must be a number > 0 and <= 1; 0.0 was given\n"
      "[memory.tensor_pool_options] 'max_pool_size_mb' must be an integer >= 1 and <= "
      "8796093022207; -1 was given\n"
      "[memory] custom_device_assignments needs sharding_strategy = \"Custom\"; sharding_strategy "
      "is \"MemoryBalanced\"; set it to \"Custom\", or remove custom_device_assignments");
}

TEST_CASE("Fields behind a switch that is off are noted if the user wrote them") {
  Config config;
  Origins origins;
  CHECK(IdleMemoryFields(config, origins).empty());
  origins.Set("memory.checkpoint_every_n_layers", Origin::At({"f.toml", 2, 1}));
  origins.Set("memory.micro_batch_count", Origin::At({"--set memory.micro_batch_count=1", 0, 0}));
  origins.Set("memory.max_pool_memory_mb", Origin::At({"f.toml", 3, 1}));  // its switch is on
  origins.Set("memory.checkpoint_residual_blocks", Origin::Code());
  CHECK(IdleMemoryFields(config, origins) ==
        Lines{"checkpoint_every_n_layers (f.toml:2) has no effect while "
              "use_gradient_checkpointing is false",
              "micro_batch_count (--set) has no effect while use_pipeline_parallelism is false"});
  config.use_gradient_checkpointing = config.use_pipeline_parallelism = true;
  CHECK(IdleMemoryFields(config, origins).empty());
}

}  // namespace frugal
