#include "builders/report/text/console_progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

#include "builders/report/text/text_table.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal {
namespace {

constexpr double kRewriteSeconds = 0.1;
constexpr double kPlainSeconds = 30;
constexpr double kLossWindow = 40;  // steps

double SystemClock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::size_t TerminalWidth() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

ConsoleProgress::Options StandardOutput(const DataUnits& units) {
  ConsoleProgress::Options options;
  options.units = units;
  options.rewrite = isatty(STDOUT_FILENO) == 1;
  options.width = TerminalWidth;
  return options;
}

ConsoleProgress::Options Completed(ConsoleProgress::Options options) {
  if (!options.clock) options.clock = SystemClock;
  if (!options.width) options.width = [] { return std::size_t{80}; };
  return options;
}

std::string StepLine(const StepProgress& progress, double loss, const DataUnits& units) {
  return "step " + FormatCount(progress.step) + "/" + FormatCount(progress.total_steps) +
         "  epoch " + FormatCount(progress.epoch) + "  loss " + FixedText(loss, 4) + "  " +
         RateText(units, progress.samples_per_second) + "  " + DurationText(progress.seconds_left) +
         " left";
}

std::string EpochLine(const EpochResult& epoch, double rate, const DataUnits& units) {
  std::string line =
      "epoch " + FormatCount(epoch.epoch) + "  mean loss " + FixedText(epoch.mean_loss, 4);
  const std::string part = epoch.is_validation ? "  validation " : "  test ";
  if (units.bits_per_byte && epoch.test_loss) {
    line += part + BitsText(*epoch.test_loss);
  } else if (epoch.test_accuracy) {
    line += part + "accuracy " + PercentText(*epoch.test_accuracy);
  } else if (epoch.test_loss) {
    line += part + "loss " + FixedText(*epoch.test_loss, 4);
  }
  return line + "  " + RateText(units, rate) + "  " + DurationText(epoch.seconds);
}

}  // namespace

ConsoleProgress::ConsoleProgress(const DataUnits& units) : ConsoleProgress(StandardOutput(units)) {}

ConsoleProgress::ConsoleProgress(Options options)
    : options_(Completed(std::move(options))),
      out_(options_.out ? *options_.out : std::cout),
      loss_(kLossWindow),
      last_output_(options_.clock() - (options_.rewrite ? 2 * kRewriteSeconds : 0)) {}

ConsoleProgress::~ConsoleProgress() {
  if (open_columns_ > 0) out_ << std::endl;
}

void ConsoleProgress::OnStep(const StepProgress& progress) {
  loss_.Add(progress.loss);
  samples_per_second_ = progress.samples_per_second;
  const double now = options_.clock();
  const double pause = options_.rewrite ? kRewriteSeconds : kPlainSeconds;
  const bool is_last = options_.rewrite && progress.step == progress.total_steps;
  if (now - last_output_ < pause && !is_last) return;
  last_output_ = now;
  // A loss that went off must be seen at once, not smoothed away.
  const double loss = std::isfinite(progress.loss) ? loss_.value() : progress.loss;
  const std::string line = StepLine(progress, loss, options_.units);
  options_.rewrite ? Rewrite(line) : WriteLine(line);
}

void ConsoleProgress::OnEpoch(const EpochResult& epoch) {
  WriteLine(EpochLine(epoch, samples_per_second_, options_.units));
  last_output_ = options_.clock();
}

// The last column stays free: writing into it wraps the line on many terminals.
void ConsoleProgress::Rewrite(const std::string& line) {
  const std::string shown = CutTo(line, std::max<std::size_t>(options_.width(), 2) - 1);
  const std::size_t columns = CharacterCount(shown);
  const std::size_t left_over = open_columns_ > columns ? open_columns_ - columns : 0;
  out_ << '\r' << shown << std::string(left_over, ' ') << std::flush;
  open_columns_ = columns;
}

void ConsoleProgress::WriteLine(const std::string& line) {
  if (open_columns_ > 0) out_ << '\r' << std::string(open_columns_, ' ') << '\r';
  open_columns_ = 0;
  out_ << line << std::endl;
}

}  // namespace frugal
