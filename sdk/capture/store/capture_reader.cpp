#include "sdk/capture/store/capture_reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "sdk/capture/capture_error.h"
#include "sdk/capture/store/tensor_store.h"
#include "sdk/io/file_hash.h"
#include "sdk/io/weights/safetensors.h"
#include "sdk/io/whole_file.h"

namespace frugal {
namespace {

constexpr std::int64_t kPiece = 4 << 20;  // of a file, looked at before its pages are given back

[[noreturn]] void RefuseContent(const std::string& path, const CaptureEntry& entry,
                                const std::string& buffer) {
  throw CaptureError(
      {.where = path,
       .required = "'" + buffer + "' of " + entry.Describe() + " has the bytes that were recorded",
       .given = "their hash is another",
       .advice = "the file was changed or damaged; capture again"});
}

// Says where the bytes of the one tensor of a file begin.
std::int64_t DataOffset(const MappedFile& file, const CaptureEntry& entry, std::int64_t bytes) {
  std::uint64_t header = 0;
  const std::span<const std::byte> all = file.bytes();
  if (all.size() >= sizeof header) std::memcpy(&header, all.data(), sizeof header);
  const std::uint64_t offset = header + sizeof header;
  const std::uint64_t needed = offset + static_cast<std::uint64_t>(bytes);
  if (all.size() >= sizeof header && header <= all.size() && needed == all.size()) {
    return static_cast<std::int64_t>(offset);
  }
  throw CaptureError(
      {.where = file.path(),
       .required = "a tensor of " + std::to_string(bytes) + " bytes for " + entry.Describe(),
       .given = "the file has " + std::to_string(all.size()) + " bytes",
       .advice = "it was cut short; capture again"});
}

}  // namespace

CaptureReader::CaptureReader(std::string directory) : directory_(std::move(directory)) {
  const std::string path = directory_ + "/manifest.jsonl";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw CaptureError({.where = directory_,
                        .required = "the directory of a capture",
                        .given = "it has no manifest.jsonl",
                        .advice = "make one with frugal capture"});
  }
  const std::string text = ReadWholeFile(path);
  std::size_t begin = 0;
  for (std::int64_t number = 1; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      torn_ = true;
      break;
    }
    const std::string line = text.substr(begin, end - begin);
    const std::string where = path + ":" + std::to_string(number);
    if (number == 1) {
      header_ = HeaderFromJson(line, where);
    } else {
      entries_.push_back(EntryFromJson(line, where));
    }
    begin = end + 1;
  }
  if (begin == 0) static_cast<void>(HeaderFromJson(text, path + ":1"));
}

const StoredContent& CaptureReader::ContentOf(const CaptureEntry& entry, std::size_t buffer,
                                              Moment moment) const {
  return moment == Moment::kBefore ? entry.before[buffer] : entry.after[buffer];
}

Tensor CaptureReader::ReadSmall(const CaptureEntry& entry, std::size_t buffer, Moment moment,
                                Allocator& memory) {
  const std::string path = directory_ + "/" + entry.file;
  const CallBuffer& wanted = entry.call.buffers[buffer];
  const auto file = OpenSafetensors(path);
  const StoredTensor* stored =
      file->Find(moment == Moment::kBefore ? BeforeName(wanted) : AfterName(wanted));
  if (stored == nullptr || stored->shape != wanted.shape ||
      stored->dtype != ToStored(wanted.dtype)) {
    throw CaptureError({.where = path,
                        .required = "the tensor '" + wanted.name + "' of " + entry.Describe(),
                        .given = stored == nullptr ? "it is not there" : "it has another form",
                        .advice = "capture again"});
  }
  Tensor tensor(memory, wanted.shape, wanted.dtype, MemoryTag::kWorkspace);
  const std::span<std::byte> bytes(static_cast<std::byte*>(tensor.raw()),
                                   static_cast<std::size_t>(tensor.bytes()));
  file->Read(*stored, bytes);
  if (ContentHashOf(bytes).Hex() != ContentOf(entry, buffer, moment).hash) {
    RefuseContent(path, entry, wanted.name);
  }
  return tensor;
}

MappedFile CaptureReader::Open(const CaptureEntry& entry, std::size_t buffer,
                               const StoredContent& content) {
  MappedFile file(SharedTensorPath(directory_, content.hash));
  const std::int64_t bytes = entry.call.buffers[buffer].bytes();
  const std::int64_t offset = DataOffset(file, entry, bytes);
  if (checked_.contains(content.hash)) return file;
  ContentHasher hasher;
  for (std::int64_t at = 0; at < bytes; at += kPiece) {
    hasher.Add(file.bytes().subspan(static_cast<std::size_t>(offset + at),
                                    static_cast<std::size_t>(std::min(kPiece, bytes - at))));
    file.Forget();
  }
  if (hasher.Value().Hex() != content.hash) {
    RefuseContent(file.path(), entry, entry.call.buffers[buffer].name);
  }
  checked_.insert(content.hash);
  return file;
}

Tensor CaptureReader::View(const CaptureEntry& entry, std::size_t buffer, Moment moment,
                           Allocator& memory) {
  const StoredContent& content = ContentOf(entry, buffer, moment);
  if (!content.shared) return ReadSmall(entry, buffer, moment, memory);
  const CallBuffer& wanted = entry.call.buffers[buffer];
  const MappedFile file = Open(entry, buffer, content);
  const std::int64_t offset = DataOffset(file, entry, wanted.bytes());
  if (offset % kMemoryAlignment == 0) return file.At(offset, wanted.shape, wanted.dtype);
  return Read(entry, buffer, moment, memory);
}

Tensor CaptureReader::Read(const CaptureEntry& entry, std::size_t buffer, Moment moment,
                           Allocator& memory) {
  const StoredContent& content = ContentOf(entry, buffer, moment);
  if (!content.shared) return ReadSmall(entry, buffer, moment, memory);
  const CallBuffer& wanted = entry.call.buffers[buffer];
  const std::int64_t all[] = {0};
  return ReadRows(entry, buffer, moment, all, wanted.shape.ElementCount(), memory)
      .Reshape(wanted.shape);
}

Tensor CaptureReader::ReadRows(const CaptureEntry& entry, std::size_t buffer, Moment moment,
                               std::span<const std::int64_t> rows, std::int64_t row_elements,
                               Allocator& memory) {
  const CallBuffer& wanted = entry.call.buffers[buffer];
  const StoredContent& content = ContentOf(entry, buffer, moment);
  const Shape shape = {std::ssize(rows), row_elements};
  const bool is_empty = shape.ElementCount() == 0;
  // A manifest may tell of any shape: there is a file with so many bytes before there is room.
  std::optional<MappedFile> file;
  if (content.shared && !is_empty) file.emplace(Open(entry, buffer, content));
  Tensor tensor(memory, shape, wanted.dtype, MemoryTag::kWorkspace);
  const std::int64_t row = row_elements * SizeOf(wanted.dtype);
  if (is_empty) return tensor;
  const std::span<std::byte> to(static_cast<std::byte*>(tensor.raw()),
                                static_cast<std::size_t>(tensor.bytes()));
  // Runs of rows that follow each other are one piece.
  const auto copy = [&](const auto& read) {
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      for (end = begin + 1; end < rows.size() && rows[end] == rows[end - 1] + 1;) ++end;
      const auto size = static_cast<std::size_t>(row);
      read(rows[begin] * row, to.subspan(begin * size, (end - begin) * size));
    }
  };
  if (!file) {
    const Tensor small = ReadSmall(entry, buffer, moment, memory);
    copy([&](std::int64_t at, std::span<std::byte> piece) {
      std::memcpy(piece.data(), static_cast<const std::byte*>(small.raw()) + at, piece.size());
    });
    return tensor;
  }
  const std::int64_t offset = DataOffset(*file, entry, wanted.bytes());
  copy([&](std::int64_t at, std::span<std::byte> piece) { file->Read(offset + at, piece); });
  return tensor;
}

}  // namespace frugal
