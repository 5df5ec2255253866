#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/recording_file_system.h"

namespace frugal::testing {

// The smallest part of a call that may be on the disk without the rest of it.
struct DiskChange {
  enum class Kind : std::uint8_t { kName, kBytes, kLength, kCut };
  Kind kind = Kind::kName;
  std::size_t call = 0;     // in the recording
  std::int64_t begin = 0;   // of kBytes, in the file
  std::int64_t end = 0;     // of kBytes; of kLength and kCut the file's size
  bool is_durable = false;  // a sync followed
};

// Returns the changes of the first `calls` calls in their order, writes split at blocks.
std::vector<DiskChange> ChangesOf(const Recording& recording, std::size_t calls,
                                  std::int64_t block);

// Returns the disk on which only these changes are, which are in their order.
Disk DiskWith(const Recording& recording, const std::vector<DiskChange>& changes);

// Returns a text that two disks share where every reader finds the same on them.
std::string ContentOf(const Disk& disk);

// Makes the disk's root a directory of the machine; it must not exist.
void WriteDisk(const Disk& disk, const std::filesystem::path& root);

// "write a [0, 8): bytes [0, 4)"
std::string TextOf(const Recording& recording, const DiskChange& change);

}  // namespace frugal::testing
