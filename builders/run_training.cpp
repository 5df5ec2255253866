#include "builders/run_training.h"

#include <csignal>
#include <filesystem>
#include <iostream>

#include "builders/interruption.h"
#include "builders/output_files.h"
#include "builders/plan/machine_memory.h"
#include "builders/report/tensorboard_log.h"
#include "builders/report/text/console_progress.h"
#include "builders/report/text/memory_table.h"
#include "builders/report/text/operation_table.h"
#include "builders/report/text/plan_text.h"
#include "builders/report/training_log.h"
#include "builders/setup/output_metrics.h"
#include "builders/snapshot/find_snapshot.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/log.h"
#include "sdk/core/number_text.h"
#include "sdk/io/snapshots/snapshot_store.h"

namespace frugal {
namespace {

// Rows are labels, columns what was predicted.
std::string MatrixText(const std::vector<std::vector<std::int64_t>>& matrix) {
  std::string text;
  for (const std::vector<std::int64_t>& row : matrix) {
    text += "\n ";
    for (const std::int64_t count : row) {
      std::string cell = std::to_string(count);
      cell.insert(0, cell.size() < 7 ? 7 - cell.size() : 1, ' ');
      text += cell;
    }
  }
  return text;
}

std::string ResultText(const TrainingResult& result, const EpochSchedule& schedule,
                       const DataUnits& units) {
  std::string text = FormatCount(result.steps) + " steps in " + DurationText(result.seconds) +
                     ", " + RateText(units, result.samples_per_second);
  if (result.test_loss) {
    text += "\ntest loss " + FixedText(*result.test_loss, 4);
    if (units.bits_per_byte) text += ", " + BitsText(*result.test_loss);
    if (result.test_accuracy) text += ", test accuracy " + PercentText(*result.test_accuracy);
    text += " over " + FormatCount(schedule.test_samples) + " " + units.samples;
  }
  if (result.test || !result.evaluations.empty()) {
    const EvaluationResult& last = result.test ? *result.test : result.evaluations.back().result;
    for (const MetricValue& metric : last.metrics) {
      text += "\n" + metric.name + " " + FixedText(metric.value, 4) + MatrixText(metric.matrix);
    }
  }
  if (result.snapshots.saved > 0) {
    text += "\n" + FormatCount(result.snapshots.saved) + " snapshots, for which it waited " +
            DurationText(result.snapshots.stall_seconds);
    if (result.snapshots.skipped > 0) {
      text += "; " + FormatCount(result.snapshots.skipped) + " more were skipped";
    }
  }
  if (result.stopped_early) text += "\nstopped before the end";
  if (result.best && result.evaluations.size() > 1) {
    text += "\nthe best evaluation by " + result.best->by + " was behind step " +
            FormatCount(result.best->step) + ", " + FixedText(result.best->value, 4);
  }
  return text + "\n";
}

// The weights of before a training diverged are kept beside the file that was named for those of
// its end, so that nothing good is overwritten.
std::string LastGoodPath(const std::string& weights) {
  const std::filesystem::path path = weights;
  return path.parent_path() /
         (path.stem().string() + ".before_divergence" + path.extension().string());
}

// Saves the weights of a training that diverged where it can, and says what became of them.
std::string KeepLastGood(Model& model) {
  const auto& weights = model.config().output.weights;
  if (!weights) return "no file was written";
  const std::string path = LastGoodPath(*weights);
  try {
    model.SaveWeights(path);
  } catch (const DivergenceError&) {
    return "the weights, or statistics beside them, are not finite either; no file was written";
  } catch (const Error& error) {
    return "no file was written, since " + std::string(error.what());
  }
  return "the weights of the last good step are in " + path + ", and no other file was written";
}

TrainingResult Train(Model& model, TrainingObserver* observer, const TrainOptions& options) {
  try {
    return model.Train(observer, options);
  } catch (const DivergenceError& error) {
    Diagnostic diagnostic = error.diagnostic();
    diagnostic.advice += "; " + KeepLastGood(model);
    throw DivergenceError(diagnostic, error.place());
  }
}

// Ends the training behind its step when a signal came.
class SignalObserver final : public TrainingObserver {
 public:
  void OnStep(const StepProgress&) override {}
  void OnEpoch(const EpochResult&) override {}
  void Steer(TrainingControl& control) override {
    if (InterruptionScope::signal() != 0) control.Interrupt();
  }
};

// Goes on from the snapshot that is asked for, and says so.
void Resume(Model& model, const std::string& asked, bool quiet) {
  if (asked.empty() || asked == "new") return;
  const auto& directory = model.config().snapshots.directory;
  const auto path = SnapshotToResume(asked, directory);
  if (path) model.Resume(*path);
  if (quiet) return;
  std::cout << (path ? "goes on from " + *path + ", behind step " +
                           FormatCount(model.resumed_steps()) + " of " +
                           FormatCount(model.schedule().total_steps)
                     : "there is no snapshot in " + *directory + " yet: from the beginning")
            << "\n"
            << std::endl;
}

// Tells what the log of the training that the model goes on with has already.
LoggedSteps LoggedBefore(const Model& model) {
  LoggedSteps logged;
  if (model.resumed() == nullptr) return logged;
  const TrainingResult& result = model.resumed()->result;
  logged.steps = result.steps;
  for (const Evaluation& one : result.evaluations) {
    if (one.step == result.steps) ++logged.evaluations;
  }
  return logged;
}

// Tells whether a signal to this process or to another one ended the training.
bool WasInterrupted(const TrainingResult& result) {
  return result.interrupted && (InterruptionScope::signal() != 0 || Launched() != nullptr);
}

// Says what a signal ended, and throws when all processes have written what they write.
[[noreturn]] void EndInterrupted(const Model& model, const TrainingResult& result) {
  const int own = InterruptionScope::signal();
  const int signal = own != 0 ? own : SIGTERM;
  const auto& directory = model.config().snapshots.directory;
  const std::vector<SnapshotEntry> snapshots =
      directory ? ListSnapshots(*directory) : std::vector<SnapshotEntry>();
  std::string text = (own != 0 ? SignalName(own) : "a signal to another rank") +
                     " ended the training behind step " + FormatCount(result.steps) + " of " +
                     FormatCount(model.schedule().total_steps) + "; ";
  text += snapshots.empty()
              ? "there is no snapshot to go on from: set snapshots.directory for that"
              : "--resume auto goes on behind step " + FormatCount(snapshots.back().step);
  LogWarning(text);
  // A process that is gone lets the launcher kill those that still write.
  if (const LaunchedRanks* launched = Launched()) {
    launched->ranks->Barrier("the end of an interrupted run");
  }
  throw Interrupted(signal);
}

}  // namespace

TrainedRun RunTraining(PlannedTraining planned, const RunTrainingOptions& options,
                       DataSources sources) {
  if (IsFirstProcess()) {
    PrepareOutputs(planned.config, options.keep);
    CheckOutputSpace(planned.config, OutputBytesOf(planned));
  }
  const DataUnits units = UnitsOf(planned.layout, planned.config.loss);
  const SystemMemory machine = ReadSystemMemory();
  if (!options.quiet) std::cout << PlanText(planned, &machine) << std::endl;
  if (!options.allow_overcommit) RequireMachineMemory(planned, machine);
  Model model(std::move(planned), std::move(sources));
  TrainingResult result;
  const TrainOptions train{.profile = options.profile,
                           .replaces_snapshots = options.resume == "new"};
  Resume(model, options.resume, options.quiet);
  model.CheckSnapshots(train);  // before logs are opened
  const InterruptionScope interruption;
  SignalObserver signals;
  std::optional<TrainingLog> log;
  std::vector<TrainingObserver*> observers = {&signals};
  if (model.config().output.log && IsFirstProcess()) {
    log.emplace(*model.config().output.log, EvaluatedNames(model.planned()), LoggedBefore(model));
    observers.push_back(&*log);
  }
  std::optional<TensorBoardLog> events;
  if (model.config().output.tensorboard && IsFirstProcess()) {
    observers.push_back(&events.emplace(*model.config().output.tensorboard, model.resumed_steps()));
  }
  if (options.quiet) {
    Observers all(observers);
    result = Train(model, &all, train);
  } else {
    const std::unique_ptr<TrainingObserver> watch =
        options.watch ? options.watch(model) : std::make_unique<ConsoleProgress>(units);
    observers.push_back(watch.get());
    Observers all(observers);
    result = Train(model, &all, train);
    std::cout << "\n"
              << ResultText(result, model.schedule(), units) << "\n"
              << MemoryTableText(model.plan(), result) << std::endl;
  }
  if (options.profile) result.profile->limits = MeasureMachineLimits();
  if (options.profile && !options.quiet) {
    std::cout << OperationTableText(*result.profile) << std::endl;
  }
  for (const std::string& path : WriteOutputs(model, result)) {
    if (!options.quiet) std::cout << "wrote " << path << std::endl;
  }
  if (WasInterrupted(result)) EndInterrupted(model, result);
  return {std::move(model), std::move(result)};
}

}  // namespace frugal
