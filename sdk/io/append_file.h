#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "sdk/io/file_system.h"

namespace frugal {

// A file that grows as a training goes: a log. Losing some of it must not lose the training, so a
// record that cannot be written is a warning, told once for the file, and the next one tries again
// at the end of the last record that is whole.
class AppendFile {
 public:
  // Holds the sentences of errors and warnings: "the log of a training can be written", "name ...".
  struct Purpose {
    std::string required;
    std::string advice;
  };
  // Opens the file; `mode` says what becomes of one that is there. Throws FileError where that
  // fails, for then no training has begun.
  AppendFile(const std::string& path, OpenMode mode, Purpose purpose);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t size() const { return size_; }  // of the records that are whole

  // Hands a whole record to the system: from then on it outlives this process.
  void Append(std::string_view record);
  // Returns when all records are on the disk, and outlive the machine too.
  void Sync();

 private:
  void Tell(const std::error_code& error);

  std::string path_;
  Purpose purpose_;
  FileSystem& files_;
  int file_ = -1;
  std::int64_t size_ = 0;
  bool told_ = false;
};

}  // namespace frugal
