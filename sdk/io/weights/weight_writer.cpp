#include "sdk/io/weights/weight_writer.h"

#include <set>
#include <utility>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/core/utf8.h"
#include "sdk/io/weights/json_text.h"

namespace frugal {
namespace {

[[noreturn]] void Misuse(const std::string& path, std::string required, std::string given) {
  throw UsageError(
      {.where = path, .required = std::move(required), .given = std::move(given), .advice = {}});
}

void CheckList(const std::string& path, const std::vector<StoredTensor>& tensors) {
  std::set<std::string_view> names;
  for (const StoredTensor& tensor : tensors) {
    if (!IsUtf8(tensor.name)) Misuse(path, "names of weights are UTF-8", "one of them is not");
    if (tensor.name.empty() || tensor.name == kMetadataName) {
      Misuse(path, "every weight has a name of its own", QuotedName(tensor.name) + " was given");
    }
    if (!names.insert(tensor.name).second) {
      Misuse(path, "every weight is listed once", QuotedName(tensor.name) + " is there twice");
    }
    if (!CheckedByteCount(tensor.shape, tensor.dtype)) {
      Misuse(path, "extents are not negative, and their product fits 63 bits",
             Describe(tensor) + " was given");
    }
  }
}

void CheckMetadata(const std::string& path, const WeightMetadata& metadata) {
  for (const auto& [key, text] : metadata) {
    if (!IsUtf8(key) || !IsUtf8(text)) Misuse(path, "metadata is UTF-8", "some of it is not");
  }
}

// Checked before the temporary file is made.
std::vector<StoredTensor> Checked(const std::string& path, std::vector<StoredTensor> tensors,
                                  const WeightMetadata& metadata) {
  CheckList(path, tensors);
  CheckMetadata(path, metadata);
  return tensors;
}

}  // namespace

WeightWriter::WeightWriter(const std::string& path, std::vector<StoredTensor> tensors,
                           const WeightMetadata& metadata, PageCache cache)
    : tensors_(Checked(path, std::move(tensors), metadata)), file_(path, cache) {}

void WeightWriter::CheckNext(std::string_view name, std::int64_t bytes) const {
  const std::string given = QuotedName(name) + " was given";
  if (!usable_) Misuse(file_.path(), "writing is over, by Finish() or by an error", given);
  if (next_ == tensors_.size()) Misuse(file_.path(), "all tensors are written", given);
  const StoredTensor& expected = tensors_[next_];
  if (expected.name != name) Misuse(file_.path(), "next is " + Describe(expected), given);
  if (bytes != ByteCount(expected)) {
    Misuse(file_.path(),
           Describe(expected) + " takes " + FormatCount(ByteCount(expected)) + " bytes",
           FormatCount(bytes) + " were given");
  }
}

void WeightWriter::Write(std::string_view name, std::span<const std::byte> bytes) {
  CheckNext(name, std::ssize(bytes));
  usable_ = false;
  WriteTensor(next_, bytes);
  usable_ = true;
  ++next_;
}

void WeightWriter::Write(std::string_view name, std::int64_t bytes, const FillPart& fill) {
  CheckNext(name, bytes);
  usable_ = false;
  WriteParts(next_, bytes, fill);
  usable_ = true;
  ++next_;
}

void WeightWriter::WriteParts(std::size_t index, std::int64_t bytes, const FillPart& fill) {
  std::vector<std::byte> all(static_cast<std::size_t>(bytes));
  fill(0, all);
  WriteTensor(index, all);
}

void WeightWriter::Finish() {
  if (!usable_) Misuse(file_.path(), "writing is over, by Finish() or by an error", "Finish()");
  if (next_ < tensors_.size()) {
    Misuse(file_.path(), "all tensors are written before Finish()",
           Describe(tensors_[next_]) + " is missing");
  }
  usable_ = false;
  WriteEnd();
  file_.Commit();
}

}  // namespace frugal
