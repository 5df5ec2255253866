// This file holds what a model tells of its memory.
#include "builders/execute/executor.h"
#include "builders/memory_report/memory_report.h"
#include "builders/run/model.h"

namespace frugal {

StepResult Model::RunTrainStep(const StepSamples& samples) {
  if (!std::exchange(records_next_, false)) return executor_->RunStep(StepKind::kTrain, samples);
  executor_->SetTimed(true);
  RecordedStep recorded = executor_->RunRecorded(samples);
  executor_->SetTimed(false);
  executor_->Keep(std::move(recorded.memory), std::ssize(samples.numbers));
  return recorded.step;
}

frugal::MemoryReport Model::MemoryReport() {
  const OneThreadGuard::Scope use(*use_, "Model::MemoryReport");
  frugal::MemoryReport report = PlannedMemoryReport(*planned_, false);
  AddMeasured(executor_->recorded(), executor_->recorded_batch(), report);
  AddNow(*executor_, report);
  return report;
}

}  // namespace frugal
