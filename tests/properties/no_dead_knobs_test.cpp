// The third promise: every field of TrainingMemoryConfig changes something that can be observed.
// For each row of the field table, `Observe` tells what is seen under a configuration, and the two
// settings of the row must be seen to differ.
#include <filesystem>
#include <map>

#include "builders/budget/budget_limit.h"
#include "builders/execute/memory_stack.h"
#include "builders/report/rows/plan_notes.h"
#include "builders/setup/dry_environment.h"
#include "presets/config/resolved.h"
#include "presets/memory_fields.h"
#include "tests/catch.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

using Config = TrainingMemoryConfig;
using Change = std::function<void(Config&)>;
using Observe = std::function<std::string(const Config&)>;

struct Knob {
  Change one;
  Change other;
  Observe seen;
};

SmallRun RunWith(const Config& memory) {
  SmallRun run;
  run.network = "resnet";
  run.memory = memory;
  return run;
}

// The error that planning ends in, or "planned" and the notes of the plan.
std::string Outcome(const Config& memory) {
  try {
    std::string text = "planned";
    for (const std::string& note : NotesOn(BuilderFor(RunWith(memory)).Plan())) {
      text += "; " + note;
    }
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

std::string Segments(const Config& memory) {
  std::string text;
  for (const LayerPlan& layer : BuilderFor(RunWith(memory)).Plan().plan.layers) {
    text += std::to_string(layer.segment) + " ";
  }
  return text;
}

std::string Recomputed(const Config& memory) {
  return std::to_string(BuilderFor(RunWith(memory)).Plan().plan.steps.front().recomputed_flops);
}

std::string PeakGradients(const Config& memory) {
  SmallRun run = RunWith(memory);
  run.clip = 0;
  return std::to_string(BuilderFor(run).Plan().plan.peak_by_purpose[MemoryTag::kGradient]);
}

std::string BudgetOf(const Config& memory) {
  const Plan plan = BuilderFor(RunWith(memory)).Plan().plan;
  return plan.budget ? SourceText(plan.budget->origin) : "no budget";
}

// Returns the predicted slowdown of a network of which something must be computed again: its
// activations take some MB.
std::string PredictedSlowdown(const Config& memory) {
  Config limited = memory;
  limited.memory_budget_mb = MemoryBudget{.megabytes = 3};
  const DataLayout layout = SyntheticLayout(512, 0);
  AiModelBuilder builder = BuilderFor(RunWith(limited));
  builder.Data(layout, SyntheticSources(layout)).Training({.batch_size = 256, .evaluate = false});
  builder.Layers([](LayerList& l) {
    l.Conv2d({.filters = 4, .kernel = {3}, .padding = {1}});
    for (int i = 0; i < 9; ++i) l.Activation(Activation::kTanh).LayerNorm();
    l.Flatten().Dense({.units = 5});
  });
  return std::to_string(builder.Plan().plan.budget->predicted_slowdown);
}

// Takes a language model, whose blocks attend.
std::string RecomputedOfGpt(const Config& memory) {
  SmallRun run = RunWith(memory);
  run.network = "gpt2";
  return std::to_string(BuilderFor(run).Plan().plan.steps.front().recomputed_flops);
}

std::string ArenaInUse(const Config& memory) {
  return Train(RunWith(memory)).result.memory.arena_bytes > 0 ? "arena" : "heap";
}

// A network whose steps need more than a megabyte, so that a pool of one is too small.
std::string KeptBetweenSteps(const Config& memory) {
  AiModelBuilder builder = BuilderFor(RunWith(memory));
  builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 65536}).Dense({.units = 5}); });
  return std::to_string(builder.Plan().plan.arena_kept_bytes);
}

std::string Timeline(const Config& memory) {
  const TrainingResult result = Train(RunWith(memory)).result;
  return result.measured_timeline && !result.layers.empty() ? "recorded" : "not recorded";
}

std::string WarningAt(const Config& memory) {
  Config limited = memory;
  limited.max_memory_per_device_mb = 1;
  std::string seen = "no warning";
  MemoryStack stack(limited, [&](const std::string& text) { seen = text; });
  const Block block = stack.tensors().Allocate(700'000, MemoryTag::kParameter);
  return seen;
}

std::string PoolUse(const Config& memory) {
  return Train(RunWith(memory)).result.memory.pool ? "pool" : "heap";
}

std::string SharedPoolMoves(const Config& memory) {
  const PoolStatistics before = SharedTensorPool().statistics();
  Train(RunWith(memory));
  const PoolStatistics after = SharedTensorPool().statistics();
  return before.hits + before.misses == after.hits + after.misses ? "own pool" : "shared pool";
}

// Idle bytes and blocks that a destroyed model leaves in the shared pool: four tensors of one size
// of 600 KB, two small ones.
std::string LeftIdle(const Config& memory) {
  SharedTensorPool().ReleaseIdle();
  {
    MemoryStack stack(memory, {});
    std::vector<Block> blocks;
    for (int i = 0; i < 4; ++i) {
      blocks.push_back(stack.tensors().Allocate(600 * 1024, MemoryTag::kParameter));
    }
    for (int i = 0; i < 2; ++i) {
      blocks.push_back(stack.tensors().Allocate(64, MemoryTag::kParameter));
    }
  }
  return std::to_string(SharedTensorPool().statistics().idle_bytes);
}

Change PoolOption(const std::function<void(TensorPoolOptions&)>& change) {
  return [change](Config& config) {
    config.tensor_pool_options = TensorPoolOptions();
    change(*config.tensor_pool_options);
  };
}

std::string LiveAfterConstruction(const Config& memory) {
  Model model = BuilderFor(RunWith(memory)).Build();
  const std::string live = std::to_string(model.live_bytes());
  return live + " " + model.WeightsHash();
}

std::string WeightsOfSeed(std::int64_t seed) {
  const auto path =
      (std::filesystem::temp_directory_path() / ("frugal_knobs_" + std::to_string(seed))).string();
  AiModelBuilder builder = BuilderFor(RunWith({}));
  TrainingOptions training = builder.config().training;
  training.seed = seed;
  builder.Training(training).Build().SaveWeights(path);
  return path;
}

std::string LoadedHash(const Config& memory) {
  try {
    return BuilderFor(RunWith(memory)).Build().WeightsHash();
  } catch (const WeightFileError& error) {
    return error.what();
  }
}

Change Checkpointed(const Change& change) {
  return [change](Config& config) {
    config.use_gradient_checkpointing = true;
    change(config);
  };
}

std::map<std::string, Knob> CheckpointKnobs() {
  return {
      {"use_gradient_checkpointing",
       {[](Config& c) { c.use_gradient_checkpointing = false; },
        [](Config& c) { c.use_gradient_checkpointing = true; }, Recomputed}},
      {"checkpoint_every_n_layers",
       {Checkpointed([](Config& c) { c.checkpoint_every_n_layers = 1; }),
        Checkpointed([](Config& c) { c.checkpoint_every_n_layers = 3; }), Segments}},
      {"checkpoint_attention_layers",
       {Checkpointed([](Config& c) { c.checkpoint_attention_layers = true; }),
        Checkpointed([](Config& c) { c.checkpoint_attention_layers = false; }), RecomputedOfGpt}},
      {"checkpoint_residual_blocks",
       {Checkpointed([](Config& c) { c.checkpoint_residual_blocks = true; }),
        Checkpointed([](Config& c) { c.checkpoint_residual_blocks = false; }), Recomputed}},
      {"checkpoint_planning",
       {Checkpointed([](Config& c) { c.checkpoint_planning = CheckpointPlanning::kAsStated; }),
        Checkpointed([](Config& c) { c.checkpoint_planning = CheckpointPlanning::kLeastPeak; }),
        Recomputed}},
      {"optimizer_in_backward",
       {[](Config& c) { c.optimizer_in_backward = false; },
        [](Config& c) { c.optimizer_in_backward = true; }, PeakGradients}},
      {"memory_budget_mb",
       {[](Config&) {}, [](Config& c) { c.memory_budget_mb = MemoryBudget{.percent = 50}; },
        BudgetOf}},
      {"planner_costs",
       {[](Config& c) { c.planner_costs = PlannerCosts::kModel; },
        [](Config& c) { c.planner_costs = PlannerCosts::kMeasured; }, PredictedSlowdown}},
      {"high_activation_memory_threshold_bytes",
       {Checkpointed([](Config& c) { c.checkpoint_every_n_layers = 9; }),
        Checkpointed([](Config& c) {
          c.checkpoint_every_n_layers = 9;
          c.high_activation_memory_threshold_bytes = 100;
        }),
        Segments}},
  };
}

// Tells what every device of a run of two steps took, as measured.
std::string BytesOfDevices(const Config& memory) {
  SmallRun run = RunWith(memory);
  run.max_steps = 2;
  std::string text;
  for (const MemoryMeasurement& device : Train(run).result.memory.devices) {
    text += std::to_string(device.peak_bytes) + " ";
  }
  return text;
}

// On two devices, with the change.
Change OnTwo(const Change& change) {
  return [change](Config& c) {
    c.num_devices = 2;
    change(c);
  };
}

Change Assigned(const std::vector<std::int64_t>& devices) {
  return OnTwo([devices](Config& c) {
    c.sharding_strategy = ShardingStrategy::kCustom;
    c.custom_device_assignments = devices;
  });
}

Change Pipelined(std::int64_t micro_batches) {
  return OnTwo([micro_batches](Config& c) {
    c.use_pipeline_parallelism = true;
    c.micro_batch_count = micro_batches;
  });
}

std::map<std::string, Knob> DeviceKnobs() {
  return {
      {"num_devices", {[](Config&) {}, OnTwo([](Config&) {}), BytesOfDevices}},
      {"sharding_strategy",
       {OnTwo([](Config& c) { c.sharding_strategy = ShardingStrategy::kEvenSplit; }),
        OnTwo([](Config& c) { c.sharding_strategy = ShardingStrategy::kMemoryBalanced; }),
        BytesOfDevices}},
      {"custom_device_assignments",
       {Assigned({0, 0, 1, 1, 1, 1, 1}), Assigned({0, 0, 0, 0, 1, 1, 1}), BytesOfDevices}},
      {"max_memory_per_device_mb",
       {[](Config& c) { c.max_memory_per_device_mb = 1000; },
        [](Config& c) { c.max_memory_per_device_mb = 0; }, Outcome}},
      {"use_pipeline_parallelism", {OnTwo([](Config&) {}), Pipelined(2), BytesOfDevices}},
      {"micro_batch_count", {Pipelined(2), Pipelined(4), BytesOfDevices}},
  };
}

std::map<std::string, Knob> PoolKnobs() {
  const auto keep = PoolOption([](TensorPoolOptions&) {});
  return {
      {"use_activation_pooling",
       {[](Config& c) { c.use_activation_pooling = true; },
        [](Config& c) { c.use_activation_pooling = false; }, ArenaInUse}},
      {"max_pool_memory_mb",
       {[](Config& c) { c.max_pool_memory_mb = 4096; }, [](Config& c) { c.max_pool_memory_mb = 1; },
        KeptBetweenSteps}},
      {"use_tensor_pooling",
       {[](Config& c) { c.use_tensor_pooling = true; },
        [](Config& c) { c.use_tensor_pooling = false; }, PoolUse}},
      {"use_shared_tensor_pool",
       {[](Config& c) { c.use_shared_tensor_pool = true; },
        [](Config& c) { c.use_shared_tensor_pool = false; }, SharedPoolMoves}},
      {"tensor_pool_options.max_pool_size_mb",
       {keep, PoolOption([](TensorPoolOptions& o) { o.max_pool_size_mb = 1; }), LeftIdle}},
      {"tensor_pool_options.max_elements_to_pool",
       {keep, PoolOption([](TensorPoolOptions& o) { o.max_elements_to_pool = 1000; }), LeftIdle}},
      {"tensor_pool_options.max_items_per_bucket",
       {keep, PoolOption([](TensorPoolOptions& o) { o.max_items_per_bucket = 2; }), LeftIdle}},
      {"tensor_pool_options.use_weak_references",
       {keep, PoolOption([](TensorPoolOptions& o) { o.use_weak_references = true; }), LeftIdle}},
      {"tensor_pool_options.enabled",
       {keep, PoolOption([](TensorPoolOptions& o) { o.enabled = false; }), LeftIdle}},
  };
}

// Tells what a run took for state, weights and the pieces of a page file, as measured.
std::string ResidentBytes(const Config& memory) {
  const BytesByTag peak = Train(RunWith(memory)).result.memory.peak_by_purpose;
  std::string text;
  for (const MemoryTag tag : {MemoryTag::kOptimizerState, MemoryTag::kParameter, MemoryTag::kPaging,
                              MemoryTag::kActivation}) {
    text += std::to_string(peak[tag]) + " ";
  }
  return text;
}

void Page(Config& config) {
  config.memory_page_file = (std::filesystem::temp_directory_path() / "frugal_page").string();
  config.memory_page_buffer_mb = 2;
  config.memory_page_least_kb = 1;
}

std::map<std::string, Knob> PagingKnobs() {
  std::map<std::string, Knob> knobs;
  for (const char* name : {"memory_page_file", "memory_page_kinds", "memory_page_activations_mb",
                           "memory_page_buffer_mb", "memory_page_least_kb"}) {
    knobs[name].one = knobs[name].other = Page;
    knobs[name].seen = ResidentBytes;
  }
  knobs["memory_page_file"].one = [](Config&) {};
  const auto change = [&](const char* name, auto member, auto value) {
    knobs[name].other = [member, value](Config& config) {
      Page(config);
      config.*member = value;
    };
  };
  change("memory_page_kinds", &Config::memory_page_kinds, PagedKinds::kWeights);
  change("memory_page_activations_mb", &Config::memory_page_activations_mb, 1);
  change("memory_page_buffer_mb", &Config::memory_page_buffer_mb, 4);
  change("memory_page_least_kb", &Config::memory_page_least_kb, 4);
  return knobs;
}

std::map<std::string, Knob> OtherKnobs() {
  const auto from_file = [](std::int64_t seed, WeightsFormat format) {
    return [=](Config& c) {
      c.default_initialization_strategy = InitializationStrategy::kFromFile;
      c.weights_file_path = WeightsOfSeed(seed);
      c.weights_file_format = format;
    };
  };
  return {
      {"track_memory_statistics",
       {[](Config& c) { c.track_memory_statistics = false; },
        [](Config& c) { c.track_memory_statistics = true; }, Timeline}},
      {"memory_warning_threshold",
       {[](Config& c) { c.memory_warning_threshold = 0.9; },
        [](Config& c) { c.memory_warning_threshold = 0.5; }, WarningAt}},
      {"default_initialization_strategy",
       {[](Config& c) { c.default_initialization_strategy = InitializationStrategy::kEager; },
        [](Config& c) { c.default_initialization_strategy = InitializationStrategy::kLazy; },
        LiveAfterConstruction}},
      {"weights_file_path",
       {from_file(1, WeightsFormat::kAuto), from_file(2, WeightsFormat::kAuto), LoadedHash}},
      {"weights_file_format",
       {from_file(1, WeightsFormat::kSafetensors), from_file(1, WeightsFormat::kJson), LoadedHash}},
  };
}

std::map<std::string, Knob> AllKnobs() {
  std::map<std::string, Knob> knobs = CheckpointKnobs();
  knobs.merge(DeviceKnobs());
  knobs.merge(PoolKnobs());
  knobs.merge(PagingKnobs());
  knobs.merge(OtherKnobs());
  return knobs;
}

TEST_CASE("every field of the memory configuration has an effect") {
  Config with_all_tables;
  with_all_tables.tensor_pool_options = TensorPoolOptions();
  const std::map<std::string, Knob> knobs = AllKnobs();
  std::size_t rows = 0;
  for (const FlatField& row : Flatten(MemoryFields(), &with_all_tables)) {
    INFO(row.name);
    const auto knob = knobs.find(row.name);
    REQUIRE(knob != knobs.end());
    Config one;
    Config other;
    knob->second.one(one);
    knob->second.other(other);
    CHECK(knob->second.seen(one) != knob->second.seen(other));
    ++rows;
  }
  CHECK(rows == knobs.size());
}

}  // namespace
}  // namespace frugal::testing
