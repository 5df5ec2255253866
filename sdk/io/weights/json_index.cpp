#include "sdk/io/weights/json_index.h"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sdk/core/byte_size.h"
#include "sdk/core/utf8.h"
#include "sdk/io/weights/json_text.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

using nlohmann::json;

// As the text spells it, shortened where it would flood a message.
std::string Quoted(const std::string& text) {
  constexpr std::size_t kMostBytes = 120;
  return "\"" + Shortened(text, kMostBytes) + "\"";
}

// Holds what one tensor's object has said so far.
struct Draft {
  std::optional<std::vector<std::int64_t>> extents;
  std::optional<JsonDataRange> range;
  std::optional<StoredDType> dtype;
  std::int64_t count = 0;  // elements of "data"
};

// Receives the parser's events. A tensor is an object in the root object; its lists are flat.
class Indexer final : public nlohmann::json_sax<json> {
 public:
  Indexer(const std::string& path, std::istream& stream) : path_(path), stream_(stream) {}

  JsonIndex Take() { return std::move(index_); }

  bool null() override { Refuse("null"); }
  bool boolean(bool value) override { Refuse(value ? "true" : "false"); }
  bool binary(json::binary_t&) override { Refuse("binary data"); }
  bool number_integer(std::int64_t value) override { return Number(std::to_string(value), -1); }
  bool number_unsigned(std::uint64_t value) override {
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    return Number(std::to_string(value), value > largest ? -1 : static_cast<std::int64_t>(value));
  }
  bool number_float(double, const std::string& text) override { return Number(text, -1); }
  bool string(std::string& value) override;
  bool key(std::string& name) override;
  bool start_object(std::size_t) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    RefuseWeights(path_, "the file is JSON", WithoutErrorNumber(error.what()),
                  "correct the text, or write the file again");
  }

 private:
  enum class Place { kFile, kRoot, kTensor, kMetadata, kShape, kData };

  [[noreturn]] void Refuse(const std::string& given) const;
  bool Number(const std::string& text, std::int64_t count);
  void FinishTensor();
  std::int64_t Position() const {  // one past the last character that the parser took
    return stream_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in);
  }

  const std::string& path_;
  std::istream& stream_;
  Place place_ = Place::kFile;
  std::string name_;    // of the tensor
  std::string member_;  // of the tensor or the metadata
  Draft draft_;
  std::set<std::string> names_;
  std::set<std::string> members_;
  JsonIndex index_;
};

void Indexer::Refuse(const std::string& given) const {
  const std::string tensor = "tensor " + QuotedName(name_) + " ";
  const char* advice = "give {\"shape\": [...], \"data\": [...]}";
  switch (place_) {
    case Place::kFile:
      RefuseWeights(path_, "the file holds an object of tensors", given, advice);
    case Place::kRoot:
      RefuseWeights(path_, tensor + "is an object", given, advice);
    case Place::kTensor:
      RefuseWeights(path_, tensor + "has shape, data and maybe dtype",
                    Quoted(member_) + " is " + given, advice);
    case Place::kMetadata:
      RefuseWeights(path_, "__metadata__ holds text by name", Quoted(member_) + " is " + given,
                    "quote it");
    case Place::kShape:
      RefuseWeights(path_, tensor + "has a shape of whole numbers from 0 on", "there is " + given,
                    advice);
    case Place::kData:
      break;
  }
  RefuseWeights(path_, tensor + "has one flat list of numbers as data, row-major",
                "element " + FormatCount(draft_.count) + " is " + given,
                "flatten nested lists, and write NaN or infinity in another form");
}

bool Indexer::Number(const std::string& text, std::int64_t count) {
  if (place_ == Place::kData) {
    ++draft_.count;
  } else if (place_ == Place::kShape && count >= 0) {
    draft_.extents->push_back(count);
  } else {
    Refuse(text);
  }
  return true;
}

bool Indexer::string(std::string& value) {
  if (place_ == Place::kMetadata) {
    index_.metadata.emplace(member_, value);
  } else if (place_ == Place::kTensor && member_ == "dtype" && StoredDTypeNamed(value)) {
    draft_.dtype = StoredDTypeNamed(value);
  } else {
    Refuse("\"" + Shortened(value, 60) + "\"");
  }
  return true;
}

bool Indexer::key(std::string& name) {
  const bool tensor = place_ == Place::kRoot;
  (tensor ? name_ : member_) = name;
  if (!(tensor ? names_ : members_).insert(name).second) {
    RefuseWeights(path_, "every name is there once",
                  Quoted(name) + " is there twice" + (tensor ? "" : " in " + QuotedName(name_)),
                  "remove one of them");
  }
  return true;
}

bool Indexer::start_object(std::size_t) {
  if (place_ == Place::kFile) {
    place_ = Place::kRoot;
    return true;
  }
  if (place_ != Place::kRoot) Refuse("an object");
  place_ = name_ == kMetadataName ? Place::kMetadata : Place::kTensor;
  draft_ = {};
  members_.clear();
  return true;
}

bool Indexer::end_object() {
  if (place_ == Place::kTensor) FinishTensor();
  place_ = Place::kRoot;
  return true;
}

bool Indexer::start_array(std::size_t) {
  if (place_ == Place::kTensor && member_ == "shape") {
    place_ = Place::kShape;
    draft_.extents.emplace();
  } else if (place_ == Place::kTensor && member_ == "data") {
    place_ = Place::kData;
    draft_.range = {Position(), 0};
  } else {
    Refuse(place_ == Place::kData ? "a nested list" : "a list");
  }
  return true;
}

bool Indexer::end_array() {
  if (place_ == Place::kData) draft_.range->end = Position() - 1;
  place_ = Place::kTensor;
  return true;
}

void Indexer::FinishTensor() {
  const std::string tensor = "tensor " + QuotedName(name_) + " ";
  if (!draft_.extents || !draft_.range) {
    RefuseWeights(path_, tensor + "has shape and data",
                  draft_.extents ? "data is missing" : "shape is missing", "add it");
  }
  if (draft_.extents->size() > Shape::kMaxRank) {
    RefuseWeights(path_, tensor + "has at most 8 dimensions",
                  std::to_string(draft_.extents->size()) + " are given", "merge some of them");
  }
  StoredTensor entry{name_, Shape(*draft_.extents), draft_.dtype.value_or(StoredDType::kF32)};
  const auto bytes = CheckedByteCount(entry.shape, entry.dtype);
  if (!bytes || *bytes / SizeOf(entry.dtype) != draft_.count) {
    const std::string wanted =
        bytes ? FormatCount(*bytes / SizeOf(entry.dtype)) + " numbers" : "more than fits memory";
    RefuseWeights(path_, tensor + "of shape " + ToString(entry.shape) + " has " + wanted,
                  "its data has " + FormatCount(draft_.count), "correct the shape or the data");
  }
  index_.tensors.push_back(std::move(entry));
  index_.ranges.push_back(*draft_.range);
}

}  // namespace

JsonIndex IndexJsonWeights(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  Indexer indexer(path, stream);
  json::sax_parse(stream, &indexer);
  return indexer.Take();
}

}  // namespace frugal
