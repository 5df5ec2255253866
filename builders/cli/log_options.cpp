#include "builders/cli/log_options.h"

#include <string>
#include <vector>

#include "presets/config/nearest_name.h"
#include "presets/config/value.h"
#include "sdk/core/log.h"
#include "sdk/core/utf8.h"

namespace frugal::cli {
namespace {

constexpr const char* kLevel = "--log-level";
constexpr const char* kQuiet = "--quiet";

LogLevel LevelOf(const std::string& text) {
  if (const auto level = LogLevelNamed(text)) return *level;
  std::vector<std::string> names;
  for (int level = 0; level <= static_cast<int>(LogLevel::kOff); ++level) {
    names.emplace_back(NameOf(static_cast<LogLevel>(level)));
  }
  const std::string nearest = SuggestName(text, names);
  throw CLI::ValidationError(kLevel,
                             QuotedName(text) + " is no level; " +
                                 (nearest.empty() ? "one of " + JoinWithCommas(names) : nearest));
}

}  // namespace

void AddLogOptions(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    command
        ->add_option_function<std::string>(
            kLevel, [](const std::string& text) { LevelOf(text); },
            "Least that notes on standard error matter: trace, debug, info, warning, error, off "
            "(info, or by SPDLOG_LEVEL)")
        ->type_name("LEVEL");
    if (command->get_option_no_throw(kQuiet) == nullptr) {
      command->add_flag_function(
          kQuiet, [](std::int64_t) {}, "Note nothing but warnings and errors beside the result");
    }
  }
}

void ApplyLogOptions(const CLI::App& command) {
  const CLI::Option* level = command.get_option_no_throw(kLevel);
  const CLI::Option* quiet = command.get_option_no_throw(kQuiet);
  if (level != nullptr && level->count() > 0) {
    SetLogLevel(LevelOf(level->results().back()));
  } else if (quiet != nullptr && quiet->count() > 0) {
    SetLogLevel(LogLevel::kWarning);
  }
}

}  // namespace frugal::cli
