#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/io/temp_dir.h"

namespace frugal::testing {

// Holds what a program left behind.
struct ProgramRun {
  int exit_code = -1;  // 128 + the signal that ended it, as shells count
  std::string output;  // of standard output
  std::string errors;  // of standard error
};

// "/path/to/bin/frugal"
inline std::string Program(const std::string& name) {
  return std::string(FRUGAL_BIN_DIR) + "/" + name;
}

// Runs a command line of the shell in `directory`.
inline ProgramRun Run(const TempDir& directory, const std::string& command) {
  const std::string in = "cd '" + directory.File("") + "' && { " + command + "; }";
  const int status =
      std::system((in + " > run.stdout 2> run.stderr").c_str());  // NOLINT(cert-env33-c)
  ProgramRun run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.output = ReadAll(directory.File("run.stdout"));
  run.errors = ReadAll(directory.File("run.stderr"));
  return run;
}

inline ProgramRun Frugal(const TempDir& directory, const std::string& arguments) {
  return Run(directory, Program("frugal") + " " + arguments);
}

}  // namespace frugal::testing
