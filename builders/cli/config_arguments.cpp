#include "builders/cli/commands.h"
#include "presets/config/value.h"
#include "sdk/core/error.h"

namespace frugal::cli {
namespace {

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

void ConfigArguments::AddTo(CLI::App& command, const std::string& what_file_is) {
  command.add_option("FILE.toml", file, what_file_is)->type_name(" ")->required();
  command
      .add_option("--set", overrides,
                  "Put a value on top of the file, e.g. --set training.epochs=1; repeatable")
      ->type_name("SECTION.KEY=VALUE")
      ->allow_extra_args(false);  // one value each, so that FILE may follow
  command
      .add_option("--memory", memory,
                  "Memory preset, by name or by the path of its file: memory.preset")
      ->type_name("PRESET");
}

void ConfigArguments::Put(const std::string& option, const std::string& key,
                          const std::string& value) {
  for (const std::string& other : overrides) {
    const std::size_t equals = other.find('=');
    if (equals == std::string::npos || Trimmed(other.substr(0, equals)) != key) continue;
    const std::string said = Trimmed(other.substr(equals + 1));
    if (said == value || QuoteToml(said) == value || said == QuoteToml(value)) continue;
    throw ConfigError({.where = key,
                       .required = "one value for it on the command line",
                       .given = option + " and --set " + other,
                       .advice = "leave one of them out"});
  }
  overrides.push_back(key + "=" + value);
}

std::vector<std::string> ConfigArguments::Overrides() const {
  ConfigArguments all = *this;
  if (!memory.empty()) all.Put("--memory " + memory, "memory.preset", QuoteToml(memory));
  return all.overrides;
}

}  // namespace frugal::cli
