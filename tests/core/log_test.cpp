// The library says things, and a program takes them: levels, sinks, and the environment.
#include "sdk/core/log.h"

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

namespace frugal {
namespace {

using Messages = std::vector<std::pair<LogLevel, std::string>>;

// Collects messages while it lives, and leaves the log as it was.
class Collected {
 public:
  explicit Collected(LogLevel level) : before_(CurrentLogLevel()) {
    SetLogLevel(level);
    SetLogSink([this](LogLevel of, std::string_view text) { messages_.emplace_back(of, text); });
  }
  ~Collected() {
    SetLogSink({});
    SetLogLevel(before_);
  }
  Collected(const Collected&) = delete;
  Collected& operator=(const Collected&) = delete;

  const Messages& messages() const { return messages_; }

 private:
  LogLevel before_;
  Messages messages_;
};

void LogAll() {
  LogDebug("a detail");
  LogInfo("a note");
  LogWarning("a {warning} %s");
}

TEST_CASE("a sink gets the messages of its level and above, as they are") {
  const Messages all = {{LogLevel::kDebug, "a detail"},
                        {LogLevel::kInfo, "a note"},
                        {LogLevel::kWarning, "a {warning} %s"}};
  for (const auto& [level, first] :
       {std::pair(LogLevel::kTrace, 0), std::pair(LogLevel::kDebug, 0),
        std::pair(LogLevel::kInfo, 1), std::pair(LogLevel::kWarning, 2),
        std::pair(LogLevel::kError, 3), std::pair(LogLevel::kOff, 3)}) {
    const Collected log(level);
    CHECK(CurrentLogLevel() == level);
    LogAll();
    CHECK(log.messages() == Messages(all.begin() + first, all.end()));
  }
}

TEST_CASE("a sink may be called by many threads, one after the other") {
  const Collected log(LogLevel::kInfo);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 100; ++j) LogInfo("again");
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(log.messages().size() == 400);
}

TEST_CASE("a sink that throws or logs itself stops nothing") {
  const Collected before(LogLevel::kInfo);
  int calls = 0;
  SetLogSink([&](LogLevel, std::string_view) {
    ++calls;
    LogWarning("from inside");
    throw std::runtime_error("no room");
  });
  LogInfo("one");
  LogInfo("two");
  CHECK(calls == 2);
}

TEST_CASE("levels are known by their names") {
  for (const LogLevel level : {LogLevel::kTrace, LogLevel::kDebug, LogLevel::kInfo,
                               LogLevel::kWarning, LogLevel::kError, LogLevel::kOff}) {
    CHECK(LogLevelNamed(NameOf(level)) == level);
  }
  CHECK(LogLevelNamed("warn") == LogLevel::kWarning);
  CHECK_FALSE(LogLevelNamed("loud"));
  CHECK_FALSE(LogLevelNamed(""));
}

}  // namespace
}  // namespace frugal
