#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sdk/capture/capture_error.h"
#include "sdk/capture/store/capture_entry.h"
#include "sdk/io/json_integer.h"

namespace frugal {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinite numbers.
Json NumberJson(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return {{"number", "nan"}};
  return {{"number", value > 0 ? "inf" : "-inf"}};
}

Json ShapeJson(const Shape& shape) {
  Json json = Json::array();
  for (const std::int64_t extent : shape.extents()) json.push_back(extent);
  return json;
}

Json ValueJson(const AttributeValue& value) {
  if (const auto* shape = std::get_if<Shape>(&value)) return ShapeJson(*shape);
  if (const auto* number = std::get_if<double>(&value)) return {{"f64", NumberJson(*number)}};
  if (const auto* bits = std::get_if<std::uint64_t>(&value)) return {{"u64", *bits}};
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::get<std::int64_t>(value);
}

Shape ShapeFrom(const Json& json) {
  return Shape(std::span<const std::int64_t>(JsonIntegers(json)));
}

double NumberFrom(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.at("number").get<std::string>();
  return std::stod(text);
}

AttributeValue ValueFrom(const Json& json) {
  if (json.is_array()) return ShapeFrom(json);
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number()) return JsonInteger(json);
  if (json.contains("u64")) return json.at("u64").get_ref<const std::uint64_t&>();
  return NumberFrom(json.at("f64"));
}

Json ContentJson(const StoredContent& content) {
  return {{"hash", content.hash}, {"shared", content.shared}};
}

StoredContent ContentFrom(const Json& json) {
  StoredContent content{json.at("hash").get<std::string>(), json.at("shared").get<bool>()};
  const bool is_hash = content.hash.size() == 32 &&
                       content.hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_hash) throw std::invalid_argument("'" + content.hash + "' is no hash");
  return content;
}

constexpr std::string_view kRoles[] = {"input", "output", "updated"};

template <class E>
E Named(const std::string& text, std::span<const std::string_view> names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<E>(i);
  }
  throw std::invalid_argument("'" + text + "' is not known");
}

DType DTypeNamed(const std::string& text) {
  constexpr std::string_view kNames[] = {"f32", "f64", "bf16", "i64", "i32", "u8"};
  return Named<DType>(text, kNames);
}

Json BufferJson(const CallBuffer& buffer, const StoredContent& before, const StoredContent& after) {
  Json json = {{"name", buffer.name},
               {"dtype", NameOf(buffer.dtype)},
               {"shape", ShapeJson(buffer.shape)},
               {"bytes", buffer.bytes()}};
  if (buffer.read) json["before"] = ContentJson(before);
  if (buffer.written) json["after"] = ContentJson(after);
  for (const TensorPart& part : buffer.parts) {
    Json strides = Json::array();
    for (const std::int64_t stride : part.box.strides) strides.push_back(stride);
    json["parts"].push_back({{"extents", ShapeJson(part.extents)},
                             {"offset", part.box.offset},
                             {"strides", std::move(strides)}});
  }
  return json;
}

// The shape of a tensor or of a part of one.
Shape ExtentsFrom(const Json& json) {
  const Shape shape = ShapeFrom(json);
  if (std::ranges::any_of(shape.extents(), [](std::int64_t extent) { return extent < 0; })) {
    throw std::invalid_argument("an extent is negative");
  }
  return shape;
}

// Throws where a part reaches out of its tensor.
void CheckPart(const TensorPart& part, std::int64_t elements) {
  std::int64_t last = part.box.offset;
  bool fits = last >= 0;
  for (std::size_t axis = 0; axis < part.extents.rank(); ++axis) {
    if (part.extents[axis] == 0) return;
    std::int64_t reach = 0;
    fits = fits && part.box.strides[axis] >= 0 &&
           !__builtin_mul_overflow(part.extents[axis] - 1, part.box.strides[axis], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!fits || last >= elements) throw std::invalid_argument("a part lies outside of its tensor");
}

TensorPart PartFrom(const Json& json, std::int64_t elements) {
  TensorPart part{ExtentsFrom(json.at("extents")), {.offset = JsonInteger(json.at("offset"))}};
  const std::vector<std::int64_t> strides = JsonIntegers(json.at("strides"));
  if (strides.size() != part.box.strides.size()) {
    throw std::invalid_argument("a part has " + std::to_string(part.box.strides.size()) +
                                " strides");
  }
  std::ranges::copy(strides, part.box.strides.begin());
  CheckPart(part, elements);
  return part;
}

// An entry's file is in the capture, whoever wrote its manifest.
std::string FileFrom(const Json& json) {
  auto file = json.get<std::string>();
  constexpr std::string_view kDirectory = "entries/";
  const std::string name = file.starts_with(kDirectory) ? file.substr(kDirectory.size()) : "";
  if (name.empty() || name == ".." || name.find('/') != std::string::npos) {
    throw std::invalid_argument("'" + file + "' is no file in entries/");
  }
  return file;
}

void TakeBuffer(const Json& json, CaptureEntry& entry) {
  CallBuffer buffer{json.at("name").get<std::string>()};
  buffer.dtype = DTypeNamed(json.at("dtype").get<std::string>());
  buffer.shape = ExtentsFrom(json.at("shape"));
  buffer.read = json.contains("before");
  buffer.written = json.contains("after");
  entry.before.push_back(buffer.read ? ContentFrom(json["before"]) : StoredContent());
  entry.after.push_back(buffer.written ? ContentFrom(json["after"]) : StoredContent());
  for (const Json& held : json.value("parts", Json::array())) {
    buffer.parts.push_back(PartFrom(held, buffer.shape.ElementCount()));
  }
  entry.call.buffers.push_back(std::move(buffer));
}

void TakeOperand(const Json& json, CaptureEntry& entry) {
  CallOperand operand{json.at("name").get<std::string>()};
  operand.role = Named<OperandRole>(json.at("role").get<std::string>(), kRoles);
  operand.shape = ExtentsFrom(json.at("shape"));
  operand.buffer = static_cast<std::size_t>(JsonInteger(json.at("buffer")));
  if (operand.buffer >= entry.call.buffers.size() ||
      operand.shape.ElementCount() != entry.call.buffers[operand.buffer].shape.ElementCount()) {
    throw std::invalid_argument("operand '" + operand.name + "' does not fit its tensor");
  }
  entry.call.operands.push_back(std::move(operand));
}

template <class Read>
auto Parse(const std::string& text, const std::string& where, const Read& read) {
  try {
    return read(Json::parse(text));
  } catch (const CaptureError&) {
    throw;
  } catch (const std::exception& error) {
    throw CaptureError({.where = where,
                        .required = "a line of a capture's manifest",
                        .given = error.what(),
                        .advice = "capture again"});
  }
}

}  // namespace

std::string ToJson(const CaptureHeader& header) {
  return Json{{"frugal_capture", header.form},
              {"version", header.version},
              {"backend", header.backend},
              {"precision", header.precision},
              {"threads", header.threads},
              {"instruction_set", header.instruction_set},
              {"configuration_hash", header.configuration_hash},
              {"configuration", header.configuration},
              {"seed", header.seed}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ToJson(const CaptureEntry& entry) {
  Json json = {{"entry", entry.number},
               {"operation", entry.call.kernel},
               {"step", entry.place.step},
               {"micro_batch", entry.place.micro_batch},
               {"path", entry.place.path},
               {"backward", entry.place.backward},
               {"recomputed", entry.place.recomputed},
               {"file", entry.file}};
  json["attributes"] = Json::object();
  for (const auto& [name, value] : entry.call.attributes) {
    json["attributes"][name] = ValueJson(value);
  }
  json["operands"] = Json::array();
  for (const CallOperand& operand : entry.call.operands) {
    json["operands"].push_back({{"name", operand.name},
                                {"role", kRoles[static_cast<std::size_t>(operand.role)]},
                                {"shape", ShapeJson(operand.shape)},
                                {"buffer", operand.buffer}});
  }
  json["buffers"] = Json::array();
  for (std::size_t i = 0; i < entry.call.buffers.size(); ++i) {
    json["buffers"].push_back(BufferJson(entry.call.buffers[i], entry.before[i], entry.after[i]));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

CaptureHeader HeaderFromJson(const std::string& text, const std::string& where) {
  return Parse(text, where, [&](const Json& json) {
    CaptureHeader header;
    header.form = JsonInteger(json.at("frugal_capture"));
    header.version = json.at("version").get<std::string>();
    if (header.form != kCaptureForm) {
      throw CaptureError(
          {.where = where,
           .required = "a capture of form " + std::to_string(kCaptureForm),
           .given = "it has form " + std::to_string(header.form) + ", of frugal " + header.version,
           .advice = "use the version that made it, or capture again"});
    }
    header.backend = json.at("backend").get<std::string>();
    header.precision = json.at("precision").get<std::string>();
    header.threads = JsonInteger(json.at("threads"));
    header.instruction_set = json.at("instruction_set").get<std::string>();
    header.configuration_hash = json.at("configuration_hash").get<std::string>();
    header.configuration = json.at("configuration").get<std::string>();
    header.seed = json.at("seed").get_ref<const std::uint64_t&>();
    return header;
  });
}

CaptureEntry EntryFromJson(const std::string& text, const std::string& where) {
  return Parse(text, where, [](const Json& json) {
    CaptureEntry entry;
    entry.number = JsonInteger(json.at("entry"));
    entry.call.kernel = json.at("operation").get<std::string>();
    entry.place.step = JsonInteger(json.at("step"));
    entry.place.micro_batch = JsonInteger(json.at("micro_batch"));
    entry.place.path = json.at("path").get<std::string>();
    entry.place.backward = json.at("backward").get<bool>();
    entry.place.recomputed = json.at("recomputed").get<bool>();
    entry.file = FileFrom(json.at("file"));
    for (const auto& [name, value] : json.at("attributes").items()) {
      entry.call.attributes.emplace_back(name, ValueFrom(value));
    }
    for (const Json& buffer : json.at("buffers")) TakeBuffer(buffer, entry);
    for (const Json& operand : json.at("operands")) TakeOperand(operand, entry);
    return entry;
  });
}

std::string CaptureEntry::Describe() const {
  return "entry " + std::to_string(number) + ", " + call.kernel + " in " +
         (place.path.empty() ? "the step" : place.path) + (place.backward ? ", backward" : "");
}

}  // namespace frugal
