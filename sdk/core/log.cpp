#include "sdk/core/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace frugal {
namespace {

spdlog::logger MakeLogger() {
  spdlog::logger logger("frugal", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger.set_pattern("%l: %v");
  return logger;
}

spdlog::logger& Logger() {
  static spdlog::logger logger = MakeLogger();
  return logger;
}

}  // namespace

void LogWarning(const std::string& message) { Logger().warn(message); }
void LogInfo(const std::string& message) { Logger().info(message); }

void SilenceLog() { Logger().set_level(spdlog::level::off); }

}  // namespace frugal
