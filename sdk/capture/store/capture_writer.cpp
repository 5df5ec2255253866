#include "sdk/capture/store/capture_writer.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "sdk/capture/capture_error.h"
#include "sdk/capture/replay.h"
#include "sdk/io/file_error.h"
#include "sdk/io/file_hash.h"
#include "sdk/io/file_system.h"
#include "sdk/io/weights/safetensors.h"

namespace frugal {
namespace {

void MakeEmptyDirectory(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  const bool is_empty =
      std::filesystem::is_directory(status) && std::filesystem::is_empty(path, error);
  if (std::filesystem::exists(status) && !is_empty) {
    throw CaptureError(
        {.where = path,
         .required = "a capture is written to a new or an empty directory",
         .given = std::filesystem::is_directory(status) ? "it is not empty" : "it is no directory",
         .advice = "name another one, or empty it"});
  }
  for (const char* part : {"", "/entries", "/tensors"}) {
    const std::error_code failed = MakeDirectories(CurrentFileSystem(), path + part);
    if (!failed) continue;
    RefuseFile(path + part, "a directory that can be made", failed.message(),
               "name another directory");
  }
}

std::span<const std::byte> BytesOf(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), static_cast<std::size_t>(tensor.bytes())};
}

}  // namespace

CaptureWriter::CaptureWriter(std::string directory, const CaptureHeader& header,
                             CallSelection selection)
    : directory_(std::move(directory)), selection_(std::move(selection)), tensors_(directory_) {
  if (!directory_.empty()) {
    MakeEmptyDirectory(directory_);
    std::error_code error;
    manifest_ =
        OpenFile(CurrentFileSystem(), directory_ + "/manifest.jsonl", OpenMode::kNew, 0666, error);
    if (error) {
      RefuseFile(directory_ + "/manifest.jsonl", "a manifest that can be written", error.message());
    }
  }
  AppendLine(ToJson(header));
}

CaptureWriter::~CaptureWriter() {
  if (manifest_ < 0) return;
  static_cast<void>(CurrentFileSystem().Sync(manifest_));
  static_cast<void>(CurrentFileSystem().Close(manifest_));
}

void CaptureWriter::AppendLine(const std::string& line) {
  const std::string text = line + "\n";
  totals_.entry_bytes += static_cast<std::int64_t>(text.size());
  if (manifest_ < 0) return;
  const std::error_code error =
      WriteAll(CurrentFileSystem(), manifest_, manifest_bytes_, std::as_bytes(std::span(text)));
  if (error) {
    RefuseFile(directory_ + "/manifest.jsonl", "room for another entry", error.message(),
               "free some space; the " + std::to_string(totals_.entries) +
                   " entries before this one are whole");
  }
  manifest_bytes_ += static_cast<std::int64_t>(text.size());
}

bool CaptureWriter::Wants(const Call& call, const CallPlace& place) {
  return selection_.Takes(call.name(), place.path);
}

// Puts a tensor's content where it belongs.
StoredContent CaptureWriter::Store(const CallBuffer& buffer, const std::string& name) {
  const Tensor tensor = Masked(buffer.tensor, buffer.parts, heap_);
  const std::span<const std::byte> bytes = BytesOf(tensor);
  StoredContent content{.hash = ContentHashOf(bytes).Hex()};
  content.shared = tensor.bytes() >= kSharedTensorBytes;
  totals_.tensor_bytes += tensor.bytes();
  if (content.shared) {
    tensors_.Put(content.hash, buffer.shape, buffer.dtype, bytes);
  } else {
    small_.push_back({name, buffer.shape, buffer.dtype, {bytes.begin(), bytes.end()}});
  }
  return content;
}

void CaptureWriter::Before(Call& call, const CallPlace& place) {
  small_.clear();
  entry_ = CaptureEntry{.number = totals_.entries, .place = place, .call = {}};
  for (const CallBuffer& buffer : Describe(call).buffers) {
    entry_.before.push_back(buffer.read ? Store(buffer, BeforeName(buffer)) : StoredContent());
  }
}

void CaptureWriter::After(Call& call, const CallPlace&) {
  CallDescription description = Describe(call);  // with the values that it returned
  for (CallBuffer& buffer : description.buffers) {
    entry_.after.push_back(buffer.written ? Store(buffer, AfterName(buffer)) : StoredContent());
    buffer.tensor = Tensor();  // it is the training's, and must not outlive it
  }
  entry_.call = std::move(description);
  WriteEntry();
}

void CaptureWriter::WriteEntry() {
  char number[32];
  std::snprintf(number, sizeof number, "%06lld-", static_cast<long long>(entry_.number));
  entry_.file = "entries/" + std::string(number) + entry_.call.kernel + ".safetensors";
  const std::string line = ToJson(entry_);
  std::vector<StoredTensor> tensors;
  for (const SmallTensor& tensor : small_) {
    tensors.push_back({tensor.name, tensor.shape, ToStored(tensor.dtype)});
  }
  const WeightMetadata metadata = {{"frugal_capture", std::to_string(kCaptureForm)},
                                   {"entry", line}};
  totals_.entry_bytes += SafetensorsBytes(tensors, metadata);
  if (!directory_.empty()) {
    const auto writer =
        CreateSafetensors(directory_ + "/" + entry_.file, tensors, metadata, PageCache::kLeaveIn);
    for (const SmallTensor& tensor : small_) writer->Write(tensor.name, tensor.bytes);
    writer->Finish();
  }
  AppendLine(line);
  ++totals_.entries;
}

CaptureTotals CaptureWriter::totals() const {
  CaptureTotals totals = totals_;
  totals.shared_bytes = tensors_.file_bytes();
  totals.shared_tensors = tensors_.count();
  return totals;
}

}  // namespace frugal
