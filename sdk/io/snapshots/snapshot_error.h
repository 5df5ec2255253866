#pragma once

#include <string>

#include "sdk/core/error.h"

namespace frugal {

// A snapshot that is missing, damaged, or of another training.
class SnapshotError : public Error {
 public:
  using Error::Error;
};

// Throws SnapshotError: the file is not as it was written, and `given` says how.
[[noreturn]] inline void RefuseSnapshotFile(const std::string& path, const std::string& given) {
  throw SnapshotError({.where = path,
                       .required = "a snapshot is whole, as it was written",
                       .given = given,
                       .advice = "use an earlier snapshot; --resume auto does so by itself"});
}

}  // namespace frugal
