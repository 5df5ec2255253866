#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdk/capture/call_description.h"

namespace frugal {

// Results that are wrong, by name: each is tried on the comparison, which must refuse it.
struct NullCandidate {
  std::string name;  // "zeros", "a copy of x", "values in reverse", ...
  std::function<Tensor(Allocator&)> make;
};

// Returns wrong results for one output, whose right value is given; `call` holds the inputs.
std::vector<NullCandidate> NullCandidates(const CallDescription& call, NullExcuses excuses,
                                          const Tensor& right);

// A call whose inputs of one form have changed places: wrong if any of its outputs is.
struct SwappedCall {
  std::string name;  // "x and residual swapped"
  CallDescription call;
};
std::vector<SwappedCall> SwappedCalls(const CallDescription& call, NullExcuses excuses);

}  // namespace frugal
