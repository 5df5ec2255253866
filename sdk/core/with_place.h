#pragma once

#include "sdk/core/error.h"

namespace frugal {

// Runs `work` and returns what it returns. An error of it that knows no place yet gets this one,
// and goes on as the kind of error that it is.
template <class Work>
auto WithPlace(const SourceLocation& place, Work work) {
  try {
    return work();
  } catch (Error& error) {
    error.PlaceAt(place);
    throw;
  }
}

}  // namespace frugal
