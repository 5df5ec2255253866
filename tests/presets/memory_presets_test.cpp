#include "presets/memory_presets.h"

#include <fstream>
#include <iterator>
#include <map>

#include "presets/config/resolved.h"
#include "presets/memory_fields.h"
#include "presets/memory_reader.h"
#include "presets/memory_rules.h"
#include "presets/presets_table.h"
#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal {
namespace {

using Config = TrainingMemoryConfig;

const std::map<std::string, std::pair<std::string, Config>>& FilesAndConfigs() {
  static const std::map<std::string, std::pair<std::string, Config>> all = {
      {"Default", {"default", Config::Default()}},
      {"MemoryEfficient", {"memory_efficient", Config::MemoryEfficient()}},
      {"SpeedOptimized", {"speed_optimized", Config::SpeedOptimized()}},
      {"MultiGpu", {"multi_gpu", Config::MultiGpu(1)}},
      {"ForTransformers", {"for_transformers", Config::ForTransformers()}},
      {"ForConvNets", {"for_conv_nets", Config::ForConvNets()}},
      {"ForTransferLearning",
       {"for_transfer_learning", Config::ForTransferLearning("model.safetensors")}},
      {"FastConstruction", {"fast_construction", Config::FastConstruction()}},
      {"AggressivePooling", {"aggressive_pooling", Config::AggressivePooling()}}};
  return all;
}

std::string PathOf(const std::string& stem) {
  return std::string(FRUGAL_SOURCE_DIR) + "/presets/" + stem + ".toml";
}

}  // namespace

TEST_CASE("Each preset sets exactly what its row says") {
  Config expected;
  CHECK(Config::Default() == expected);

  expected = {};
  expected.use_gradient_checkpointing = true;
  expected.checkpoint_every_n_layers = 1;
  expected.checkpoint_planning = CheckpointPlanning::kFastest;
  CHECK(Config::ForTransformers() == expected);
  expected.checkpoint_planning = CheckpointPlanning::kLeastPeak;
  expected.max_pool_memory_mb = 2048;
  CHECK(Config::MemoryEfficient() == expected);

  expected = {};
  expected.max_pool_memory_mb = 8192;
  CHECK(Config::SpeedOptimized() == expected);

  expected = {};
  expected.use_gradient_checkpointing = true;
  expected.num_devices = 3;
  expected.sharding_strategy = ShardingStrategy::kMemoryBalanced;
  expected.use_pipeline_parallelism = true;
  CHECK(Config::MultiGpu(3) == expected);

  expected = {};
  expected.use_gradient_checkpointing = true;
  expected.checkpoint_every_n_layers = 3;
  expected.checkpoint_attention_layers = false;
  expected.checkpoint_planning = CheckpointPlanning::kFastest;
  expected.max_pool_memory_mb = 2048;
  CHECK(Config::ForConvNets() == expected);

  expected = {};
  expected.use_gradient_checkpointing = true;
  expected.default_initialization_strategy = InitializationStrategy::kFromFile;
  expected.weights_file_path = "w.json";
  CHECK(Config::ForTransferLearning("w.json") == expected);
  expected.weights_file_format = WeightsFormat::kJson;
  CHECK(Config::ForTransferLearning("w.json", WeightsFormat::kJson) == expected);

  expected = {};
  expected.use_activation_pooling = false;
  expected.use_tensor_pooling = false;
  expected.default_initialization_strategy = InitializationStrategy::kLazy;
  CHECK(Config::FastConstruction() == expected);

  expected = {};
  expected.max_pool_memory_mb = 512;
  expected.tensor_pool_options =
      TensorPoolOptions{.max_pool_size_mb = 512, .max_items_per_bucket = 20};
  CHECK(Config::AggressivePooling() == expected);
  expected.max_pool_memory_mb = 64;
  expected.tensor_pool_options->max_pool_size_mb = 64;
  CHECK(Config::AggressivePooling(64) == expected);
}

TEST_CASE("Presets are found by name, and unknown names get the nearest") {
  CHECK(PresetNames().size() == 9);
  CHECK(PresetByName("ForConvNets") == Config::ForConvNets());
  CHECK(PresetByName("MultiGpu", {.num_devices = 2}) == Config::MultiGpu(2));
  CHECK_THROWS_WITH(
      PresetByName("ForConvNet"),
      "[memory] 'preset' must be one of Default, MemoryEfficient, SpeedOptimized, MultiGpu, "
      "ForTransformers, ForConvNets, ForTransferLearning, FastConstruction, AggressivePooling; "
      "\"ForConvNet\" was given; did you mean 'ForConvNets'?");
  CHECK_THROWS_AS(PresetByName(""), ConfigError);
  for (const std::string& name : PresetNames()) CHECK(PresetDoc(name).ends_with('.'));
}

TEST_CASE("Every preset passes the rules") {
  for (const auto& [name, entry] : FilesAndConfigs()) {
    INFO(name);
    CHECK_NOTHROW(CheckMemory(entry.second));
  }
}

TEST_CASE("Each preset is what its file in presets/ says") {
  REQUIRE(FilesAndConfigs().size() == PresetNames().size());
  for (const auto& [name, entry] : FilesAndConfigs()) {
    const std::string path = PathOf(entry.first);
    INFO(path);
    TrainingMemoryConfig read = ReadMemoryPreset(path);
    if (name == "ForTransferLearning") read.weights_file_path = "model.safetensors";
    CHECK(read == entry.second);
    std::ifstream stream(path);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    CHECK(text == PresetText(name));  // as it was compiled in
    CHECK(text.starts_with("# " + PresetDoc(name) + "\n"));
    for (const PresetSetting& setting : PresetSettings(name)) {
      CHECK(text.find("\n" + setting.field + " = " + ToString(setting.value)) != std::string::npos);
    }
  }
}

TEST_CASE("The nine presets stand side by side in 120 columns") {
  const std::string text = PresetsTable();
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    CHECK(end - begin <= 120);
    begin = end + 1;
  }
  for (const std::string& name : PresetNames()) CHECK(text.find(name) != std::string::npos);
  for (const std::string& name : MemoryFields().Names())
    CHECK(text.find(name) != std::string::npos);
  CHECK(text.find("checkpoint_every_n_layers               2          1                .      "
                  "         .               1\n") != std::string::npos);
  CHECK(text.find("  .max_items_per_bucket                 10         .            .            "
                  "        .                 20\n") != std::string::npos);
}

}  // namespace frugal
