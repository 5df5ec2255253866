#include "sdk/capture/verify/output_trial.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace frugal {
namespace {

std::string ScientificText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

}  // namespace

void OutputTrial::Judge(std::string_view kernel) {
  const Tolerance tolerance = ToleranceOf(kernel, dtype);
  const double scale = has_f64 ? result.recorded_to_f64.scale : result.to_recorded.scale;
  const double own = result.recorded_to_f64.largest;
  const double most = tolerance.ceiling * scale + 16 * Step();
  if (rounds_inputs) {  // nothing is exact then
    result.allowed = tolerance.ceiling > 0 ? most : EpsilonOf(dtype) * scale;
    return;
  }
  result.allowed =
      std::min(std::max(tolerance.floor * scale, tolerance.factor * own) + Step(), most);
}

// Each may be off by as much as the largest gradients are, and a sum over a channel with it.
bool OutputTrial::IsByCuts(const ErrorMeasure& measure) const {
  return at_cut > 0 && measure.rms() < std::min(0.5, 0.005 + 3 * std::sqrt(at_cut));
}

std::string OutputTrial::WhyRefused(const ErrorMeasure& to_recorded,
                                    const ErrorMeasure& to_f64) const {
  const std::string name = "'" + result.name + "' ";
  if (to_recorded.not_finite > 0) {
    return name + "has " + std::to_string(to_recorded.not_finite) +
           " numbers that are NaN or infinite where the recorded ones are not, or the other way";
  }
  if (!has_f64) {
    if (to_recorded.same_bits) return "";
    return name + "has other bits than were recorded, the largest difference being " +
           ScientificText(to_recorded.largest);
  }
  if (IsByCuts(to_f64) && IsByCuts(to_recorded)) return "";
  const bool is_far = to_f64.largest > result.allowed;
  if (!is_far && to_recorded.largest <= result.allowed + result.recorded_to_f64.largest) return "";
  const ErrorMeasure& worst = is_far ? to_f64 : to_recorded;
  return name + "is off by " + ScientificText(worst.largest) + ", " +
         ScientificText(worst.relative()) + " of its scale, from " +
         (is_far ? "f64" : "what was recorded") + "; " + ScientificText(result.allowed) +
         " is allowed";
}

std::string OutputTrial::WhyRecordedRefused(std::string_view kernel) const {
  if (!has_f64) return "";
  const ErrorMeasure& own = result.recorded_to_f64;
  if (own.not_finite > 0) {
    return "what was recorded of '" + result.name + "' has " + std::to_string(own.not_finite) +
           " numbers that are NaN or infinite, and f64 has not";
  }
  const double most = ToleranceOf(kernel, dtype).ceiling * own.scale + 16 * Step();
  if (own.largest <= most || IsByCuts(own)) return "";
  return "what was recorded of '" + result.name + "' is off by " + ScientificText(own.largest) +
         ", " + ScientificText(own.relative()) + " of its scale, from f64; " +
         ScientificText(most) + " is the most that this operation may be";
}

OutputTrial::Null& OutputTrial::NullIn(std::vector<Null>& nulls, const std::string& name) {
  const auto found = std::ranges::find(nulls, name, &Null::name);
  return found != nulls.end() ? *found : nulls.emplace_back(Null{name, {}, {}});
}

}  // namespace frugal
