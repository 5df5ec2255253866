#include "sdk/core/number_text.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

namespace frugal {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("Numbers are written to the digits asked for") {
  CHECK(FixedText(0.53, 3) == "0.530");
  CHECK(FixedText(-2.5, 0) == "-2");
  CHECK(FixedText(1e300, 2) == "1e+300");
  CHECK(CompactText(0.001, 6) == "0.001");
  CHECK(PercentText(0.91325) == "91.33%");
  CHECK(PercentText(1) == "100.00%");
  CHECK(FlopsText(0) == "0 FLOP");
  CHECK(FlopsText(812) == "812 FLOP");
  CHECK(FlopsText(12.34e9) == "12.3 GFLOP");
  CHECK(FlopsText(5e18) == "5000000.0 TFLOP");
  CHECK(RateText(0.423) == "0.42");
  CHECK(RateText(31.62) == "31.6");
  CHECK(RateText(5210.4) == "5,210");
}

TEST_CASE("Durations change their unit") {
  CHECK(DurationText(0) == "0.00 s");
  CHECK(DurationText(9.99) == "9.99 s");
  CHECK(DurationText(9.999) == "10.0 s");
  CHECK(DurationText(59.94) == "59.9 s");
  CHECK(DurationText(59.96) == "1 min 00 s");
  CHECK(DurationText(125) == "2 min 05 s");
  CHECK(DurationText(3599.7) == "1 h 00 min");
  CHECK(DurationText(3720) == "1 h 02 min");
}

TEST_CASE("What is no number is said so everywhere") {
  CHECK(FixedText(kNan, 2) == "nan");
  CHECK(FixedText(-kNan, 2) == "nan");
  CHECK(FixedText(-kInf, 2) == "-inf");
  CHECK(PercentText(kNan) == "nan%");
  CHECK(FlopsText(kInf) == "inf TFLOP");
  CHECK(RateText(kNan) == "nan");
  CHECK(RateText(kInf) == "inf");
  CHECK(DurationText(kInf) == "inf s");
  CHECK(DurationText(kNan) == "nan s");
}

}  // namespace frugal
