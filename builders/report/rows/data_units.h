#pragma once

#include <string>

#include "sdk/data/data_source.h"
#include "sdk/train/loss.h"

namespace frugal {

// Holds the words and units in which the figures of a training are told.
struct DataUnits {
  std::string samples = "samples";  // "images", "sequences"
  std::string rated = "samples";    // what a rate counts: "images", "tokens"
  double rated_per_sample = 1;
  bool bits_per_byte = false;  // the loss divided by ln 2 is that
};
DataUnits UnitsOf(const DataLayout& layout, const LossOptions& loss);

// "5,210 images/s"
std::string RateText(const DataUnits& units, double samples_per_second);

// Returns what a loss in nats is in bits.
double BitsOf(double loss);
// "2.163 bits per byte"
std::string BitsText(double loss);

}  // namespace frugal
