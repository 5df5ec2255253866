#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "sdk/core/error.h"

namespace frugal {

// Another root directory, in which PyTorch runs: that of a newer Debian than this one, say.
// tests/benchmarks/README.md says how to make it.

[[noreturn]] inline void RefusePeerRoot(const std::string& given, const std::string& advice) {
  throw UsageError({.where = "--peer-root",
                    .required = "the root directory of a Debian system with PyTorch",
                    .given = given,
                    .advice = advice});
}

inline std::string AdviceToInstall(const std::string& root) {
  return "chroot " + root +
         " apt-get install --no-install-recommends python3-torch libopenblas0-openmp "
         "libtcmalloc-minimal4t64";
}

// A link to a path of the root is there, though it may lead nowhere outside.
inline bool IsInRoot(const std::string& root, const std::string& path) {
  std::error_code error;
  return exists(symlink_status(std::filesystem::path(root + path), error));
}

// Returns the directory as commands can take it. Throws UsageError where it is none that PyTorch
// could run in, or this user may not enter it.
inline std::string CheckedPeerRoot(const std::string& given) {
  std::error_code error;
  std::string root = std::filesystem::canonical(given, error).string();
  if (error || !std::filesystem::is_directory(root)) {
    RefusePeerRoot("'" + given + "' is no directory",
                   "debootstrap --variant=minbase sid " + given + "; " + AdviceToInstall(given));
  }
  if (!IsInRoot(root, "/usr/bin/python3")) {
    RefusePeerRoot("there is no python3 in " + root, AdviceToInstall(root));
  }
  if (geteuid() != 0) {
    RefusePeerRoot("only the user root may enter " + root, "run this by sudo");
  }
  return root;
}

}  // namespace frugal
