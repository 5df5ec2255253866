#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace frugal {

// How much a message matters. kOff, as a level that is asked for, lets nothing through.
enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError, kOff };
std::string_view NameOf(LogLevel level);  // "trace", "debug", "info", "warning", "error", "off"
// Returns nothing for other texts than these names.
std::optional<LogLevel> LogLevelNamed(std::string_view name);

// The library prints nothing but by these, which any thread may call. By default messages of kInfo
// and above go to standard error, a line each: "warning: ...". The environment says otherwise by
// SPDLOG_LEVEL=debug, or SPDLOG_LEVEL=frugal=debug among the names of other loggers.
void LogDebug(const std::string& message);
void LogInfo(const std::string& message);  // of what takes long
void LogWarning(const std::string& message);

// Only messages of this level and above are told from now on.
void SetLogLevel(LogLevel level);
LogLevel CurrentLogLevel();

// Takes messages in place of standard error; one at a time, whatever threads they come from. What
// it throws is dropped with the message.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;
// An empty sink stands for standard error again.
void SetLogSink(LogSink sink);

// From now on this process is silent, whatever level it is given: another one says the same.
void SilenceLog();

}  // namespace frugal
