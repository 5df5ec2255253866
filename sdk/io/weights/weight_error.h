#pragma once

#include <string>

#include "sdk/core/error.h"

namespace frugal {

// Throws a WeightFileError about the file at `path`.
[[noreturn]] inline void RefuseWeights(const std::string& path, std::string required,
                                       std::string given, std::string advice = {}) {
  throw WeightFileError({.where = path,
                         .required = std::move(required),
                         .given = std::move(given),
                         .advice = std::move(advice)});
}

}  // namespace frugal
