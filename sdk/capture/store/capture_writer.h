#pragma once

#include <string>
#include <vector>

#include "sdk/capture/call_selection.h"
#include "sdk/capture/store/capture_entry.h"
#include "sdk/capture/store/tensor_store.h"
#include "sdk/memory/system_memory.h"

namespace frugal {

// Says what a capture takes on the disk, or would.
struct CaptureTotals {
  std::int64_t entries = 0;
  std::int64_t tensor_bytes = 0;    // of all tensors of all entries, each as often as it is there
  std::int64_t entry_bytes = 0;     // of the files of entries, and the manifest
  std::int64_t shared_bytes = 0;    // of the files of tensors that are stored by content
  std::int64_t shared_tensors = 0;  // how many those are

  std::int64_t file_bytes() const { return entry_bytes + shared_bytes; }
};

// The sink that makes a capture of what it is shown:
//   DIR/manifest.jsonl      a line for the capture, then one for each entry that is whole
//   DIR/entries/*           the tensors of an entry below kSharedTensorBytes, and its line
//   DIR/tensors/*           all other tensors, by content
// An entry's line follows its files, so whatever ends the process, the capture up to the last line
// is whole; what a machine that stops loses of it, its hashes tell. Holds no more than an entry's
// small tensors and, where a kernel writes parts of a tensor, a copy of that.
class CaptureWriter final : public CallSink {
 public:
  // An empty directory's name: nothing is written, only counted. Else it must be missing or empty,
  // and is made. Throws CaptureError, and FileError here and later where a file cannot be written.
  CaptureWriter(std::string directory, const CaptureHeader& header, CallSelection selection);
  ~CaptureWriter() override;

  bool Wants(const Call& call, const CallPlace& place) override;
  void Before(Call& call, const CallPlace& place) override;
  void After(Call& call, const CallPlace& place) override;

  CaptureTotals totals() const;

 private:
  struct SmallTensor {
    std::string name;
    Shape shape;
    DType dtype;
    std::vector<std::byte> bytes;
  };

  StoredContent Store(const CallBuffer& buffer, const std::string& name);
  void WriteEntry();
  void AppendLine(const std::string& line);

  std::string directory_;
  CallSelection selection_;
  TensorStore tensors_;
  HeapAllocator heap_;
  CaptureEntry entry_;              // that is being recorded
  std::vector<SmallTensor> small_;  // of it
  CaptureTotals totals_;
  int manifest_ = -1;
  std::int64_t manifest_bytes_ = 0;
};

}  // namespace frugal
