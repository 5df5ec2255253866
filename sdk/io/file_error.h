#pragma once

#include <string>
#include <utility>

#include "sdk/core/error.h"

namespace frugal {

// Throws a FileError about the file at `path`.
[[noreturn]] inline void RefuseFile(const std::string& path, std::string required,
                                    std::string given, std::string advice = {}) {
  throw FileError({.where = path,
                   .required = std::move(required),
                   .given = std::move(given),
                   .advice = std::move(advice)});
}

}  // namespace frugal
