#include "presets/memory_reader.h"

#include <random>

#include "presets/config/override.h"
#include "presets/config/resolved.h"
#include "presets/config/toml_reader.h"
#include "presets/memory_fields.h"
#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal {
namespace {

using Config = TrainingMemoryConfig;
using Lines = std::vector<std::string>;

struct MemoryReading {
  Config config;
  Origins origins;
  Lines lines;

  std::string OriginOf(const std::string& field) const {
    return ToString(origins.Of("memory." + field));
  }
};

MemoryReading ReadLines(const std::string& toml, const Lines& overrides = {}) {
  ConfigNode root = ParseTomlText(toml, "train.toml");
  for (const std::string& text : overrides) ApplyOverride(root, text);
  MemoryReading reading;
  Diagnostics diagnostics;
  reading.config = ReadMemoryOf(root, reading.origins, diagnostics);
  reading.lines = diagnostics.Lines();
  return reading;
}

}  // namespace

TEST_CASE("Without a memory table all is default") {
  for (const char* text : {"", "[memory]", "[data]\nx = 1"}) {
    const MemoryReading reading = ReadLines(text);
    CHECK(reading.lines.empty());
    CHECK(reading.config == Config{});
    CHECK(reading.OriginOf("num_devices") == "default");
  }
}

TEST_CASE("Default gives way to preset, preset to TOML, TOML to the command line") {
  const MemoryReading reading = ReadLines(
      "[memory]\nmax_pool_memory_mb = 100\ncheckpoint_every_n_layers = 5\n"
      "preset = \"ForConvNets\"\n",
      {"memory.checkpoint_every_n_layers=6"});
  CHECK(reading.lines.empty());
  Config expected = Config::ForConvNets();
  expected.max_pool_memory_mb = 100;
  expected.checkpoint_every_n_layers = 6;
  CHECK(reading.config == expected);
  CHECK(reading.OriginOf("checkpoint_every_n_layers") == "--set");
  CHECK(reading.OriginOf("max_pool_memory_mb") == "train.toml:2:1");
  CHECK(reading.OriginOf("checkpoint_attention_layers") == "preset ForConvNets");
  CHECK(reading.OriginOf("use_activation_pooling") == "preset ForConvNets");  // equals the default
  CHECK(reading.OriginOf("num_devices") == "default");
  const std::string text =
      ResolvedText(Resolve(MemoryFields(), &reading.config, "memory", reading.origins));
  CHECK(text.find("\nmax_pool_memory_mb = 100 (train.toml:2)\n") != std::string::npos);
  CHECK(text.find("\ncheckpoint_every_n_layers = 6 (--set)\n") != std::string::npos);
}

TEST_CASE("The preset itself can come from the command line") {
  const MemoryReading reading =
      ReadLines("[memory]\npreset = \"ForConvNets\"\n", {"memory.preset=FastConstruction"});
  CHECK(reading.config == Config::FastConstruction());
  CHECK(ReadLines("", {"memory.preset=ForTransformers"}).config == Config::ForTransformers());
}

TEST_CASE("Presets take their arguments from the same table") {
  CHECK(ReadLines("[memory]\npreset = \"MultiGpu\"").config == Config::MultiGpu(1));
  const MemoryReading many = ReadLines("[memory]\npreset = \"MultiGpu\"\nnum_devices = 2\n");
  CHECK(many.config == Config::MultiGpu(2));
  CHECK(many.lines.empty());

  CHECK(ReadLines("[memory]\npreset = \"AggressivePooling\"").config ==
        Config::AggressivePooling());
  const MemoryReading pool =
      ReadLines("[memory]\npreset = \"AggressivePooling\"\nmax_pool_memory_mb = 9\n");
  CHECK(pool.config == Config::AggressivePooling(9));
  CHECK(pool.OriginOf("max_pool_memory_mb") == "train.toml:3:1");
  CHECK(pool.OriginOf("tensor_pool_options.max_pool_size_mb") == "preset AggressivePooling");

  CHECK(ReadLines("[memory]\npreset = \"ForTransferLearning\"\nweights_file_path = \"w\"\n"
                  "weights_file_format = \"Binary\"")
            .config == Config::ForTransferLearning("w", WeightsFormat::kBinary));
  CHECK(ReadLines("[memory]\npreset = \"ForTransferLearning\"\n").lines ==
        Lines{"train.toml:2:1: [memory] default_initialization_strategy = \"FromFile\" needs a "
              "weights_file_path; none was given; add weights_file_path = "
              "\"model.safetensors\""});
}

TEST_CASE("Pool options are merged into those of the preset, or taken away") {
  const MemoryReading merged = ReadLines(
      "[memory]\npreset = \"AggressivePooling\"\n[memory.tensor_pool_options]\nenabled = false\n");
  CHECK(merged.lines.empty());
  Config expected = Config::AggressivePooling();
  expected.tensor_pool_options->enabled = false;
  CHECK(merged.config == expected);
  const MemoryReading taken =
      ReadLines("[memory]\npreset = \"AggressivePooling\"\ntensor_pool_options = \"none\"\n");
  CHECK(taken.lines.empty());
  CHECK_FALSE(taken.config.tensor_pool_options.has_value());
  CHECK(taken.OriginOf("tensor_pool_options") == "train.toml:3:1");
}

TEST_CASE("All mistakes are told at once, with their places") {
  const MemoryReading reading = ReadLines(
      "[memory]\n"
      "checkpoint_every_n_layer = 2\n"
      "memory_warning_threshold = 1.5\n"
      "max_pool_memory_mb = 3.0\n"
      "num_devices = \"two\"\n"
      "sharding_strategy = \"evensplit\"\n"
      "use_tensor_pooling = 1\n"
      "[memory.tensor_pool_options]\n"
      "max_items_per_buckets = 3\n"
      "enabled = \"no\"\n",
      {"memory.micro_batch_count=0", "memory.num_device=1"});
  CHECK(reading.lines ==
        Lines{"train.toml:2:1: [memory] unknown key 'checkpoint_every_n_layer'; did you mean "
              "'checkpoint_every_n_layers'?",
              "train.toml:3:28: [memory] 'memory_warning_threshold' must be a number > 0 and <= 1; "
              "1.5 was given",
              "train.toml:4:22: [memory] 'max_pool_memory_mb' must be an integer >= 1 and <= "
              "8796093022207; a number was given: 3.0",
              "train.toml:5:15: [memory] 'num_devices' must be an integer >= 1 and <= 4096; "
              "a string was given: \"two\"",
              "train.toml:6:21: [memory] 'sharding_strategy' must be one of EvenSplit, "
              "MemoryBalanced, Custom; \"evensplit\" was given; did you mean 'EvenSplit'?",
              "train.toml:7:22: [memory] 'use_tensor_pooling' must be true or false; an integer "
              "was given: 1",
              "train.toml:9:1: [memory.tensor_pool_options] unknown key 'max_items_per_buckets'; "
              "did you mean 'max_items_per_bucket'?",
              "train.toml:10:11: [memory.tensor_pool_options] 'enabled' must be true or false; a "
              "string was given: \"no\"",
              "--set memory.num_device=1: [memory] unknown key 'num_device'; did you mean "
              "'num_devices'?",
              "--set memory.micro_batch_count=0: [memory] 'micro_batch_count' must be an integer "
              ">= 1; 0 was given"});
}

TEST_CASE("A misspelt key preset is recognized") {
  CHECK(ReadLines("[memory]\nprest = \"ForConvNets\"\n").lines ==
        Lines{"train.toml:2:1: [memory] unknown key 'prest'; did you mean 'preset'?"});
}

TEST_CASE("An unknown preset is one complaint, without its consequences") {
  CHECK(ReadLines("[memory]\npreset = \"ForTransferLerning\"\nweights_file_path = \"w\"\n").lines ==
        Lines{"train.toml:2:10: [memory] 'preset' must be one of Default, MemoryEfficient, "
              "SpeedOptimized, MultiGpu, ForTransformers, ForConvNets, ForTransferLearning, "
              "FastConstruction, AggressivePooling; \"ForTransferLerning\" was given; did you mean "
              "'ForTransferLearning'?"});
  CHECK(ReadLines("[memory]\npreset = 3\n").lines.size() == 1);
}

TEST_CASE("Contradictions stand at what the user wrote") {
  const MemoryReading reading = ReadLines(
      "[memory]\npreset = \"AggressivePooling\"\nuse_tensor_pooling = false\n"
      "custom_device_assignments = [0]\n");
  REQUIRE(reading.lines.size() == 2);
  CHECK(reading.lines[0].find("train.toml:3:1: [memory] tensor_pool_options needs") == 0);
  CHECK(reading.lines[1].find("train.toml:4:1: [memory] custom_device_assignments needs") == 0);
}

TEST_CASE("A wrong value is not also a contradiction") {
  const MemoryReading reading = ReadLines(
      "[memory]\ndefault_initialization_strategy = \"FromFile\"\nweights_file_path = 3\n");
  CHECK(reading.lines ==
        Lines{"train.toml:3:21: [memory] 'weights_file_path' must be a string; an integer was "
              "given: 3"});
}

TEST_CASE("A memory section that is no table is one complaint") {
  CHECK(ReadLines("memory = 3").lines ==
        Lines{"train.toml:1:10: [memory] must be a table; an integer was given: 3"});
  CHECK(ReadLines("[[memory]]").lines.size() == 1);
}

TEST_CASE("Whole texts are read or refused in one call") {
  CHECK(ReadMemoryText("[memory]\npreset = \"ForConvNets\"") == Config::ForConvNets());
  CHECK_THROWS_WITH(
      ReadMemoryText("[memory]\nx = 1\nnum_devices = 0"),
      "text:2:1: [memory] unknown key 'x'; remove it; `frugal schema` lists the known "
      "keys\ntext:3:15: [memory] 'num_devices' must be an integer >= 1 and <= 4096; 0 was "
      "given");
  CHECK_THROWS_AS(ReadMemoryFile("/no/such/file.toml"), ConfigError);
}

TEST_CASE("Every preset reads back from what it is written as") {
  for (const Config& config :
       {Config::Default(), Config::MemoryEfficient(), Config::SpeedOptimized(), Config::MultiGpu(1),
        Config::ForTransformers(), Config::ForConvNets(),
        Config::ForTransferLearning("a \"b\".bin", WeightsFormat::kBinary),
        Config::FastConstruction(), Config::AggressivePooling(3)}) {
    CHECK(ReadMemoryText(WriteMemoryToml(config)) == config);
  }
}

TEST_CASE("Damaged files are refused or read, never crashed on") {
  std::mt19937 random(11);
  const std::string good = WriteMemoryToml(Config::AggressivePooling());
  for (int i = 0; i < 500; ++i) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    text.resize(random() % (text.size() + 1));
    try {
      ReadMemoryText(text);
    } catch (const ConfigError& error) {
      CHECK_FALSE(std::string(error.what()).empty());
    }
  }
}

}  // namespace frugal
