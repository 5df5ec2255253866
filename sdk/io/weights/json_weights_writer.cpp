#include <utility>

#include "sdk/core/byte_size.h"
#include "sdk/io/weights/json_number.h"
#include "sdk/io/weights/json_text.h"
#include "sdk/io/weights/json_weights.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;

// `"fc.bias": {"dtype": "F64", "shape": [2], "data": [` without the quotes of this comment.
std::string HeadOf(const StoredTensor& tensor) {
  std::string text = QuoteJson(tensor.name) + ": {";
  if (tensor.dtype != StoredDType::kF32) {
    text += "\"dtype\": \"" + std::string(NameOf(tensor.dtype)) + "\", ";
  }
  return text + "\"shape\": " + ToString(tensor.shape) + ", \"data\": [";
}

// `"__metadata__": {"format": "pt"}`, of some metadata.
std::string TextOf(const WeightMetadata& metadata) {
  std::string text = QuoteJson(kMetadataName) + ": ";
  const char* separator = "{";
  for (const auto& [key, value] : metadata) {
    text += separator + QuoteJson(key) + ": " + QuoteJson(value);
    separator = ", ";
  }
  return text + "}";
}

class JsonWriter final : public WeightWriter {
 public:
  JsonWriter(const std::string& path, std::vector<StoredTensor> list,
             const WeightMetadata& metadata)
      : WeightWriter(path, std::move(list), metadata) {
    text_ = "{";
    if (!metadata.empty()) BeginMember(TextOf(metadata));
  }

 private:
  void WriteTensor(std::size_t index, std::span<const std::byte> bytes) override;
  void WriteEnd() override {
    text_ += "\n}\n";
    file().Append(text_);
  }
  void BeginMember(const std::string& head) {
    text_ += (empty_ ? "\n" : ",\n") + head;
    empty_ = false;
  }
  void FlushWhenLong() {
    if (text_.size() < kFlushBytes) return;
    file().Append(text_);
    text_.clear();
  }

  std::string text_;  // not yet in the file
  bool empty_ = true;
};

void JsonWriter::WriteTensor(std::size_t index, std::span<const std::byte> bytes) {
  const StoredTensor& tensor = tensors()[index];
  const auto size = static_cast<std::size_t>(SizeOf(tensor.dtype));
  BeginMember(HeadOf(tensor));
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    if (at > 0) text_ += ", ";
    if (!AppendJsonNumber(text_, tensor.dtype, bytes.data() + at)) {
      RefuseWeights(file().path(), "JSON holds finite numbers only",
                    "element " + FormatCount(static_cast<std::int64_t>(at / size)) + " of " +
                        Describe(tensor) + " is NaN or infinite",
                    "write safetensors, or find out why the weights are not finite");
    }
    FlushWhenLong();
  }
  text_ += "]}";
}

}  // namespace

std::int64_t MostJsonBytes(const std::vector<StoredTensor>& tensors,
                           const WeightMetadata& metadata) {
  constexpr std::int64_t kMostOfNumber = 26;  // -2.2250738585072014e-308 and ", "
  std::int64_t bytes = 8;                     // the braces and line breaks around all
  if (!metadata.empty()) bytes += std::ssize(TextOf(metadata)) + 2;  // ",\n"
  for (const StoredTensor& tensor : tensors) {
    const std::int64_t frame = std::ssize(HeadOf(tensor)) + 4;  // "]}" and ",\n"
    bytes += frame + kMostOfNumber * tensor.shape.ElementCount();
  }
  return bytes;
}

std::unique_ptr<WeightWriter> CreateJsonWeights(const std::string& path,
                                                std::vector<StoredTensor> tensors,
                                                const WeightMetadata& metadata) {
  return std::make_unique<JsonWriter>(path, std::move(tensors), metadata);
}

}  // namespace frugal
