// The presets keep what their names promise, and so do the fields of checkpointing: by plans of the
// samples and of published models.
#include <filesystem>
#include <fstream>
#include <set>

#include "builders/plan/planner.h"
#include "builders/plan/published_models.h"
#include "presets/memory_presets.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/random.h"
#include "tests/catch.h"
#include "tests/support/own_parts.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;
using Config = TrainingMemoryConfig;

// Holds what a plan says of memory and time.
struct Seen {
  std::int64_t peak = 0;
  double work = 0;        // of a training step
  double recomputed = 0;  // part of it
  std::int64_t kept = 0;  // between steps
};

// A training by its configuration, planned with any memory policy.
using Planner = std::function<PlannedTraining(const Config&)>;
using Case = std::pair<std::string, Planner>;

Seen See(const PlannedTraining& planned) {
  const Plan& plan = planned.plan;
  return {.peak = plan.peak_bytes,
          .work = plan.steps.front().flops,
          .recomputed = plan.steps.front().recomputed_flops,
          .kept = plan.arena_kept_bytes};
}

PlannedTraining PlanWith(RunConfig config, const Config& memory, const DataLayout* layout) {
  MarkMemoryChanges(config.memory, memory, config.origins);
  config.memory = memory;
  return PlanTraining(config, layout);
}

Case Published(const std::string& name, std::int64_t batch) {
  const RunConfig config = NamedModelConfig(name, {"training.batch_size=" + std::to_string(batch)});
  const auto layout = std::make_shared<const DataLayout>(LayoutWithoutData(config));
  return {name, [config, layout](const Config& memory) {
            return PlanWith(config, memory, layout.get());
          }};
}

std::vector<Case> ConvNets() { return {Published("resnet-18", 32), Published("resnet-50", 8)}; }
std::vector<Case> Transformers() {
  return {Published("gpt2", 2), Published("vit-b-16", 4), Published("dit-s-2", 8)};
}

bool ReadsText(const std::string& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("text_file")) return true;
  }
  return false;
}

// Each as its file says, but for data that every machine has, and for its own fields of memory.
std::vector<Case> Samples() {
  RegisterOwnParts();
  std::vector<Case> cases;
  for (const auto& entry : fs::recursive_directory_iterator(FRUGAL_SOURCE_DIR "/samples")) {
    if (entry.path().extension() != ".toml") continue;
    const std::string file = entry.path().string();
    std::vector<std::string> overrides = {"training.evaluate=false"};
    if (ReadsText(file)) {
      overrides.emplace_back("data.text_file=\"" FRUGAL_SOURCE_DIR "/README.md\"");
    }
    cases.emplace_back(file, [file, overrides](const Config& memory) {
      return AiModelBuilder::FromToml(file, overrides)
          .AllowMissingWeights(false)
          .Memory(memory)
          .Plan();
    });
  }
  return cases;
}

std::vector<Case> All() {
  std::vector<Case> cases = Samples();
  for (const auto& some : {ConvNets(), Transformers(), {Published("sd-1.5", 1)}}) {
    cases.insert(cases.end(), some.begin(), some.end());
  }
  return cases;
}

// Those that need neither a file of weights nor devices.
std::vector<std::string> Comparable() {
  return {"Default",         "MemoryEfficient", "SpeedOptimized",   "MultiGpu",
          "ForTransformers", "ForConvNets",     "FastConstruction", "AggressivePooling"};
}

std::map<std::string, Seen> UnderPresets(const Planner& plan) {
  std::map<std::string, Seen> seen;
  for (const std::string& preset : Comparable()) seen[preset] = See(plan(PresetByName(preset)));
  return seen;
}

TEST_CASE("the presets keep what their names promise", "[presets]") {
  for (const auto& [name, plan] : All()) {
    INFO(name);
    const std::map<std::string, Seen> seen = UnderPresets(plan);
    for (const auto& [preset, other] : seen) {
      INFO(preset);
      CHECK(seen.at("MemoryEfficient").peak <= other.peak);
    }
    CHECK(seen.at("SpeedOptimized").recomputed == 0);
    constexpr std::int64_t kPool = 512 * kBytesPerMegabyte;
    CHECK(seen.at("AggressivePooling").kept >= std::min(seen.at("Default").kept, kPool));
    CHECK(seen.at("AggressivePooling").kept <= kPool);
  }
}

// The best trade: no preset takes both less memory and less time, and the peak is well below that
// of keeping all.
void CheckBestTrade(const std::string& preset, const std::vector<Case>& cases, double most_peak) {
  for (const auto& [name, plan] : cases) {
    const std::map<std::string, Seen> seen = UnderPresets(plan);
    const Seen& mine = seen.at(preset);
    INFO(name << ": " << mine.peak << " bytes, " << mine.recomputed / mine.work << " twice");
    CHECK(static_cast<double>(mine.peak) <
          most_peak * static_cast<double>(seen.at("Default").peak));
    for (const auto& [other_name, other] : seen) {
      INFO(other_name << ": " << other.peak << " bytes, " << other.recomputed / other.work);
      CHECK_FALSE((other.peak < mine.peak && other.recomputed < mine.recomputed));
    }
  }
}

TEST_CASE("ForConvNets is the best trade on convolutional networks", "[presets]") {
  CheckBestTrade("ForConvNets", ConvNets(), 0.9);
}

TEST_CASE("ForTransformers is the best trade on transformers", "[presets]") {
  CheckBestTrade("ForTransformers", Transformers(), 0.9);
}

Config Runs(std::int64_t every, bool attention, bool residual) {
  Config memory;
  memory.use_gradient_checkpointing = true;
  memory.checkpoint_every_n_layers = every;
  memory.checkpoint_attention_layers = attention;
  memory.checkpoint_residual_blocks = residual;
  return memory;
}

// Layers that may run again lower the peak and take time; where the network has no such layers,
// nothing changes.
void CheckKind(const Seen& again, const Seen& once, bool has_such) {
  CHECK(again.peak <= once.peak);
  CHECK(once.recomputed <= again.recomputed);
  if (!has_such) return;
  CHECK(again.peak < once.peak);
  CHECK(once.recomputed < again.recomputed);
}

TEST_CASE("attention and residual blocks that may run again lower the peak for time", "[presets]") {
  std::vector<Case> cases = Transformers();
  cases.push_back(Published("sd-1.5", 1));
  for (const Case& one : ConvNets()) cases.push_back(one);
  for (const auto& [name, plan] : cases) {
    const bool attends = !name.starts_with("resnet");
    for (const std::int64_t every : {1, 2, 3, 100}) {
      for (const bool other : {true, false}) {
        INFO(name << " every " << every << (other ? ", the other kind too" : ""));
        CheckKind(See(plan(Runs(every, true, other))), See(plan(Runs(every, false, other))),
                  attends);
        CheckKind(See(plan(Runs(every, other, true))), See(plan(Runs(every, other, false))), true);
      }
    }
  }
}

TEST_CASE("runs of other numbers of layers are other plans of GPT-2", "[presets]") {
  const Planner plan = Published("gpt2", 2).second;
  std::set<std::int64_t> peaks;
  for (const std::int64_t every : {1, 2, 3, 100}) {
    peaks.insert(See(plan(Runs(every, true, true))).peak);
  }
  CHECK(peaks.size() == 4);
}

TEST_CASE("the plan names the number of layers whose runs peak least", "[presets]") {
  for (const auto& [name, plan] :
       {Published("gpt2", 2), Published("dit-s-2", 8), Published("resnet-50", 8)}) {
    INFO(name);
    std::map<std::int64_t, std::int64_t> peaks;
    for (std::int64_t every = 1; every <= 24; ++every) {
      const PlannedTraining planned = plan(Runs(every, true, true));
      if (!planned.plan.kinds) peaks[every] = planned.plan.peak_bytes;
    }
    const auto least =
        std::ranges::min_element(peaks, {}, [](const auto& entry) { return entry.second; });
    const PlannedTraining planned = plan(Runs(24, true, true));
    REQUIRE(planned.plan.least_runs);
    CHECK(planned.plan.least_runs->peak_bytes == least->second);
    CHECK(peaks.at(planned.plan.least_runs->every_n_layers) == least->second);
    CHECK_FALSE(plan(Runs(least->first, true, true)).plan.least_runs);
  }
}

// Networks of random layers, among them residual blocks around attention.
LayerList::Fill RandomNetwork(std::uint64_t seed) {
  return [seed](LayerList& list) {
    std::uint64_t next = 0;
    const auto draw = [&](std::uint64_t bound) {
      return static_cast<std::uint64_t>(UniformAt(StreamKey(seed, "network"), next++) *
                                        static_cast<double>(bound));
    };
    list.Dense({.units = 16});
    for (std::uint64_t i = 0; i < 4 + draw(8); ++i) {
      switch (draw(5)) {
        case 0:
          list.Dense({.units = 16, .activation = Activation::kGelu});
          break;
        case 1:
          list.LayerNorm();
          break;
        case 2:
          list.Attention({.heads = 2});
          break;
        case 3:
          list.Residual({}, [](LayerList& body) { body.LayerNorm().Attention({.heads = 4}); });
          break;
        default:
          list.Residual({}, [](LayerList& body) {
            body.LayerNorm()
                .Dense({.units = 64, .activation = Activation::kGelu})
                .Dense({.units = 16});
          });
      }
    }
    list.Dense({.units = 16});
  };
}

TEST_CASE("what may run again never raises the peak of random networks", "[presets][property]") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Planner plan = [seed](const Config& memory) {
      SmallRun run;
      run.network = "decoder";
      run.memory = memory;
      DataLayout layout = SyntheticTextLayout({.length = 24, .features = 16});
      layout.sample_shape = {24, 16};
      layout.vocabulary = 0;
      return BuilderFor(run)
          .Data(layout, SyntheticSources(layout))
          .Loss({.kind = LossKind::kMse})
          .Layers(RandomNetwork(seed))
          .Plan();
    };
    for (const std::int64_t every : {1, 2, 5}) {
      for (const bool other : {true, false}) {
        INFO(seed << " every " << every << (other ? ", the other kind too" : ""));
        CheckKind(See(plan(Runs(every, true, other))), See(plan(Runs(every, false, other))), false);
        CheckKind(See(plan(Runs(every, other, true))), See(plan(Runs(every, other, false))), false);
      }
    }
  }
}

}  // namespace
}  // namespace frugal::testing
