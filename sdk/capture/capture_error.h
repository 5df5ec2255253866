#pragma once

#include "sdk/core/error.h"

namespace frugal {

// A capture that is missing, damaged, of another version, or that cannot be made or run.
class CaptureError : public Error {
 public:
  using Error::Error;
};

}  // namespace frugal
