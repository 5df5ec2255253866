#include "builders/main_guard.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "builders/interruption.h"
#include "sdk/core/error.h"
#include "sdk/train/divergence.h"

namespace frugal {
namespace {

int Fail(std::string message, int exit_code = 1) {
  // Further lines of a list start below the first.
  for (std::size_t at = message.find('\n'); at != std::string::npos; at = message.find('\n', at)) {
    at += 1;
    message.insert(at, "       ");
  }
  std::cout.flush();
  std::cerr << "error: " << message << std::endl;
  return exit_code;
}

bool ReaderIsGone() {
  pollfd output = {STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

void CheckOutput() {
  std::cout.flush();
  if (std::cout || ReaderIsGone()) return;
  throw Error({.where = "standard output",
               .required = "all of it can be written",
               .given = "some of it was lost",
               .advice = "check the disk that it is sent to"});
}

}  // namespace

int RunProgram(const std::function<void()>& body) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file over its limit (ulimit -f) is an error like others
  try {
    body();
    CheckOutput();
    return 0;
  } catch (const Interrupted& interrupted) {
    std::cout.flush();
    return 128 + interrupted.signal();
  } catch (const DivergenceError& error) {
    return Fail(error.what(), kDivergedExitCode);
  } catch (const Error& error) {
    return Fail(error.what());
  } catch (const std::bad_alloc&) {
    return Fail(
        "the system gave no more memory; close other programs, or use a smaller batch or "
        "gradient checkpointing");
  } catch (const std::exception& error) {
    return Fail(std::string("this should not happen, please report it: ") + error.what());
  } catch (...) {
    return Fail("this should not happen, please report it: an exception without a description");
  }
}

}  // namespace frugal
