#include "sdk/io/partial_file.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace frugal {
namespace {

namespace fs = std::filesystem;

// "frugal-partial-HOST-". The host is part of it since locks may be seen on one host alone.
std::string Prefix() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::string prefix = "frugal-partial-" + std::string(host.data()) + "-";
  std::ranges::replace(prefix, '/', '_');
  return prefix;
}

// True for PROCESS-NUMBER behind the prefix: nobody else names a file like this.
bool IsPartialName(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  const std::size_t dash = name.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
         is_number(name.substr(dash + 1));
}

// False where the file was taken for an abandoned one and removed, in the moment before the lock.
// Where there are no locks, nobody else gets one either, and the file stays.
bool Lock(int descriptor) {
  int locked = -1;
  do {
    locked = ::flock(descriptor, LOCK_EX);
  } while (locked != 0 && errno == EINTR);
  struct stat facts = {};
  return locked != 0 || ::fstat(descriptor, &facts) != 0 || facts.st_nlink > 0;
}

// True where `path` still names the open file: under its lock nobody can rename it.
bool Names(const fs::path& path, int descriptor) {
  struct stat named = {};
  struct stat open = {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 &&
         named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

void RemoveUnlessHeld(FileSystem& files, const fs::path& path) {
  std::error_code error;
  const int descriptor = OpenFile(files, path.string(), OpenMode::kExisting, 0, error);
  if (descriptor < 0) return;
  const bool abandoned = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  if (abandoned && Names(path, descriptor)) files.Remove(path.string());
  files.Close(descriptor);
}

}  // namespace

PartialFile CreatePartial(FileSystem& files, const fs::path& directory, OpenMode mode,
                          mode_t permissions) {
  constexpr int kMostAttempts = 1000;
  const std::string stem = Prefix() + std::to_string(::getpid()) + "-";
  const std::error_code taken = std::make_error_code(std::errc::file_exists);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    PartialFile file = {(directory / (stem + std::to_string(attempt))).string()};
    file.descriptor = OpenFile(files, file.path, mode, permissions, file.error);
    if (file.descriptor < 0 && file.error != taken) return file;
    if (file.descriptor < 0) continue;
    if (Lock(file.descriptor)) return file;
    files.Close(file.descriptor);
  }
  return {.error = taken};
}

void RemoveAbandoned(FileSystem& files, const fs::path& directory) {
  const std::string prefix = Prefix();
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    if (IsPartialName(path.filename().string(), prefix)) RemoveUnlessHeld(files, path);
  }
}

}  // namespace frugal
