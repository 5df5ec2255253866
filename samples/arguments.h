#pragma once

#include <string>
#include <vector>

#include "sdk/core/error.h"

namespace frugal {

// Holds what the samples that train take: [FILE.toml] [--set section.key=value ...]
// [--resume auto|must|new|PATH].
struct SampleArguments {
  std::string file;
  std::vector<std::string> overrides;
  // Says where it goes on from (RunTrainingOptions). A sample begins its own training anew; one of
  // a file that is named keeps its snapshots.
  std::string resume = "new";
};

inline SampleArguments ReadArguments(int count, char** arguments, std::string default_file) {
  SampleArguments read{.file = std::move(default_file), .overrides = {}};
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--set" && i + 1 < count) {
      read.overrides.emplace_back(arguments[++i]);
    } else if (word == "--resume" && i + 1 < count) {
      read.resume = arguments[++i];
    } else if (!word.starts_with('-') && !read.file.empty()) {
      read.file = word;
      if (read.resume == "new") read.resume.clear();
    } else {
      throw UsageError(
          {.where = "command line",
           .required = "[FILE.toml] [--set section.key=value ...] [--resume auto|must|new|PATH]",
           .given = "'" + word + "' was given",
           .advice = "e.g. --set training.epochs=1"});
    }
  }
  return read;
}

}  // namespace frugal
