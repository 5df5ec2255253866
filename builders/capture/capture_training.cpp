#include "builders/capture/capture_training.h"

#include <memory>
#include <utility>

#include "builders/config/text/config_text.h"
#include "builders/config/text/config_values.h"
#include "builders/plan/machine_memory.h"
#include "builders/run/model.h"
#include "sdk/backend/instruction_limit.h"
#include "sdk/capture/capture_error.h"
#include "sdk/capture/recorder/capturing_backend.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/threads.h"
#include "sdk/core/version.h"
#include "sdk/io/file_hash.h"

namespace frugal {
namespace {

// Ends a training behind so many steps, without an evaluation.
class StepLimit final : public TrainingObserver {
 public:
  StepLimit(std::int64_t steps, const bool* done) : steps_(steps), done_(done) {}

  void OnStep(const StepProgress&) override { ++seen_; }
  void OnEpoch(const EpochResult&) override {}
  void Steer(TrainingControl& control) override {
    if (seen_ >= steps_ || (done_ != nullptr && *done_)) control.Interrupt();
  }
  std::int64_t seen() const { return seen_; }

 private:
  std::int64_t steps_;
  const bool* done_;
  std::int64_t seen_ = 0;
};

void RequireOneDevice(const PlannedTraining& planned) {
  if (planned.devices.empty() && Launched() == nullptr) return;
  throw CaptureError({.where = planned.config.model.name,
                      .required = "a training on one device, for its operations to be recorded",
                      .given = "it runs on several",
                      .advice = "set memory.num_devices = 1, and start one process"});
}

int ThreadsOf(const PlannedTraining& planned) {
  return planned.threads > 0 ? planned.threads : MostThreads();
}

}  // namespace

CaptureHeader HeaderOf(const PlannedTraining& planned, const std::string& name) {
  FileHash hash;
  const auto add = [&](const std::string& text) { hash.Add(std::as_bytes(std::span(text))); };
  for (const ResolvedValue& value : AllValues(planned.config)) {
    add(value.section + "." + Assignment(value.name, value.value) + "\n");
  }
  return {.version = FRUGAL_VERSION,
          .backend = std::string(planned.backend->name()),
          .precision = std::string(NameOf(planned.dtype())),
          .threads = ThreadsOf(planned),
          .instruction_set = std::string(InstructionsInUse()),
          .configuration_hash = hash.Hex(),
          .configuration = name.empty() ? planned.config.model.name : name,
          .seed = planned.seed()};
}

ShownSteps ShowSteps(PlannedTraining planned, DataSources sources, CallSink& sink,
                     std::int64_t steps, const bool* done) {
  RequireOneDevice(planned);
  RequireMachineMemory(planned, ReadSystemMemory());
  planned.config.snapshots = {};
  planned.config.output = {};
  auto backend = std::make_unique<CapturingBackend>(std::move(planned.backend), sink);
  planned.on_context = [recorder = backend.get()](const Context& context) {
    recorder->SetContext(&context);
  };
  planned.backend = std::move(backend);
  Model model(std::move(planned), std::move(sources));
  StepLimit limit(steps, done);
  const TrainingResult result = model.Train(&limit);
  return {.steps = limit.seen(), .weights_hash = result.weights_hash};
}

CapturedTraining CaptureTraining(PlannedTraining planned, const CaptureOptions& options) {
  RequireOneDevice(planned);
  CapturedTraining captured;
  captured.header = HeaderOf(planned, options.name);
  CaptureWriter writer(options.directory, captured.header, options.selection);
  const ShownSteps shown = ShowSteps(std::move(planned), options.sources, writer, options.steps);
  captured.totals = writer.totals();
  captured.steps = shown.steps;
  captured.weights_hash = shown.weights_hash;
  return captured;
}

}  // namespace frugal
