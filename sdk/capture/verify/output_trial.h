#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sdk/capture/verify/entry_result.h"

namespace frugal {

// Holds what is known of one output of an entry, gathered slice by slice, and the verdict on it.
struct OutputTrial {
  EntryOutput result;
  DType dtype = DType::kF32;  // whose steps errors are held against
  double terms = 0;           // size of the largest ones that are added up (rounding_floor.h)
  bool has_f64 = false;
  bool rounds_inputs = false;  // it ran in a narrower type than was recorded
  double at_cut = 0;  // share of elements that may be others (ShareAtCut): all are judged together
  struct Null {
    std::string name;
    ErrorMeasure to_recorded{}, to_f64{};
  };
  std::vector<Null> nulls{};  // wrong results of this output
  std::vector<Null> swaps{};  // and of the whole entry

  static Null& NullIn(std::vector<Null>& nulls, const std::string& name);
  // Sums are of f32 at least, of bf16 too.
  double Step() const { return EpsilonOf(dtype == DType::kBF16 ? DType::kF32 : dtype) * terms; }
  // Finds what is allowed, when all slices are in.
  void Judge(std::string_view kernel);
  // True where elements at a cut explain how far off numbers are.
  bool IsByCuts(const ErrorMeasure& measure) const;
  // Returns why numbers so far off are refused; empty where they pass.
  std::string WhyRefused(const ErrorMeasure& to_recorded, const ErrorMeasure& to_f64) const;
  bool Refuses(const Null& null) const {
    return !WhyRefused(null.to_recorded, null.to_f64).empty();
  }
  // Returns why what was recorded is refused; empty where it is not.
  std::string WhyRecordedRefused(std::string_view kernel) const;
};

}  // namespace frugal
