#include "builders/run_training.h"

#include <iostream>

#include "builders/output_files.h"
#include "builders/report/console_progress.h"
#include "builders/report/memory_table.h"
#include "builders/report/number_text.h"
#include "builders/report/plan_text.h"
#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

std::string UnitOf(const DataLayout& layout) {
  return layout.sample_shape.rank() == 3 ? "images" : "samples";
}

std::string ResultText(const TrainingResult& result, const TrainingProgram& program,
                       const std::string& unit) {
  std::string text = FormatCount(result.steps) + " steps in " + DurationText(result.seconds) +
                     ", " + RateText(result.samples_per_second) + " " + unit + "/s";
  if (result.test_loss) {
    text += "\ntest loss " + FixedText(*result.test_loss, 4);
    if (result.test_accuracy) text += ", test accuracy " + PercentText(*result.test_accuracy);
    text += " over " + FormatCount(program.test_samples) + " " + unit;
  }
  return text + "\n";
}

}  // namespace

TrainingResult RunTraining(Blueprint blueprint, const RunTrainingOptions& options,
                           DataSources sources) {
  PrepareOutputs(blueprint.config, options.keep);
  const std::string unit = UnitOf(blueprint.layout);
  if (!options.quiet) std::cout << PlanText(blueprint) << std::endl;
  Model model(std::move(blueprint), std::move(sources));
  TrainingResult result;
  if (options.quiet) {
    result = model.Train();
  } else {
    ConsoleProgress progress(unit + "/s");
    result = model.Train(&progress);
    std::cout << "\n"
              << ResultText(result, model.program(), unit) << "\n"
              << MemoryTableText(model.plan(), result) << std::endl;
  }
  for (const std::string& path : WriteOutputs(model, result)) {
    if (!options.quiet) std::cout << "wrote " << path << std::endl;
  }
  return result;
}

}  // namespace frugal
