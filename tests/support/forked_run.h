#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

// Runs what may end its process.
namespace frugal::testing {

struct ForkedRun {
  int code = -1;       // it exited with; -1 where a signal ended it
  std::string errors;  // it wrote
};

// Runs the call in a process of its own.
template <class Call>
ForkedRun RunForked(const Call& call) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    call();
    ::_exit(0);
  }
  ::close(ends[1]);
  ForkedRun run;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    run.errors.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) run.code = WEXITSTATUS(status);
  return run;
}

}  // namespace frugal::testing
