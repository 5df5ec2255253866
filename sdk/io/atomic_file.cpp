#include "sdk/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sdk/io/file_error.h"
#include "sdk/io/output_path.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

fs::path CheckedTarget(const std::string& path) {
  fs::path target = ResolveOutput(path);
  std::error_code error;
  if (fs::is_directory(DirectoryOf(target), error)) return target;
  RefuseFile(path, "a file is written into a directory that exists",
             "there is no directory '" + DirectoryOf(target).string() + "'", "create it first");
}

// Gives the open file the owner, group and permissions of the one that it will replace. Where the
// group cannot be kept, another one gets no more than everybody.
void TakeAfter(const struct stat& replaced, int descriptor) {
  mode_t permissions = replaced.st_mode & 0777;
  const bool all = ::fchown(descriptor, replaced.st_uid, replaced.st_gid) == 0;
  if (!all && ::fchown(descriptor, static_cast<uid_t>(-1), replaced.st_gid) != 0) {
    permissions &= ~mode_t{070} | ((permissions & mode_t{07}) << 3);
  }
  ::fchmod(descriptor, permissions);
}

// The file is made for its owner alone where it replaces another, so that nobody opens it before it
// has the permissions of that one.
PartialFile CreateBeside(const fs::path& target) {
  struct stat replaced = {};
  const bool replaces = ::stat(target.c_str(), &replaced) == 0;
  PartialFile file = CreatePartial(DirectoryOf(target), replaces ? 0600 : 0666);
  if (replaces && file.descriptor >= 0) TakeAfter(replaced, file.descriptor);
  return file;
}

// Makes the rename itself durable. Best effort: not every file system lets a directory be synced.
void SyncDirectory(const fs::path& path) {
  const int directory = ::open(DirectoryOf(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(CheckedTarget(path)) {
  RemoveAbandoned(DirectoryOf(target_));
  partial_ = CreateBeside(target_);
  if (partial_.descriptor < 0) Refuse("a new file must be allowed beside it");
}

AtomicFile::~AtomicFile() {
  if (partial_.descriptor < 0) return;
  ::unlink(partial_.path.c_str());
  ::close(partial_.descriptor);
}

void AtomicFile::Refuse(const char* what) const {
  RefuseFile(path_, what, std::strerror(errno), "free space or choose another place");
}

void AtomicFile::WriteAt(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(partial_.descriptor, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) Refuse("all of the file must be written");
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
    size_ = std::max(size_, offset);
  }
}

void AtomicFile::Commit() {
  if (::fsync(partial_.descriptor) != 0) Refuse("all of the file must reach the disk");
  if (std::rename(partial_.path.c_str(), target_.c_str()) != 0) {
    Refuse("the file must be replaceable");
  }
  ::close(partial_.descriptor);
  partial_.descriptor = -1;
  SyncDirectory(target_);
}

}  // namespace frugal
