#pragma once

#include <functional>

namespace frugal {

inline constexpr int kDivergedExitCode = 3;

// Runs the body of a main() and returns the program's exit code: 0, or 1 after one message on
// standard error ("error: ...") for whatever it throws; kDivergedExitCode after a DivergenceError;
// 128 + the signal (130, 143) where SIGINT or SIGTERM ended a training (interruption.h). A reader
// of standard output that goes away
// (`program | head -1`) does not stop the body, so that a training is not lost by it, and is no
// error; output that cannot be written for another reason, such as a full disk, is one.
int RunProgram(const std::function<void()>& body);

}  // namespace frugal
