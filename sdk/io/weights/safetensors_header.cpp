#include "sdk/io/weights/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "sdk/core/utf8.h"
#include "sdk/io/weights/json_text.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

using nlohmann::json;

constexpr const char* kIsObject = "the header is a JSON object";

// The value as text, shortened where it would flood the message.
std::string Brief(const json& value) { return Shortened(value.dump(), 60); }

// Looks through the text for what a parsed value no longer shows: repeated names, of which the
// library keeps the last, and nesting deeper than the form has, which would only waste memory. This
// is a pass of its own, since the library's parser that calls back as it builds the value looks
// over a whole object at the end of each of its members.
class Watch final : public nlohmann::json_sax<json> {
 public:
  explicit Watch(const std::string& path) : path_(path) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }

  bool key(std::string& name) override {
    if (keys_[depth_ - 1].insert(name).second) return true;
    RefuseWeights(path_, "every name in the header is there once",
                  QuotedName(name) + " is there twice", "write the file again");
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    RefuseWeights(path_, kIsObject, WithoutErrorNumber(error.what()),
                  "the file is damaged or of another kind");
  }

 private:
  bool Enter() {
    if (depth_ == keys_.size()) {
      RefuseWeights(path_, "the header is a table of tensors", "it is nested more deeply",
                    "write the file again");
    }
    keys_[depth_++].clear();
    return true;
  }

  bool Leave() {
    --depth_;
    return true;
  }

  const std::string& path_;
  std::array<std::set<std::string>, 3> keys_;  // of the objects that are open
  std::size_t depth_ = 0;
};

json ParseObject(const std::string& path, std::string_view text) {
  Watch watch(path);
  json::sax_parse(text, &watch);
  json root = json::parse(text);
  if (!root.is_object()) {
    RefuseWeights(path, kIsObject, std::string("it is a JSON ") + root.type_name());
  }
  return root;
}

// Reads the members of one tensor's entry.
class EntryReader {
 public:
  EntryReader(const std::string& path, const std::string& name, const json& value)
      : path_(path), name_(name), value_(value) {
    if (!value.is_object()) Refuse("is described by a JSON object", value.type_name());
  }

  SafetensorsEntry Read() const {
    const std::vector<std::int64_t> extents = Integers("shape");
    if (extents.size() > Shape::kMaxRank) {
      Refuse("has at most 8 dimensions", std::to_string(extents.size()) + " are given");
    }
    const std::vector<std::int64_t> place = Integers("data_offsets");
    if (place.size() != 2 || place[0] > place[1]) {
      Refuse("has data_offsets [begin, end]", Brief(Member("data_offsets")) + " is given");
    }
    SafetensorsEntry entry{{name_, Shape(extents), Type()}, place[0], place[1]};
    CheckBytes(entry);
    return entry;
  }

 private:
  [[noreturn]] void Refuse(const std::string& required, const std::string& given) const {
    RefuseWeights(path_, "tensor " + QuotedName(name_) + " " + required, given,
                  "write the file again");
  }

  const json& Member(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end())
      Refuse("has dtype, shape and data_offsets", std::string(key) + " is missing");
    return *found;
  }

  StoredDType Type() const {
    const json& member = Member("dtype");
    if (!member.is_string()) Refuse("has a dtype by name", Brief(member) + " is given");
    const auto type = StoredDTypeNamed(member.get_ref<const std::string&>());
    if (type) return *type;
    RefuseWeights(path_,
                  "tensor " + QuotedName(name_) +
                      " has a dtype among F64, F32, F16, BF16, I8-I64, U8-U64 and BOOL",
                  Brief(member) + " is given", "convert the file to one of these");
  }

  std::vector<std::int64_t> Integers(const char* key) const {
    const json& list = Member(key);
    const auto is_count = [](const json& item) {
      return item.is_number_unsigned() &&
             item.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
    };
    if (!list.is_array() || !std::ranges::all_of(list, is_count)) {
      Refuse("has a " + std::string(key) + " of whole numbers from 0 on",
             Brief(list) + " is given");
    }
    return list.get<std::vector<std::int64_t>>();
  }

  void CheckBytes(const SafetensorsEntry& entry) const {
    const auto bytes = CheckedByteCount(entry.tensor.shape, entry.tensor.dtype);
    if (!bytes) Refuse("has a shape that fits memory", ToString(entry.tensor.shape) + " is given");
    if (*bytes == entry.end - entry.begin) return;
    RefuseWeights(path_, Describe(entry.tensor) + " takes " + std::to_string(*bytes) + " bytes",
                  "its data_offsets span " + std::to_string(entry.end - entry.begin),
                  "write the file again");
  }

  const std::string& path_;
  const std::string& name_;
  const json& value_;
};

WeightMetadata ReadMetadata(const std::string& path, const json& value) {
  const auto is_text = [](const json& item) { return item.is_string(); };
  if (!value.is_object() || !std::ranges::all_of(value, is_text)) {
    RefuseWeights(path, "__metadata__ holds text by name", Brief(value) + " is given",
                  "write the file again");
  }
  return value.get<WeightMetadata>();
}

std::string Quote(const SafetensorsEntry& entry) {
  const std::string shape = json(entry.tensor.shape.extents()).dump();
  return QuoteJson(entry.tensor.name) + ":{\"dtype\":\"" + std::string(NameOf(entry.tensor.dtype)) +
         "\",\"shape\":" + shape + ",\"data_offsets\":[" + std::to_string(entry.begin) + "," +
         std::to_string(entry.end) + "]}";
}

}  // namespace

SafetensorsHeader ParseSafetensorsHeader(const std::string& path, std::string_view text,
                                         std::int64_t data_bytes) {
  SafetensorsHeader header;
  const json root = ParseObject(path, text);
  for (const auto& [name, value] : root.items()) {
    if (name == kMetadataName) {
      header.metadata = ReadMetadata(path, value);
    } else {
      header.entries.push_back(EntryReader(path, name, value).Read());
    }
  }
  std::ranges::sort(header.entries, {}, [](const SafetensorsEntry& entry) {
    return std::tie(entry.begin, entry.end, entry.tensor.name);
  });
  CheckSafetensorsPlaces(path, header.entries, data_bytes);
  return header;
}

std::string FormatSafetensorsHeader(const SafetensorsHeader& header) {
  std::string text = "{";
  if (!header.metadata.empty()) {
    text += QuoteJson(kMetadataName) + ":" + json(header.metadata).dump();
  }
  for (const SafetensorsEntry& entry : header.entries) {
    text += (text.size() == 1 ? "" : ",") + Quote(entry);
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace frugal
