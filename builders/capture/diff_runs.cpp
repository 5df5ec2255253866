#include "builders/capture/diff_runs.h"

#include <utility>

#include "builders/capture/capture_training.h"
#include "sdk/core/byte_size.h"

namespace frugal {

DiffRunsReport DiffRuns(PlannedTraining first, PlannedTraining second,
                        const DiffRunsOptions& options) {
  HashRecorder recorder(options.selection);
  ShowSteps(std::move(first), options.first_sources, recorder, options.steps);
  HashComparer comparer(recorder.calls(), options.selection);
  DiffRunsReport report;
  report.steps =
      ShowSteps(std::move(second), options.second_sources, comparer, options.steps, comparer.done())
          .steps;
  comparer.End();
  report.difference = comparer.difference();
  report.calls = comparer.compared();
  report.tensors = recorder.tensors();
  return report;
}

std::string DiffRunsReport::Text() const {
  if (!difference) {
    return "the runs agree bit for bit: " + FormatCount(calls) + " operations of " +
           FormatCount(steps) + " steps, " + FormatCount(tensors) + " tensors";
  }
  const RunDifference& d = *difference;
  const std::string where = "step " + FormatCount(d.place.step + 1) + ", " +
                            (d.place.path.empty() ? "the step" : d.place.path) +
                            (d.place.backward ? ", backward" : "") + ": ";
  const std::string agreed = "; " + FormatCount(d.number) + " operations before it agree";
  switch (d.kind) {
    case RunDifference::Kind::kOutput:
      return where + d.kernel + " gets the same inputs and makes another '" + d.tensor + "' (" +
             d.first + " and " + d.second + ")" + agreed;
    case RunDifference::Kind::kAttribute:
      return where + d.kernel + " is told another " + d.tensor + ", " + d.second +
             " in the second run" + agreed;
    case RunDifference::Kind::kInput:
      return where + d.kernel + " gets another '" + d.tensor + "' (" + d.first + " and " +
             d.second +
             "), which no operation before made differ: data, first weights, or what a program "
             "computes itself" +
             agreed;
    case RunDifference::Kind::kCall:
    case RunDifference::Kind::kEnd:
      return where + "the first run comes to " + d.first + ", the second to " + d.second + agreed;
  }
  return "";
}

}  // namespace frugal
