#pragma once

#include "sdk/core/error.h"

namespace frugal {

// Ranks of one run that disagree, wait for each other, or have lost one of them.
class CommunicationError : public Error {
 public:
  using Error::Error;
};

// Another rank failed, is gone or stands still; this one could have gone on.
class LostRankError : public CommunicationError {
 public:
  using CommunicationError::CommunicationError;
};

// That rank has failed with an error of its own, which it tells itself.
class FailedRankError : public LostRankError {
 public:
  using LostRankError::LostRankError;
};

}  // namespace frugal
