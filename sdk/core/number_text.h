#pragma once

#include <string>

namespace frugal {

// Numbers as reports show them, whatever the locale of the process. Values that are no number come
// out as "nan", "inf" and "-inf".
std::string FixedText(double value, int digits);    // "0.530"
std::string CompactText(double value, int digits);  // `digits` significant: "0.001", "1.2e+09"
std::string PercentText(double share);              // 0.9132 -> "91.32%"
std::string FlopsText(double flops);                // "812 FLOP", "12.3 GFLOP"
std::string RateText(double per_second);            // "0.42", "31.6", "5,210"
std::string DurationText(double seconds);  // "0.42 s", "12.3 s", "2 min 05 s", "1 h 02 min"

}  // namespace frugal
