#pragma once

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sdk/core/error.h"

namespace frugal {

// Holds what a benchmark of trainings is asked for: [NAME...] [--OPTION VALUE]...
struct TrainingOptionsGiven {
  std::vector<std::string> names;
  std::map<std::string, std::string> values;  // by option, "--steps"

  std::string Text(const std::string& option, const std::string& otherwise) const {
    const auto found = values.find(option);
    return found == values.end() ? otherwise : found->second;
  }
  // Throws UsageError for what is no number above 0.
  int Count(const std::string& option, int otherwise) const {
    const std::string text = Text(option, std::to_string(otherwise));
    const int count = std::atoi(text.c_str());
    if (count >= 1) return count;
    throw UsageError({.where = option,
                      .required = "a whole number above 0",
                      .given = "'" + text + "'",
                      .advice = "e.g. " + option + " " + std::to_string(otherwise)});
  }
};

// Throws UsageError for an option that is not among `known`, or has no value.
inline TrainingOptionsGiven ReadTrainingOptions(int count, char** words,
                                                const std::set<std::string>& known) {
  TrainingOptionsGiven given;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (!word.starts_with("--")) {
      given.names.push_back(word);
    } else if (known.contains(word) && i + 1 < count) {
      given.values[word] = words[++i];
    } else {
      std::string options;
      for (const std::string& one : known) options += (options.empty() ? "" : ", ") + one;
      throw UsageError({.where = "the command line",
                        .required = "names, and options with a value: " + options,
                        .given = "'" + word + "'",
                        .advice = "the file of the benchmark begins with what it takes"});
    }
  }
  return given;
}

}  // namespace frugal
