#pragma once

#include <string>
#include <vector>

namespace frugal {

// Returns what a configuration to start from may be about: "images", "text", "diffusion",
// "transfer".
std::vector<std::string> StartingKinds();

// One line about what it trains. Throws ConfigError, with the nearest name, for an unknown kind.
std::string DocOfStart(const std::string& kind);

// A configuration file that plans and trains, each key with its documentation behind it. Throws
// ConfigError for an unknown kind.
std::string StartingFile(const std::string& kind);

}  // namespace frugal
