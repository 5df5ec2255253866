#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <type_traits>

namespace frugal {

// Runs `measure` in a child of this process and returns what it returned, a plain struct; nothing
// where the child failed, which has then said why. The parent must have started no threads. So each
// measurement starts from the same small process, and its peak resident size is its own.
template <class Measure, class Result = std::invoke_result_t<Measure>>
std::optional<Result> InChildProcess(const Measure& measure) {
  static_assert(std::is_trivially_copyable_v<Result>);
  std::array<int, 2> ends{};
  std::fflush(nullptr);
  if (pipe(ends.data()) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    try {
      const Result result = measure();
      const ssize_t written = write(ends[1], &result, sizeof(result));
      _exit(written == static_cast<ssize_t>(sizeof(result)) ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }
  close(ends[1]);
  Result result{};  // small enough that a pipe delivers it in one piece
  const bool complete = read(ends[0], &result, sizeof(result)) == ssize_t{sizeof(result)};
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!complete || status != 0) return std::nullopt;
  return result;
}

}  // namespace frugal
