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

}  // namespace

void LogWarning(const std::string& message) {
  static spdlog::logger logger = MakeLogger();
  logger.warn(message);
}

}  // namespace frugal
