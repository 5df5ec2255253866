#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace frugal::cli {

// Adds an option that takes bytes: "512MiB", "1GiB", "64 KB", "1048576". Units are binary, as in
// all that is printed. Other text is a mistake in the command line.
void AddBytes(CLI::App& command, const std::string& name, std::int64_t& bytes,
              const std::string& doc);

}  // namespace frugal::cli
