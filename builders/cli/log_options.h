#pragma once

#include <CLI/CLI.hpp>

namespace frugal::cli {

// Gives every command --log-level, and --quiet where it has none of its own.
void AddLogOptions(CLI::App& app);

// Sets the level that the command line asks for: the one of --log-level or, with --quiet alone,
// warnings and errors. Throws CLI::ValidationError for a level that there is not.
void ApplyLogOptions(const CLI::App& command);

}  // namespace frugal::cli
