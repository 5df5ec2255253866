#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>

#include "sdk/core/utf8.h"

namespace frugal::cli {

// Says which numbers an option takes.
template <class T>
struct NumberRange {
  T least;
  T most;
  std::string text;  // "a whole number from 0 to 10"
};

// Adds an option that takes a number of this range. Other text is a mistake in the command line,
// and so is a number that T cannot hold.
template <class T>
void AddNumber(CLI::App& command, const std::string& name, T& value, const NumberRange<T>& range,
               const std::string& type, const std::string& doc) {
  const auto read = [name, &value, range](const std::string& text) {
    T number{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, number);
    const bool whole = problem == std::errc() && stop == end;
    if (!whole || !(number >= range.least && number <= range.most)) {
      throw CLI::ValidationError(name, range.text + "; " + QuotedName(text) + " was given");
    }
    value = number;
  };
  command.add_option_function<std::string>(name, read, doc)->type_name(type);
}

}  // namespace frugal::cli
