#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace frugal::cli {

// Scripts that complete a program's commands, options and values, made of its tree of commands. For
// --set they know every key, and the values of those that have a list of them.
std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);

}  // namespace frugal::cli
