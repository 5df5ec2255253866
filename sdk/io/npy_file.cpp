#include "sdk/io/npy_file.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "sdk/core/error.h"
#include "sdk/core/utf8.h"
#include "sdk/io/atomic_file.h"
#include "sdk/io/whole_file.h"

namespace frugal {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kNpyAlignment = 64;  // of the data, from the beginning of the file

[[noreturn]] void RefuseArray(const std::string& path, const std::string& given,
                              const std::string& advice = "save it again by numpy.save") {
  throw DataError({.where = path,
                   .required = "an array as numpy.save writes it",
                   .given = given,
                   .advice = advice});
}

struct Header {
  std::string text;
  std::size_t data_begin = 0;
};

Header HeaderOf(const std::string& path, const std::string& file) {
  if (!file.starts_with(kMagic) || file.size() < 12) RefuseArray(path, "it does not begin as one");
  const bool is_first = file[6] == 1;
  const std::size_t begin = is_first ? 10 : 12;
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, is_first ? 2 : 4);
  if (length > file.size() - begin) RefuseArray(path, "its header is cut short");
  return {file.substr(begin, length), begin + length};
}

// The text that stands behind 'key': up to the next comma outside of brackets.
std::string_view ValueOf(const std::string& path, const std::string& header,
                         const std::string& key) {
  const std::size_t at = header.find("'" + key + "'");
  const std::size_t colon = at == std::string::npos ? at : header.find(':', at);
  if (colon == std::string::npos) RefuseArray(path, "its header has no '" + key + "'");
  std::string_view value = std::string_view(header).substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  const std::size_t end = value.starts_with('(') ? value.find(')') : value.find_first_of(",}");
  if (end == std::string_view::npos) RefuseArray(path, "its header is cut short");
  return value.substr(0, end);
}

// Takes a tuple as Python writes it: "()", "(3,)", "(2, 3)"; its last bracket is not in the list.
Shape ShapeOf(const std::string& path, std::string_view list) {
  const std::string_view whole = list;
  const auto refuse = [&] { RefuseArray(path, "its shape is " + QuotedName(whole)); };
  const auto skip_spaces = [&] {
    list.remove_prefix(std::min(list.find_first_not_of(' '), list.size()));
  };
  if (!list.starts_with('(')) refuse();
  list.remove_prefix(1);
  std::vector<std::int64_t> extents;
  for (skip_spaces(); !list.empty(); skip_spaces()) {
    std::int64_t extent = 0;
    const auto [stop, problem] = std::from_chars(list.begin(), list.end(), extent);
    if (problem != std::errc() || extent < 0 || extent > INT32_MAX) refuse();
    extents.push_back(extent);
    list.remove_prefix(static_cast<std::size_t>(stop - list.begin()));
    skip_spaces();
    if (!list.empty() && list.front() != ',') refuse();
    if (!list.empty()) list.remove_prefix(1);
  }
  if (extents.size() > Shape::kMaxRank) RefuseArray(path, "it has more than 8 dimensions");
  return Shape(extents);
}

template <class From, class To>
std::vector<To> Elements(const std::string& path, std::string_view data, const Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape.extents()) {
    count *= static_cast<std::size_t>(extent);
    if (count > data.size()) break;  // no product of more overflows
  }
  if (count * sizeof(From) != data.size()) {
    RefuseArray(path, std::to_string(data.size()) + " bytes of data for " + ToString(shape));
  }
  std::vector<To> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, data.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return values;
}

}  // namespace

NpyArray ReadNpy(const std::string& path) {
  const std::string file = ReadWholeFile(path);
  const Header header = HeaderOf(path, file);
  const std::string_view type = ValueOf(path, header.text, "descr");
  if (ValueOf(path, header.text, "fortran_order") != "False") {
    RefuseArray(path, "it is in Fortran order", "save numpy.ascontiguousarray of it");
  }
  const Shape shape = ShapeOf(path, ValueOf(path, header.text, "shape"));
  const std::string_view data = std::string_view(file).substr(header.data_begin);
  if (type == "'|u1'") return {shape, Elements<std::uint8_t, std::uint8_t>(path, data, shape)};
  if (type == "'<i4'") return {shape, Elements<std::int32_t, std::int64_t>(path, data, shape)};
  if (type == "'<i8'") return {shape, Elements<std::int64_t, std::int64_t>(path, data, shape)};
  if (type == "'<f4'") return {shape, Elements<float, float>(path, data, shape)};
  if (type == "'<f8'") return {shape, Elements<double, float>(path, data, shape)};
  RefuseArray(path, "its elements are " + QuotedName(std::string(type)),
              "save it as float32, int64 or uint8");
}

void WriteNpy(const std::string& path, const Shape& shape, std::span<const float> values) {
  std::string extents;
  for (const std::int64_t extent : shape.extents()) extents += std::to_string(extent) + ", ";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + extents + "), }";
  const std::size_t used = kMagic.size() + 4 + header.size() + 1;
  header.append((kNpyAlignment - used % kNpyAlignment) % kNpyAlignment, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string begin(kMagic);
  begin += std::string("\x01\x00", 2);
  begin += static_cast<char>(length & 0xFF);
  begin += static_cast<char>(length >> 8);
  AtomicFile out(path);
  out.Append(begin + header);
  out.Append(std::as_bytes(values));
  out.Commit();
}

}  // namespace frugal
