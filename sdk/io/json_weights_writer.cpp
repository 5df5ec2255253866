#include <utility>

#include "sdk/core/byte_size.h"
#include "sdk/io/json_number.h"
#include "sdk/io/json_text.h"
#include "sdk/io/json_weights.h"
#include "sdk/io/weight_error.h"

namespace frugal {
namespace {

constexpr std::size_t kFlushBytes = 1 << 16;

class JsonWriter final : public WeightWriter {
 public:
  JsonWriter(const std::string& path, std::vector<StoredTensor> list,
             const WeightMetadata& metadata)
      : WeightWriter(path, std::move(list), metadata) {
    text_ = "{";
    if (!metadata.empty()) BeginMember(kMetadataName);
    const char* separator = "{";
    for (const auto& [key, text] : metadata) {
      text_ += separator + QuoteJson(key) + ": " + QuoteJson(text);
      separator = ", ";
    }
    if (!metadata.empty()) text_ += "}";
  }

 private:
  void WriteTensor(std::size_t index, std::span<const std::byte> bytes) override;
  void WriteEnd() override {
    text_ += "\n}\n";
    file().Append(text_);
  }
  void BeginMember(const std::string& name) {
    text_ += (empty_ ? "\n" : ",\n") + QuoteJson(name) + ": ";
    empty_ = false;
  }
  void BeginTensor(const StoredTensor& tensor) {
    BeginMember(tensor.name);
    text_ += "{";
    if (tensor.dtype != StoredDType::kF32) {
      text_ += "\"dtype\": \"" + std::string(NameOf(tensor.dtype)) + "\", ";
    }
    text_ += "\"shape\": " + ToString(tensor.shape) + ", \"data\": [";
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
  BeginTensor(tensor);
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

std::unique_ptr<WeightWriter> CreateJsonWeights(const std::string& path,
                                                std::vector<StoredTensor> tensors,
                                                const WeightMetadata& metadata) {
  return std::make_unique<JsonWriter>(path, std::move(tensors), metadata);
}

}  // namespace frugal
