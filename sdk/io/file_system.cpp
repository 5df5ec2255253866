#include "sdk/io/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace frugal {
namespace {

namespace fs = std::filesystem;

std::error_code ErrorNow() { return {errno, std::generic_category()}; }

std::error_code ErrorUnless(bool done) { return done ? std::error_code() : ErrorNow(); }

int FlagsOf(OpenMode mode) {
  switch (mode) {
    case OpenMode::kNew:
      return O_CREAT | O_EXCL;
    case OpenMode::kEmpty:
      return O_CREAT | O_TRUNC;
    case OpenMode::kContinue:
      return O_CREAT;
    case OpenMode::kExisting:
      return O_NOFOLLOW | O_NONBLOCK;
    case OpenMode::kNewDirect:
      return O_CREAT | O_EXCL | O_DIRECT;
  }
  return 0;
}

// File systems say so by EINVAL, when a file is opened or with the first write. Returns whether the
// file was one that went past the page cache, which it does no more.
bool LeaveDirect(int file) {
  const int flags = ::fcntl(file, F_GETFL);
  return flags >= 0 && (flags & O_DIRECT) != 0 && ::fcntl(file, F_SETFL, flags & ~O_DIRECT) == 0;
}

class System final : public FileSystem {
 public:
  int Open(const std::string& path, OpenMode mode, mode_t permissions,
           std::error_code& error) override {
    int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | FlagsOf(mode), permissions);
    if (file < 0 && errno == EINVAL && mode == OpenMode::kNewDirect) {
      // Some systems have made the file by then.
      file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_CREAT, permissions);
    }
    error = ErrorUnless(file >= 0);
    return file;
  }
  std::size_t WriteAt(int file, std::int64_t offset, std::span<const std::byte> bytes,
                      std::error_code& error) override {
    ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINVAL && LeaveDirect(file)) {
      written = ::pwrite(file, bytes.data(), bytes.size(), offset);
    }
    error = ErrorUnless(written >= 0);
    return written < 0 ? 0 : static_cast<std::size_t>(written);
  }
  std::error_code Truncate(int file, std::int64_t size) override {
    return ErrorUnless(::ftruncate(file, size) == 0);
  }
  std::error_code TakeSpace(int file, std::int64_t size) override {
    if (size == 0 || ::fallocate(file, 0, 0, size) == 0) return {};
    return errno == EOPNOTSUPP ? Truncate(file, size) : ErrorNow();
  }
  std::error_code Sync(int file) override { return ErrorUnless(::fsync(file) == 0); }
  std::error_code Close(int file) override { return ErrorUnless(::close(file) == 0); }
  std::error_code Rename(const std::string& from, const std::string& to) override {
    return ErrorUnless(std::rename(from.c_str(), to.c_str()) == 0);
  }
  std::error_code Remove(const std::string& path) override {
    return ErrorUnless(std::remove(path.c_str()) == 0);
  }
  std::error_code MakeDirectory(const std::string& path) override {
    return ErrorUnless(::mkdir(path.c_str(), 0777) == 0);
  }
  std::error_code SyncDirectory(const std::string& path) override {
    const int directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return ErrorNow();
    const std::error_code error = ErrorUnless(::fsync(directory) == 0);
    ::close(directory);
    return error;
  }
};

std::atomic<FileSystem*>& Current() {
  static std::atomic<FileSystem*> current = &SystemFiles();
  return current;
}

bool CannotBeSynced(const std::error_code& error) {
  return error == std::errc::invalid_argument || error == std::errc::not_supported ||
         error == std::errc::operation_not_supported ||
         error == std::errc::function_not_supported || error == std::errc::permission_denied ||
         error == std::errc::operation_not_permitted;
}

}  // namespace

FileSystem& SystemFiles() {
  static System files;
  return files;
}

FileSystem& CurrentFileSystem() { return *Current().load(); }

FileSystemScope::FileSystemScope(FileSystem& files) : before_(Current().exchange(&files)) {}

FileSystemScope::~FileSystemScope() { Current() = before_; }

std::error_code WriteAll(FileSystem& files, int file, std::int64_t offset,
                         std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::error_code error;
    const std::size_t written = files.WriteAt(file, offset, bytes, error);
    if (error == std::errc::interrupted) continue;
    if (error) return error;
    if (written == 0) return std::make_error_code(std::errc::no_space_on_device);
    bytes = bytes.subspan(written);
    offset += static_cast<std::int64_t>(written);
  }
  return {};
}

int OpenFile(FileSystem& files, const std::string& path, OpenMode mode, mode_t permissions,
             std::error_code& error) {
  int file = -1;
  error = Uninterrupted([&] {
    std::error_code problem;
    file = files.Open(path, mode, permissions, problem);
    return problem;
  });
  return file;
}

std::error_code SyncNames(FileSystem& files, const std::string& directory) {
  const std::error_code error = Uninterrupted([&] { return files.SyncDirectory(directory); });
  return CannotBeSynced(error) ? std::error_code() : error;
}

std::error_code MakeDirectories(FileSystem& files, const std::string& path) {
  std::error_code error;
  const fs::path directory =
      fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
  if (fs::is_directory(directory, error)) return {};
  const fs::path above = directory.has_parent_path() ? directory.parent_path() : fs::path(".");
  if (above != directory) error = MakeDirectories(files, above.string());
  if (error) return error;
  error = Uninterrupted([&] { return files.MakeDirectory(directory.string()); });
  std::error_code unknown;
  if (error && !fs::is_directory(directory, unknown)) return error;  // others may have made it
  return SyncNames(files, above.string());
}

}  // namespace frugal
