// Memory reports add up to the byte with what the ledger counts, as planned and as measured.
#include "builders/memory_report/memory_report.h"

#include <numeric>

#include "builders/config/run_config_reader.h"
#include "builders/plan/planner.h"
#include "builders/plan/published_models.h"
#include "tests/io/temp_dir.h"
#include "tests/support/compare_trained.h"

namespace frugal::testing {
namespace {

std::int64_t SumOf(const std::vector<MemoryShare>& shares) {
  return std::accumulate(
      shares.begin(), shares.end(), std::int64_t{0},
      [](std::int64_t sum, const MemoryShare& share) { return sum + share.bytes; });
}

void CheckAddsUp(const StepMemory& memory) {
  CHECK(memory.at_peak.Total() == memory.peak_bytes);
  CHECK(SumOf(SharesByKind(memory)) == memory.peak_bytes);
  CHECK(SumOf(SharesByLayer(memory)) == memory.peak_bytes);
  BytesByTag purposes;
  for (const HeldBlock& block : memory.blocks) purposes[block.tag] += block.bytes;
  CHECK(purposes == memory.at_peak);
}

// The report of a training step is that of the one which is recorded.
void CheckReport(SmallRun run) {
  run.memory.track_memory_statistics = true;
  Model model = BuilderFor(run).Build();
  model.Train();
  const MemoryReport report = model.MemoryReport();
  REQUIRE(report.devices.size() == 1);
  const DeviceReport& device = report.devices.front();
  REQUIRE(device.planned);
  CheckAddsUp(device.planned->memory);
  CHECK(device.planned->memory.peak_bytes == model.plan().peak_bytes);
  CHECK(device.planned->memory.at_peak == model.plan().at_peak);
  REQUIRE(device.measured);
  CheckAddsUp(device.measured->memory);
  REQUIRE(device.now);
  CHECK(device.now->allocator.peak_bytes_in_use == model.plan().peak_bytes);
  CHECK(device.now->allocator.bytes_in_use == model.live_bytes());
  CHECK(device.now->allocator.num_allocs > 0);
  CHECK(device.now->allocator.bytes_reserved >= 0);
  CHECK(device.now->allocator.peak_bytes_reserved >= device.now->allocator.peak_bytes_in_use);
  const StepReport& planned = device.planned_training ? *device.planned_training : *device.planned;
  REQUIRE(planned.name == device.measured->name);
  CheckAddsUp(planned.memory);
  const StepMemory& measured = device.measured->memory;
  CHECK(measured.peak_bytes == planned.memory.peak_bytes);
  CHECK(measured.at_peak == planned.memory.at_peak);
  REQUIRE(measured.blocks.size() == planned.memory.blocks.size());
  REQUIRE(measured.operations.size() == planned.memory.operations.size());
  for (std::size_t i = 0; i < measured.operations.size(); ++i) {
    CHECK(measured.operations[i].name == planned.memory.operations[i].name);
  }
}

TEST_CASE("memory reports of every network add up to the plan's peak, and are the run's") {
  for (const std::string& network : NetworkNames()) {
    INFO(network);
    SmallRun run;
    run.network = network;
    run.max_steps = 3;
    CheckReport(run);
  }
}

TEST_CASE("memory reports under every preset add up") {
  const TempDir directory(MemoryDirectory());
  SmallRun run;
  run.network = "convnet";
  run.max_steps = 3;
  {
    Model model = BuilderFor(run).Build();
    model.SaveWeights(directory.File("weights"));
  }
  for (const auto& [name, memory] : AllPresets(directory.File("weights"))) {
    INFO(name);
    run.memory = memory;
    CheckReport(run);
  }
}

TEST_CASE("tensors of a report have forms, makers and users") {
  SmallRun run;
  run.network = "convnet";
  run.max_steps = 2;
  Model model = BuilderFor(run).Build();
  const MemoryReport report = model.MemoryReport();  // before anything ran
  const StepMemory& memory = report.devices.front().planned->memory;
  CHECK_FALSE(report.devices.front().measured);
  std::int64_t parameters = 0;
  for (const HeldBlock& block : memory.blocks) {
    INFO(block.holder << " " << NameOf(block.tag));
    if (block.tag == MemoryTag::kParameter) {
      ++parameters;
      CHECK(block.form);
      CHECK(block.before_step);
    }
    if (block.tag == MemoryTag::kActivation) {
      CHECK(block.form);
      CHECK(block.made_by);
    }
  }
  CHECK(parameters == std::ssize(model.parameters()));
  CHECK_FALSE(memory.placed.empty());
  CHECK(memory.arena_bytes == model.plan().arena_bytes);
}

TEST_CASE("a step of one's own loop is recorded where it is asked for") {
  SmallRun run;
  run.network = "mlp";
  Model model = BuilderFor(run).Build();
  const std::vector<std::int64_t> samples = {0, 1, 2, 3};
  model.TrainStep(samples);
  CHECK_FALSE(model.MemoryReport().devices.front().measured);
  model.RecordNextStep();
  model.TrainStep(samples);
  const MemoryReport report = model.MemoryReport();
  REQUIRE(report.devices.front().measured);
  CheckAddsUp(report.devices.front().measured->memory);
  CHECK(report.devices.front().measured->name == "train step of 4");  // not of the plan's 8
  double seconds = 0;
  for (const StepOperation& one : report.devices.front().measured->memory.operations) {
    CHECK(one.begin >= seconds);
    seconds = one.begin;
  }
  CHECK(seconds > 0);
}

TEST_CASE("devices have reports of their own") {
  SmallRun run;
  run.network = "mlp";
  run.max_steps = 3;
  run.memory.num_devices = 2;
  run.memory.track_memory_statistics = true;
  Model model = BuilderFor(run).Build();
  model.Train();
  const MemoryReport report = model.MemoryReport();
  REQUIRE(report.devices.size() == 2);
  for (const DeviceReport& device : report.devices) {
    REQUIRE(device.planned);
    REQUIRE(device.measured);
    CheckAddsUp(device.planned->memory);
    CheckAddsUp(device.measured->memory);
    CHECK(device.measured->memory.peak_bytes == device.planned->memory.peak_bytes);
    CHECK(device.now->allocator.peak_bytes_in_use == device.planned->memory.peak_bytes);
  }
}

// The report of a plan alone.
void CheckPlanned(const PlannedTraining& planned) {
  const MemoryReport report = PlannedMemoryReport(planned, false);
  std::int64_t highest = 0;
  for (const DeviceReport& device : report.devices) {
    REQUIRE(device.planned);
    CheckAddsUp(device.planned->memory);
    if (device.planned_training) CheckAddsUp(device.planned_training->memory);
    highest = std::max(highest, device.planned->memory.peak_bytes);
  }
  if (report.devices.size() == 1) CHECK(highest == planned.plan.peak_bytes);
}

TEST_CASE("memory reports of published models add up to their plans' peaks") {
  for (const std::string& name : NamedModels()) {
    INFO(name);
    CheckPlanned(PlanNamedModel(name, {}, PlanPurpose::kRun));
  }
}

TEST_CASE("memory reports of the samples add up to their plans' peaks") {
  const TempDir directory;
  directory.Write("text.txt", std::string(200'000, 'a'));
  const std::string text = "data.text_file=\"" + directory.File("text.txt") + "\"";
  const auto check = [](const std::string& file, const std::vector<std::string>& overrides) {
    INFO(file);
    CheckPlanned(PlanTraining(ReadRunConfig(FRUGAL_SOURCE_DIR "/samples/" + file, overrides)));
  };
  check("010_fashion_mnist/fashion_mnist.toml", {});
  check("040_transfer/eight_classes.toml", {});
  check("050_diffusion/diffusion.toml", {});
  check("030_char_gpt/char_gpt.toml", {text});
  check("060_pipeline/pipeline.toml", {text});
}

TEST_CASE("the curve of budgets goes down from keeping all to the floor") {
  for (const char* network : {"mlp", "gpt2", "unet"}) {
    INFO(network);
    SmallRun run;
    run.network = network;
    Model model = BuilderFor(run).Build();
    const MemoryReport report = PlannedMemoryReport(model.planned(), true);
    REQUIRE(report.curve);
    const BudgetCurve& curve = *report.curve;
    CHECK(curve.kept_peak_bytes == model.plan().peak_bytes);
    CHECK(curve.points.front().peak_bytes <= curve.kept_peak_bytes);
    CHECK(curve.floor_bytes <= curve.points.back().peak_bytes);
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
      CHECK(curve.points[i].peak_bytes < curve.points[i - 1].peak_bytes);
      CHECK(curve.points[i].relative_time >= curve.points[i - 1].relative_time);
    }
    CHECK(curve.at_floor.Total() >= 0);
  }
}

}  // namespace
}  // namespace frugal::testing
