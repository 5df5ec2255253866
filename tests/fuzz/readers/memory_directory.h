#pragma once

#include <filesystem>
#include <string>

namespace frugal::testing {

// A directory in memory, for readers of several files; removed with its content.
class MemoryDirectory {
 public:
  MemoryDirectory();
  MemoryDirectory(const MemoryDirectory&) = delete;
  MemoryDirectory& operator=(const MemoryDirectory&) = delete;
  ~MemoryDirectory();

  std::string path() const { return path_.string(); }
  // Puts a copy of a file into it, in place of one of that name.
  void Put(const std::string& file, const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace frugal::testing
