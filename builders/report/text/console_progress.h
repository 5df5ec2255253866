#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>

#include "builders/report/rows/data_units.h"
#include "builders/report/rows/smoothing.h"
#include "builders/run/training_observer.h"

namespace frugal {

// Shows a training on the console. On a terminal, one line that is rewritten in place at most ten
// times a second, and a line that stays for each epoch; elsewhere a plain line for each epoch, and
// one every 30 seconds while an epoch lasts.
class ConsoleProgress : public TrainingObserver {
 public:
  struct Options {
    DataUnits units{};
    std::ostream* out = nullptr;              // null = standard output
    bool rewrite = false;                     // the output is a terminal
    std::function<std::size_t()> width = {};  // columns of the terminal now; empty = 80
    std::function<double()> clock = {};       // seconds that never go back; empty = the system's
  };

  // Writes to standard output, rewriting where that is a terminal.
  explicit ConsoleProgress(const DataUnits& units);
  explicit ConsoleProgress(Options options);
  ~ConsoleProgress() override;  // ends a line that is still open
  ConsoleProgress(const ConsoleProgress&) = delete;
  ConsoleProgress& operator=(const ConsoleProgress&) = delete;

  void OnStep(const StepProgress& progress) override;
  void OnEpoch(const EpochResult& epoch) override;

 private:
  void Rewrite(const std::string& line);
  void WriteLine(const std::string& line);

  Options options_;
  std::ostream& out_;
  SmoothedValue loss_;
  double samples_per_second_ = 0;
  double last_output_;
  std::size_t open_columns_ = 0;  // of the line that is being rewritten; 0 = there is none
};

}  // namespace frugal
