#pragma once

#include "sdk/core/error.h"

namespace frugal {

// Ranks of one run that disagree, wait for each other, or have lost one of them.
class CommunicationError : public Error {
 public:
  using Error::Error;
};

}  // namespace frugal
