#include "builders/report/rows/data_units.h"

#include <numbers>

#include "sdk/core/number_text.h"
#include "sdk/data/text.h"

namespace frugal {

DataUnits UnitsOf(const DataLayout& layout, const LossOptions& loss) {
  DataUnits units;
  if (layout.vocabulary > 0) {
    units.samples = "sequences";
    units.rated = "tokens";
    units.rated_per_sample = static_cast<double>(layout.sample_shape.ElementCount());
    // Each byte is told from those before it, and nothing but its own probability counts.
    units.bits_per_byte = layout.vocabulary == kByteValues && layout.classes == layout.vocabulary &&
                          layout.label_shape == layout.sample_shape && !layout.sample_weights &&
                          IsPlainCrossEntropy(loss) && loss.label_smoothing == 0;
  } else if (layout.sample_shape.rank() == 3) {
    units.samples = units.rated = "images";
  }
  return units;
}

std::string RateText(const DataUnits& units, double samples_per_second) {
  return RateText(samples_per_second * units.rated_per_sample) + " " + units.rated + "/s";
}

double BitsOf(double loss) { return loss / std::numbers::ln2; }

std::string BitsText(double loss) { return FixedText(BitsOf(loss), 3) + " bits per byte"; }

}  // namespace frugal
