// Presets in files of one's own.
#include "presets/config/resolved.h"
#include "presets/config/toml_reader.h"
#include "presets/memory_fields.h"
#include "presets/memory_presets.h"
#include "presets/memory_reader.h"
#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"

namespace frugal {
namespace {

using Config = TrainingMemoryConfig;
using testing::TempDir;

struct PresetReading {
  Config config;
  Origins origins;
  std::vector<std::string> lines;

  std::string OriginOf(const std::string& field) const {
    return ToString(origins.Of("memory." + field));
  }
};

// Writes files into a directory and reads them.
class Files {
 public:
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = directory_.File(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  std::string Path(const std::string& name) const { return directory_.File(name); }

  PresetReading Read(const std::string& toml) const {
    const ConfigNode root = ParseTomlFile(Write("train.toml", toml));
    PresetReading reading;
    Diagnostics diagnostics;
    reading.config = ReadMemoryOf(root, reading.origins, diagnostics);
    reading.lines = diagnostics.Lines();
    return reading;
  }

  // The only line of what is wrong, with the directory left out.
  std::string Complaint(const std::string& toml) const {
    const PresetReading reading = Read(toml);
    REQUIRE(reading.lines.size() == 1);
    std::string line = reading.lines.front();
    const std::string place = Path("");
    for (std::size_t at = line.find(place); at != std::string::npos; at = line.find(place)) {
      line.erase(at, place.size());
    }
    return line;
  }

 private:
  TempDir directory_;
};

TEST_CASE("a preset's file extends another, and both say where a value comes from") {
  const Files files;
  files.Write("team.toml",
              "[memory]\nextend = \"ForConvNets\"\ncheckpoint_every_n_layers = 5\n"
              "tensor_pool_options = { max_pool_size_mb = 7 }\n");
  files.Write("more/mine.toml", "[memory]\nextend = \"../team.toml\"\nmax_pool_memory_mb = 99\n");
  const PresetReading reading =
      files.Read("[memory]\nmicro_batch_count = 3\npreset = \"more/mine.toml\"\n");
  CHECK(reading.lines.empty());
  Config expected = Config::ForConvNets();
  expected.checkpoint_every_n_layers = 5;
  expected.tensor_pool_options = TensorPoolOptions{.max_pool_size_mb = 7};
  expected.max_pool_memory_mb = 99;
  CHECK(ReadMemoryPreset(files.Path("more/mine.toml")) == expected);
  expected.micro_batch_count = 3;
  CHECK(reading.config == expected);
  CHECK(reading.OriginOf("max_pool_memory_mb") == "preset " + files.Path("more/mine.toml") + ":3");
  CHECK(reading.OriginOf("checkpoint_every_n_layers") ==
        "preset " + files.Path("team.toml") + ":3");
  CHECK(reading.OriginOf("tensor_pool_options.max_pool_size_mb") ==
        "preset " + files.Path("team.toml") + ":4");
  CHECK(reading.OriginOf("checkpoint_attention_layers") == "preset ForConvNets");
  CHECK(reading.OriginOf("micro_batch_count").ends_with("train.toml:2:1"));
  CHECK(reading.OriginOf("memory_warning_threshold") == "default");
  CHECK(reading.config.began_as.preset == "more/mine.toml");
}

TEST_CASE("who extends a preset with arguments gives them as who names it does") {
  const Files files;
  files.Write("pool.toml", "[memory]\nextend = \"AggressivePooling\"\nmax_pool_memory_mb = 64\n");
  CHECK(ReadMemoryPreset(files.Path("pool.toml")) == Config::AggressivePooling(64));
  CHECK(files.Read("[memory]\npreset = \"pool.toml\"\nmax_pool_memory_mb = 32\n").config ==
        Config::AggressivePooling(32));
  files.Write("devices.toml", "[memory]\nextend = \"MultiGpu\"\n");
  CHECK(files.Read("[memory]\npreset = \"devices.toml\"\nnum_devices = 3\n").config ==
        Config::MultiGpu(3));
}

TEST_CASE("an empty preset is the defaults") {
  const Files files;
  files.Write("none.toml", "# nothing\n");
  CHECK(ReadMemoryPreset(files.Path("none.toml")) == Config());
}

TEST_CASE("what is wrong with a chain of presets is said with its place") {
  const Files files;
  CHECK(files.Complaint("[memory]\npreset = \"zzz.toml\"\n") ==
        "train.toml:2:10: [memory] 'preset' names a preset or its file; there is no file "
        "\"zzz.toml\"; paths count from the file that holds them");
  files.Write("team.toml", "[memory]\ncheckpoint_every_n_layer = 5\n");
  CHECK(
      files.Complaint("[memory]\npreset = \"tean.toml\"\n").ends_with("did you mean 'team.toml'?"));
  CHECK(files.Complaint("[memory]\npreset = \"team.toml\"\n") ==
        "team.toml:2:1: [memory] unknown key 'checkpoint_every_n_layer'; did you mean "
        "'checkpoint_every_n_layers'?");
  files.Write("team.toml", "[memory]\nextend = \"ForConvNet\"\n");
  CHECK(files.Complaint("[memory]\npreset = \"team.toml\"\n")
            .starts_with("team.toml:2:10: [memory] 'extend' must be one of"));
  files.Write("team.toml", "[memory]\nextend = \"other.toml\"\n");
  files.Write("other.toml", "[memory]\nnum_devices = 1\nextend = \"./team.toml\"\n");
  CHECK(files.Complaint("[memory]\npreset = \"team.toml\"\n") ==
        "other.toml:3:10: [memory] a preset extends another one; team.toml -> other.toml -> "
        "team.toml; let one of them extend nothing, or one of the nine");
  files.Write("team.toml", "[training]\nepochs = 3\n");
  CHECK(files.Complaint("[memory]\npreset = \"team.toml\"\n") ==
        "team.toml:1:2: [preset] a preset's file holds a [memory] table alone; 'training' was "
        "given; move it to the configuration");
  files.Write("team.toml", "num_devices = 1\n");
  CHECK(files.Complaint("[memory]\npreset = \"team.toml\"\n").ends_with("write it below [memory]"));
  files.Write("team.toml", "[memory]\npreset = \"ForConvNets\"\n");
  CHECK(
      files.Complaint("[memory]\npreset = \"team.toml\"\n").ends_with("write extend in its place"));
  CHECK(files.Complaint("[memory]\nextend = \"ForConvNets\"\n")
            .ends_with("write preset in its place"));
  files.Write("team.toml", "[memory]\nnum_devices = \"two\"\n");
  CHECK_THROWS_AS(ReadMemoryPreset(files.Path("team.toml")), ConfigError);
  CHECK_THROWS_AS(ReadMemoryPreset(files.Path("missing.toml")), ConfigError);
}

TEST_CASE("a configuration that is written as a preset reads back, whatever it began as") {
  const Files files;
  std::vector<Config> configs = {Config::ForTransferLearning("w.json", WeightsFormat::kJson)};
  for (const std::string& name : PresetNames()) configs.push_back(PresetByName(name));
  for (const Config& config : configs) {
    const std::string path = files.Write("p.toml", WriteMemoryPreset(config, "train.toml"));
    CHECK(ReadMemoryPreset(path) == config);
  }
}

TEST_CASE("changes in code are told from what a preset's file set") {
  const Files files;
  const std::string path = files.Write("p.toml", "[memory]\ncheckpoint_every_n_layers = 5\n");
  Config config = ReadMemoryPreset(path);
  config.micro_batch_count = 8;
  Origins origins;
  MarkMemoryChanges(Config(), config, origins);
  CHECK(origins.Of("memory.checkpoint_every_n_layers").kind == OriginKind::kPreset);
  CHECK(origins.Of("memory.micro_batch_count").kind == OriginKind::kCode);
}

}  // namespace
}  // namespace frugal
