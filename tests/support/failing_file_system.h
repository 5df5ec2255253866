#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "sdk/io/file_system.h"

namespace frugal::testing {

// Says which calls fail, and how.
struct Fault {
  int error = EIO;            // errno of the call; it does nothing then, but Close gives back
  bool short_write = false;   // in place of an error: a write takes half of its bytes, and says so
  bool lasts = false;         // all later calls fail too, as on a disk that is full
  int sync_milliseconds = 0;  // every sync takes so much longer, as on a slow disk
  int open_milliseconds = 0;  // and opening a file
  int busy_milliseconds = 0;  // every write keeps a core busy for so much longer
  std::size_t call = 0;       // number of the first one that fails, from 1; 0 is none
};

// Passes calls on to another file system, but for those that a fault hits.
class FailingFileSystem final : public FileSystem {
 public:
  explicit FailingFileSystem(const Fault& fault, FileSystem& below = SystemFiles())
      : fault_(fault), below_(below) {}

  std::size_t calls() const;   // so far
  bool has_failed() const;     // a call was hit
  std::string failed() const;  // the first one: "rename /tmp/a"; empty where none was

  int Open(const std::string& path, OpenMode mode, mode_t permissions,
           std::error_code& error) override;
  std::size_t WriteAt(int file, std::int64_t offset, std::span<const std::byte> bytes,
                      std::error_code& error) override;
  std::error_code Truncate(int file, std::int64_t size) override;
  std::error_code TakeSpace(int file, std::int64_t size) override;
  std::error_code Sync(int file) override;
  std::error_code Close(int file) override;
  std::error_code Rename(const std::string& from, const std::string& to) override;
  std::error_code Remove(const std::string& path) override;
  std::error_code MakeDirectory(const std::string& path) override;
  std::error_code SyncDirectory(const std::string& path) override;

 private:
  bool IsHit(const std::string& text);
  std::error_code ErrorAt(const std::string& text);

  Fault fault_;
  FileSystem& below_;
  mutable std::mutex mutex_;
  std::size_t calls_ = 0;
  std::string failed_;
};

// Lets `run` be hit at its first call, then at its second, and so on until it makes no more calls:
// each time with a file system of its own that is the current one. Returns how many calls failed.
std::size_t ForEachFailingCall(Fault fault,
                               const std::function<void(FailingFileSystem& files)>& run);

}  // namespace frugal::testing
