// A first signal is noted, a second SIGINT ends the process.
#include "builders/interruption.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "builders/main_guard.h"
#include "tests/catch.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

// Returns the exit code of a process that runs the body, or -signal where one ended it.
int ExitOf(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_CASE("the first signal is noted and stays, and a second SIGINT ends at once") {
  CHECK(ExitOf([] {
          const InterruptionScope scope;
          std::raise(SIGTERM);
          std::raise(SIGTERM);
          return InterruptionScope::signal() == SIGTERM ? 7 : 8;
        }) == 7);
  CHECK(ExitOf([] {
          const InterruptionScope scope;
          std::raise(SIGINT);
          if (InterruptionScope::signal() != SIGINT) return 8;
          std::raise(SIGINT);
          return 9;
        }) == 128 + SIGINT);
}

TEST_CASE("signals are handled as before outside of a scope, and ignored ones in it") {
  CHECK(ExitOf([] {
          std::signal(SIGINT, SIG_DFL);  // not the one of the test's own program
          { const InterruptionScope scope; }
          std::raise(SIGINT);
          return 9;
        }) == -SIGINT);
  CHECK(ExitOf([] {
          std::signal(SIGINT, SIG_IGN);
          const InterruptionScope scope;
          std::raise(SIGINT);
          return InterruptionScope::signal() == 0 ? 7 : 8;
        }) == 7);
}

TEST_CASE("a program that a signal interrupted returns its code") {
  CHECK(RunProgram([] { throw Interrupted(SIGINT); }) == 130);
  CHECK(RunProgram([] { throw Interrupted(SIGTERM); }) == 143);
}

}  // namespace
}  // namespace frugal::testing
