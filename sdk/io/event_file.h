#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/io/append_file.h"

namespace frugal {

struct Scalar {
  std::string tag;  // "train/loss": what stands before the slash groups curves
  double value = 0;
};

// A file of events as TensorBoard reads them: records of a length, its checksum, an `Event` message
// and its checksum; lengths and numbers are little endian, checksums masked CRC-32C
// (tensorflow/core/lib/io/record_writer.h, tensorflow/core/util/event.proto).
class EventFile {
 public:
  // Makes events.out.tfevents.<seconds>.<host>.<process> in the directory, which is made too where
  // it is missing; a second one of the same second has a number behind that. Throws FileError where
  // that fails.
  explicit EventFile(const std::string& directory);

  const std::string& path() const { return file_.path(); }

  // Says that steps from this one on come again, in place of those that earlier files of the
  // directory have: TensorBoard drops these.
  void BeginAgainAt(std::int64_t step);
  // Adds scalars of one step, to be plotted against it. What cannot be written is a warning.
  void Write(std::int64_t step, const std::vector<Scalar>& scalars);
  // Returns when what was written is on the disk.
  void Flush() { file_.Sync(); }

 private:
  void WriteRecord(std::string_view message);

  AppendFile file_;
};

}  // namespace frugal
