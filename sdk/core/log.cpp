#include "sdk/core/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace frugal {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"trace",   "debug", "info",
                                                    "warning", "error", "off"};

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

LogLevel FromSpdlog(spdlog::level::level_enum level) {
  for (const LogLevel ours : {LogLevel::kTrace, LogLevel::kDebug, LogLevel::kInfo,
                              LogLevel::kWarning, LogLevel::kError}) {
    if (ToSpdlog(ours) == level) return ours;
  }
  return level == spdlog::level::critical ? LogLevel::kError : LogLevel::kOff;
}

// Hands messages to the program's function, or to standard error where there is none.
class ProgramSink final : public spdlog::sinks::sink {
 public:
  void Use(LogSink function) {
    const std::lock_guard lock(mutex_);
    function_ = std::move(function);
  }

  void log(const spdlog::details::log_msg& message) override {
    // A function that logs itself comes here again, in its own thread.
    const std::lock_guard lock(mutex_);
    if (!function_) return errors_.log(message);
    if (is_inside_) return;  // it would never end
    is_inside_ = true;
    try {
      function_(FromSpdlog(message.level), {message.payload.data(), message.payload.size()});
    } catch (...) {  // NOLINT(bugprone-empty-catch): a log must not end what it tells of
    }
    is_inside_ = false;
  }
  void flush() override { errors_.flush(); }
  void set_pattern(const std::string& pattern) override { errors_.set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    errors_.set_formatter(std::move(formatter));
  }

 private:
  std::recursive_mutex mutex_;
  spdlog::sinks::stderr_sink_mt errors_;
  LogSink function_;
  bool is_inside_ = false;
};

constexpr std::string_view kLoggerName = "frugal";

// Reads SPDLOG_LEVEL as spdlog does: levels by logger, "info,frugal=debug", of which the last one
// that concerns this logger counts. Words that are no levels change nothing.
LogLevel LevelOfEnvironment() {
  LogLevel level = LogLevel::kInfo;
  bool is_ours = false;  // a level for all loggers does not replace one for this one
  const char* text = std::getenv("SPDLOG_LEVEL");
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const bool for_all = equals == std::string_view::npos;
    if (for_all ? is_ours : part.substr(0, equals) != kLoggerName) continue;
    const auto named = LogLevelNamed(for_all ? part : part.substr(equals + 1));
    if (!named) continue;
    level = *named;
    is_ours = !for_all;
  }
  return level;
}

struct Log {
  std::shared_ptr<ProgramSink> sink = std::make_shared<ProgramSink>();
  spdlog::logger logger{std::string(kLoggerName), sink};
  std::atomic<bool> is_silent = false;

  Log() {
    logger.set_pattern("%l: %v");
    logger.set_level(ToSpdlog(LevelOfEnvironment()));
  }
};

Log& TheLog() {
  static Log log;
  return log;
}

}  // namespace

std::string_view NameOf(LogLevel level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> LogLevelNamed(std::string_view name) {
  if (name == "warn") return LogLevel::kWarning;  // as spdlog has them too
  if (name == "err") return LogLevel::kError;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

void LogDebug(const std::string& message) { TheLog().logger.debug(message); }
void LogInfo(const std::string& message) { TheLog().logger.info(message); }
void LogWarning(const std::string& message) { TheLog().logger.warn(message); }

void SetLogLevel(LogLevel level) {
  if (!TheLog().is_silent) TheLog().logger.set_level(ToSpdlog(level));
}

LogLevel CurrentLogLevel() { return FromSpdlog(TheLog().logger.level()); }

void SetLogSink(LogSink sink) { TheLog().sink->Use(std::move(sink)); }

void SilenceLog() {
  TheLog().is_silent = true;
  TheLog().logger.set_level(spdlog::level::off);
}

}  // namespace frugal
