#pragma once

#include <string>
#include <vector>

#include "sdk/core/log.h"

namespace frugal::testing {

// Collects warnings in place of standard error while it lives.
class LogMessages {
 public:
  LogMessages() {
    SetLogSink([this](LogLevel level, std::string_view text) {
      if (level == LogLevel::kWarning) warnings_.emplace_back(text);
    });
  }
  ~LogMessages() { SetLogSink({}); }
  LogMessages(const LogMessages&) = delete;
  LogMessages& operator=(const LogMessages&) = delete;

  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<std::string> warnings_;
};

}  // namespace frugal::testing
