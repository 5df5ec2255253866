#include "builders/run_training.h"

#include <iostream>

#include "builders/machine_memory.h"
#include "builders/output_files.h"
#include "builders/report/console_progress.h"
#include "builders/report/memory_table.h"
#include "builders/report/number_text.h"
#include "builders/report/operation_table.h"
#include "builders/report/plan_text.h"
#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

std::string ResultText(const TrainingResult& result, const TrainingProgram& program,
                       const DataUnits& units) {
  std::string text = FormatCount(result.steps) + " steps in " + DurationText(result.seconds) +
                     ", " + RateText(units, result.samples_per_second);
  if (result.test_loss) {
    text += "\ntest loss " + FixedText(*result.test_loss, 4);
    if (units.bits_per_byte) text += ", " + BitsText(*result.test_loss);
    if (result.test_accuracy) text += ", test accuracy " + PercentText(*result.test_accuracy);
    text += " over " + FormatCount(program.test_samples) + " " + units.samples;
  }
  return text + "\n";
}

}  // namespace

TrainedRun RunTraining(Blueprint blueprint, const RunTrainingOptions& options,
                       DataSources sources) {
  PrepareOutputs(blueprint.config, options.keep);
  const DataUnits units = UnitsOf(blueprint.layout, blueprint.config.loss);
  const SystemMemory machine = ReadSystemMemory();
  if (!options.quiet) std::cout << PlanText(blueprint, &machine) << std::endl;
  if (!options.allow_overcommit) RequireMachineMemory(blueprint, machine);
  Model model(std::move(blueprint), std::move(sources));
  TrainingResult result;
  const TrainOptions train{.profile = options.profile};
  if (options.quiet) {
    result = model.Train(nullptr, train);
  } else {
    const std::unique_ptr<TrainingObserver> watch =
        options.watch ? options.watch(model) : std::make_unique<ConsoleProgress>(units);
    result = model.Train(watch.get(), train);
    std::cout << "\n"
              << ResultText(result, model.program(), units) << "\n"
              << MemoryTableText(model.plan(), result) << std::endl;
  }
  if (options.profile) result.profile->limits = MeasureMachineLimits();
  if (options.profile && !options.quiet) {
    std::cout << OperationTableText(*result.profile) << std::endl;
  }
  for (const std::string& path : WriteOutputs(model, result)) {
    if (!options.quiet) std::cout << "wrote " << path << std::endl;
  }
  return {std::move(model), std::move(result)};
}

}  // namespace frugal
