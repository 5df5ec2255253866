// A plan of several devices says what they do before they run, and what cannot run on them is
// refused.
#include "builders/plan/planner.h"
#include "builders/report/html/html_report.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/properties/device_meshes.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

using Catch::Contains;

TEST_CASE("a plan that is printed is that of the run, device by device", "[devices]") {
  for (const Mesh& mesh :
       {Mesh{.devices = 4, .micro_batches = 2, .pipelined = true, .replicas = 2},
        Mesh{.devices = 6, .micro_batches = 1, .replicas = 3}, Mesh{.devices = 3}}) {
    INFO(Describe(mesh));
    SmallRun run = On(mesh, RunOf("gpt2"));
    run.batch = 7;  // replicas have different numbers of samples
    const AiModelBuilder builder = BuilderFor(run);
    const DataLayout layout = LayoutFor("gpt2");
    const Plan printed = PlanTraining(builder.config(), &layout, PlanPurpose::kPrint).plan;
    const PlannedTraining whole = PlanTraining(builder.config(), &layout);
    CHECK(printed.peak_bytes == whole.plan.peak_bytes);
    for (std::size_t i = 0; i < whole.devices.size(); ++i) {
      INFO("device " << i);
      const DevicePlan& device = printed.devices->devices[i];
      CHECK(device.peak_bytes == whole.devices[i].plan.peak_bytes);
      CHECK(device.at_peak == whole.devices[i].plan.at_peak);
      CHECK(device.sent.Total() == whole.plan.devices->devices[i].sent.Total());
      CHECK(device.flops == whole.plan.devices->devices[i].flops);
    }
  }
}

TEST_CASE("a step that ran can be laid beside its plan, slot for slot", "[devices]") {
  Model model = BuilderFor(On({.devices = 2,
                               .micro_batches = 4,
                               .pipelined = true,
                               .schedule = PipelineKind::kZeroBubble1},
                              RunOf("gpt2")))
                    .Build();
  const TrainingResult result = model.Train();
  REQUIRE(result.pipeline);
  const DevicesPlan& plan = *model.plan().devices;
  REQUIRE(result.pipeline->slots.size() == plan.schedule.stages.size());
  for (std::size_t stage = 0; stage < 2; ++stage) {
    const auto& slots = result.pipeline->slots[stage];
    REQUIRE(slots.size() == plan.schedule.stages[stage].size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      CHECK(slots[i].begin <= slots[i].end);
      if (i > 0) CHECK(slots[i - 1].end <= slots[i].begin);
    }
  }
  const std::string report = HtmlReport({model.planned(), result});
  const std::size_t section = report.find("<h2>Devices</h2>");
  REQUIRE(section != std::string::npos);
  std::size_t rectangles = 0, drawn = 0;
  for (std::size_t at = section;
       (at = report.find("<rect", at + 1)) < report.find("</section>", section);) {
    ++drawn;
  }
  for (const auto& stage : plan.schedule.stages) rectangles += 2 * stage.size();
  CHECK(drawn == rectangles);  // as planned and as it ran
  // A stage works on what the one before it has made.
  CHECK(result.pipeline->slots[0][0].end <= result.pipeline->slots[1][0].begin);
}

TEST_CASE("every device sends what is planned", "[devices]") {
  for (const std::string network : {"mlp", "gpt2", "resnet"}) {
    for (const Mesh& mesh : {Mesh{.devices = 3, .micro_batches = 4, .pipelined = true},
                             Mesh{.devices = 4, .micro_batches = 1, .replicas = 2}}) {
      INFO(network << " on " << Describe(mesh));
      const Trained trained = TrainAndCheckTraffic(mesh, RunOf(network));
      for (const DevicePlan& device : trained.plan.devices->devices) {
        CHECK(device.sent.Total().bytes > 0);
      }
    }
  }
}

TEST_CASE("batches that do not divide, averages and evaluations are those of one device",
          "[devices]") {
  SmallRun run = RunOf("mlp");
  run.batch = 10;
  run.drop_last = false;
  run.max_steps = 100;
  run.optimizer.ema_decay = 0.9;
  const Trained alone = TrainOn({.micro_batches = 4}, run);
  for (const std::int64_t devices : {2, 3}) {
    CheckSame(alone, TrainOn({.devices = devices, .micro_batches = 4, .pipelined = true}, run));
  }
}

TEST_CASE("a model on several devices predicts, saves, loads and is copied", "[devices]") {
  const TempDir directory;
  const SmallRun run = RunOf("gpt2");
  Model alone = BuilderFor(run).Build();
  Model model = BuilderFor(On({.devices = 3}, run)).Build();
  CHECK(model.WeightsHash() == alone.WeightsHash());
  const std::vector<std::int64_t> tokens = {1, 2, 3, 4, 5, 6};
  CHECK(model.PredictTokens(tokens, 1) == alone.PredictTokens(tokens, 1));
  model.Train();
  model.SaveWeights(directory.File("w.safetensors"));
  alone.LoadWeights(directory.File("w.safetensors"));
  CHECK(model.PredictTokens(tokens, 1) == alone.PredictTokens(tokens, 1));
  Model fresh = BuilderFor(On({.devices = 2}, run)).Build();
  fresh.LoadWeights(directory.File("w.safetensors"));
  CHECK(fresh.PredictTokens(tokens, 1) == alone.PredictTokens(tokens, 1));
  CHECK(fresh.Clone().PredictTokens(tokens, 1) == alone.PredictTokens(tokens, 1));
  CHECK_THROWS_AS(model.Generate(tokens, {}), UsageError);
}

TEST_CASE("what cannot run on several devices is refused before anything starts", "[devices]") {
  const auto refusal = [](const Mesh& mesh, const SmallRun& run) {
    return RefusalOf([&] { BuilderFor(On(mesh, run)).Plan(); });
  };
  CHECK(refusal({.devices = 3, .replicas = 2}, RunOf("mlp"))
            .find("[sharding] data_parallel replicas share the devices evenly") !=
        std::string::npos);
  CHECK(refusal({.devices = 2, .micro_batches = 9, .pipelined = true}, RunOf("mlp"))
            .find("every micro-batch of a step has a sample") != std::string::npos);
  CHECK(refusal({.devices = 2, .micro_batches = 4, .replicas = 1, .groups = 3}, RunOf("mlp"))
            .find("groups have as many micro-batches each") != std::string::npos);
  CHECK(refusal({.devices = 2, .micro_batches = 4, .replicas = 2, .groups = 4}, RunOf("mlp"))
            .find("replicas are the groups") != std::string::npos);
  CHECK(refusal({.devices = 2,
                 .micro_batches = 4,
                 .pipelined = true,
                 .schedule = PipelineKind::kZeroBubble1,
                 .groups = 2},
                RunOf("mlp"))
            .find("gradients of a group are all there before those of the next begin") !=
        std::string::npos);
  CHECK(refusal({.devices = 2, .micro_batches = 4, .groups = 2}, RunOf("gpt2"))
            .find("weights that stages share are summed behind the step") != std::string::npos);
  CHECK(refusal({.devices = 2, .zero_stage = 1}, RunOf("mlp"))
            .find("replicas that share the optimizer's state") != std::string::npos);
  CHECK(refusal({.devices = 30}, RunOf("mlp")).find("every device holds a layer") !=
        std::string::npos);
  TrainingMemoryConfig small;
  small.num_devices = 2;
  small.max_memory_per_device_mb = 1;
  AiModelBuilder builder = BuilderFor(RunOf("mlp"));
  builder.Memory(small).Layers(
      [](LayerList& l) { l.Flatten().Dense({.units = 2000}).Dense({.units = 5}); });
  CHECK_THROWS_WITH(
      builder.Plan(),
      Contains("every device stays within 1.0 MB; device 0 with layers 0 to 1 peaks at "));
}

}  // namespace
}  // namespace frugal::testing
