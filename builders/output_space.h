#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "builders/plan/planned_training.h"

namespace frugal {

// Holds the bytes that the outputs of a training will take. Weights are known to the byte (as JSON:
// at most), before they exist. Report and summary are given an allowance: 1 MB, 100 bytes for each
// step, 256 for each epoch and 1,024 for each layer.
struct OutputBytes {
  std::int64_t weights = 0;
  std::int64_t report = 0;
  std::int64_t summary = 0;
};
OutputBytes OutputBytesOf(const PlannedTraining& planned);

// Counts the free space of file systems, as outputs are written one after another. Where a file is
// replaced, the old one is there until the new one is whole, and its space is free only then.
class OutputSpace {
 public:
  // Takes room for `bytes` at `path`, whose directory exists. Returns how many bytes are free there
  // if these are too few, else nothing. A file system that does not tell has room for all.
  std::optional<std::int64_t> Take(const std::string& path, std::int64_t bytes);

 private:
  std::map<std::uint64_t, std::int64_t> free_;  // by device
};

// Returns the size of the largest file that this process may write (RLIMIT_FSIZE), or nothing where
// there is no limit.
std::optional<std::int64_t> FileSizeLimit();

}  // namespace frugal
