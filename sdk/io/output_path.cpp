#include "sdk/io/output_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sdk/io/file_error.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void RefusePath(const std::string& path, const std::string& given) {
  RefuseFile(path, "the path of a file that can be written", given, "name another file");
}

bool IsMissing(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

// Looks as the system does, which follows links where it lets this user follow them.
void CheckKind(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error == std::errc::too_many_symbolic_link_levels) {
    RefusePath(path, "'" + path + "' is a link that leads back to itself");
  }
  if (error && !IsMissing(error)) RefusePath(path, "'" + path + "': " + error.message());
  if (fs::is_directory(status) || !fs::path(path).has_filename()) {
    RefusePath(path, "'" + path + "' is a directory");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    RefusePath(path, "'" + path + "' is a device");
  }
}

fs::path FollowLinks(const std::string& path) {
  fs::path target = path;
  std::error_code error;
  while (fs::is_symlink(fs::symlink_status(target, error))) {
    target = target.parent_path() / fs::read_symlink(target, error);
    if (error) RefusePath(path, "'" + path + "': " + error.message());
  }
  if (!target.has_filename()) RefusePath(path, "'" + path + "' leads to a directory");
  return target;
}

// A file that is mounted by itself, as containers do, cannot be renamed over.
bool IsMounted(const fs::path& target) {
  struct statx facts = {};
  return ::statx(AT_FDCWD, target.c_str(), 0, 0, &facts) == 0 &&
         (facts.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// In a directory like /tmp only the owners of the file and of the directory may rename over it.
bool IsKeptByOwner(const fs::path& target) {
  struct stat file = {};
  struct stat directory = {};
  if (::stat(target.c_str(), &file) != 0) return false;
  if (::stat(DirectoryOf(target).c_str(), &directory) != 0) return false;
  const uid_t user = ::geteuid();
  return (directory.st_mode & S_ISVTX) != 0 && user != 0 && user != file.st_uid &&
         user != directory.st_uid;
}

void CheckReplaceable(const std::string& path, const fs::path& target) {
  if (::access(target.c_str(), W_OK) != 0 && errno != ENOENT && errno != ENOTDIR) {
    RefusePath(path, "'" + path + "' may not be written: " + std::strerror(errno));
  }
  if (IsKeptByOwner(target)) RefusePath(path, "'" + path + "' may be replaced by its owner only");
  if (IsMounted(target))
    RefusePath(path, "'" + path + "' is mounted by itself: it cannot be replaced");
}

}  // namespace

fs::path DirectoryOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

fs::path ResolveOutput(const std::string& path) {
  if (path.empty()) RefusePath(path, "the path is empty");
  if (path.find('\0') != std::string::npos) {
    RefusePath(path, "the path holds a NUL character, where the system would end it");
  }
  CheckKind(path);
  fs::path target = FollowLinks(path);
  CheckReplaceable(path, target);
  return target;
}

}  // namespace frugal
