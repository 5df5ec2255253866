#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sdk/io/file_system.h"

namespace frugal::testing {

// A file with its bytes, or a directory with the nodes that it names.
struct DiskNode {
  bool is_directory = false;
  std::map<std::string, std::size_t> names = {};  // nodes, by their places in a Disk
  std::string bytes = {};
};
using Disk = std::vector<DiskNode>;  // the first one is the root

// A name in a directory.
struct DiskName {
  std::size_t directory = 0;
  std::string name = {};
};

// One change of a disk, or the promise that earlier ones are on it. Files go by their node, since a
// name may be another file's by then.
struct DiskCall {
  enum class Kind : std::uint8_t {
    kLink,           // `at` names `node`, which is new
    kRename,         // `to` names what `at` did
    kUnlink,         // `at` names nothing
    kWrite,          // `bytes` are at `offset`
    kTruncate,       // the file has `offset` bytes
    kSync,           // the bytes of `node` are on the disk
    kSyncDirectory,  // the names in `node` are
    kMark,           // a test was told something
  };
  Kind kind = Kind::kMark;
  std::size_t node = 0;
  DiskName at = {};
  DiskName to = {};
  std::int64_t offset = 0;
  std::string bytes = {};
  bool makes_directory = false;  // kLink
  std::string text = {};         // for people, or the mark
};

struct Recording {
  Disk before;
  std::vector<DiskCall> calls;
};

// Passes calls on to another file system, and takes down those that changed something below `root`.
// Everything that is there at first is taken to be on the disk. Threads: any may write; calls are
// made one at a time, in the order that is taken down.
class RecordingFileSystem final : public FileSystem {
 public:
  explicit RecordingFileSystem(const std::filesystem::path& root,
                               FileSystem& below = SystemFiles());

  // Notes that from here on something was promised: "saved 2". Crash states tell which were.
  void Mark(const std::string& text);
  Recording recording() const;

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
  struct Place;
  std::size_t ReadTree(const std::filesystem::path& path);
  Place PlaceOf(const std::string& path) const;
  void Link(const Place& place, bool is_directory);
  void TakeDown(DiskCall call) { recording_.calls.push_back(std::move(call)); }

  std::filesystem::path root_;
  FileSystem& below_;
  mutable std::mutex mutex_;
  Recording recording_;
  Disk now_;                                  // names only
  std::map<int, std::size_t> open_;           // nodes of descriptors
  std::map<std::size_t, std::string> paths_;  // of nodes, for people
};

}  // namespace frugal::testing
