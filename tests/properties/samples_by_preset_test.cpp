// Every sample's configuration under every preset, at several batch sizes: trained as planned, and
// to the same losses.
#include <filesystem>
#include <fstream>

#include "presets/memory_presets.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/own_parts.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> SampleFiles() {
  RegisterOwnParts();  // which one of them asks for
  std::vector<std::string> files;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(FRUGAL_SOURCE_DIR) / "samples")) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
  }
  return files;
}

bool TrainsOnText(const std::string& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("text_file")) return true;
  }
  return false;
}

// The file's training under a preset; `weights` is for the one that starts from a file.
AiModelBuilder Short(const std::string& file, const std::string& preset, std::int64_t batch,
                     const std::string& weights = "") {
  std::vector<std::string> overrides = {"training.epochs=1",
                                        "training.max_steps=2",
                                        "data.test_limit=70",
                                        "training.evaluation_batch_size=64",
                                        "training.batch_size=" + std::to_string(batch),
                                        "memory.micro_batch_count=2"};
  if (TrainsOnText(file)) {  // whatever text there is
    overrides.push_back("data.text_file=\"" FRUGAL_SOURCE_DIR "/README.md\"");
  }
  AiModelBuilder builder = AiModelBuilder::FromToml(file, overrides);
  TrainingMemoryConfig memory = PresetByName(preset, {.weights_file_path = weights});
  memory.track_memory_statistics = builder.config().memory.track_memory_statistics;
  return builder.Memory(memory).Snapshots({}).AllowMissingWeights(false);
}

TEST_CASE("every sample under every preset trains its plan, to the same losses") {
  REQUIRE_FALSE(SampleFiles().empty());
  for (const std::string& file : SampleFiles()) {
    const TempDir directory;
    const std::string weights = directory.File("weights.safetensors");
    Short(file, "Default", 5).Build().SaveWeights(weights);
    for (const std::int64_t batch : {5, 16}) {
      const TrainingResult expected = Short(file, "Default", batch).Build().Train();
      for (const std::string& preset : PresetNames()) {
        INFO(file << " " << preset << " " << batch);
        Model model = Short(file, preset, batch, weights).Build();
        const TrainingResult result = model.Train();
        CHECK(result.losses == expected.losses);
        CHECK(result.weights_hash == expected.weights_hash);
        CHECK(model.plan().peak_by_purpose == result.memory.peak_by_purpose);
        CHECK(model.plan().peak_bytes == result.memory.peak_bytes);
      }
    }
  }
}

// With one micro-batch, a mesh comes to the bits of one device.
void CheckOnDevices(const std::string& file, const std::string& preset, std::int64_t devices,
                    const std::string& weights, const TrainingResult& expected) {
  INFO(file << " " << preset << " on " << devices << " devices");
  AiModelBuilder builder = Short(file, preset, 5, weights);
  TrainingMemoryConfig memory = builder.config().memory;
  memory.num_devices = devices;
  memory.use_pipeline_parallelism = false;
  TrainingOptions training = builder.config().training;
  training.threads = 1;
  Model model = builder.Memory(memory).Training(training).Build();
  const TrainingResult result = model.Train();
  CHECK(result.losses == expected.losses);
  CHECK(result.weights_hash == expected.weights_hash);
  for (std::size_t i = 0; i < model.planned().devices.size(); ++i) {
    const Plan& plan = model.planned().devices[i].plan;
    CHECK(plan.peak_by_purpose == result.memory.devices[i].peak_by_purpose);
    CHECK(plan.peak_bytes == result.memory.devices[i].peak_bytes);
  }
}

TEST_CASE("every sample under every preset trains its plan on several devices too") {
  for (const std::string& file : SampleFiles()) {
    const TempDir directory;
    const std::string weights = directory.File("weights.safetensors");
    AiModelBuilder alone = Short(file, "Default", 5);
    TrainingOptions training = alone.config().training;
    training.threads = 1;
    Model model = alone.Training(training).Build();
    model.SaveWeights(weights);
    const TrainingResult expected = model.Train();
    for (const std::string& preset : PresetNames())
      CheckOnDevices(file, preset, 2, weights, expected);
    CheckOnDevices(file, "MultiGpu", 4, weights, expected);
  }
}

}  // namespace
}  // namespace frugal::testing
