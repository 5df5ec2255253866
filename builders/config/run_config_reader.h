#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builders/config/run_config.h"
#include "presets/config/config_node.h"
#include "presets/config/json_schema.h"

namespace frugal {

// Reads a configuration file and puts the overrides ("section.key=value") on top. Throws one
// ConfigError with everything that is wrong in it, each with its place.
RunConfig ReadRunConfig(const std::string& path, const std::vector<std::string>& overrides = {});
// Reads TOML in memory in the same way; `name` stands for the file in messages. `custom_data`:
// [data] need not describe any.
RunConfig ReadRunConfigText(std::string_view toml, const std::string& name,
                            const std::vector<std::string>& overrides = {},
                            bool custom_data = false);
// Reads values alone, each as it has to be: how they go together, and whether there is a network,
// is not looked at.
RunConfig ReadValuesText(std::string_view toml, const std::string& name);

// Reads the tree of such a file in the same way; it may have been made without one.
RunConfig ReadRunConfigTree(ConfigNode root, const std::vector<std::string>& overrides = {},
                            bool custom_data = false);

// JSON schema of configuration files.
std::string RunConfigSchema();

// A section of the file: its name, its fields and its struct in a RunConfig.
struct Section {
  std::string name;
  const FieldTable& (*fields)();  // now: programs may add to them
  void* (*in)(RunConfig& config);
  const char* doc = "";
};
const std::vector<Section>& Sections();  // all but [memory]

}  // namespace frugal
