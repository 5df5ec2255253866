#include "presets/config/value.h"

#include <array>
#include <charconv>
#include <cstdio>

#include "sdk/core/utf8.h"

namespace frugal {
namespace {

std::string RealText(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  // TOML tells integers from numbers by the point or exponent; inf and nan have an 'n'.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string EscapeOf(char symbol) {
  switch (symbol) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(symbol);
  if (code >= 0x20 && code != 0x7F) return std::string(1, symbol);
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "\\u%04X", static_cast<unsigned>(code));
  return text.data();
}

template <class T>
std::string ListText(const std::vector<T>& items) {
  std::vector<std::string> texts;
  texts.reserve(items.size());
  for (const T& item : items) texts.push_back(ToString(Value{item}));
  return "[" + JoinWithCommas(texts) + "]";
}

struct ToText {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return RealText(value); }
  std::string operator()(const std::string& value) const { return QuoteToml(value); }
  std::string operator()(const std::vector<std::int64_t>& value) const { return ListText(value); }
  std::string operator()(const std::vector<double>& value) const { return ListText(value); }
  std::string operator()(const std::vector<std::string>& value) const { return ListText(value); }
};

}  // namespace

bool IsNone(const Value& value) { return std::holds_alternative<std::monostate>(value); }

std::string ToString(const Value& value) { return std::visit(ToText{}, value); }

std::string_view TypeNameOf(const Value& value) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"none", "a boolean", "an integer", "a number", "a string", "a list of integers",
       "a list of numbers", "a list of strings"});
  static_assert(kNames.size() == std::variant_size_v<Value>);
  return kNames[value.index()];
}

std::string QuoteToml(std::string_view text) {
  std::string quoted = "\"";
  for (const char symbol : text) quoted += EscapeOf(symbol);
  return quoted + "\"";
}

double ShortestDouble(float value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  double result = static_cast<double>(value);
  std::from_chars(buffer.data(), end, result);
  return result;
}

std::string Shorten(std::string_view text) { return Shortened(text, 60); }

std::string JoinWithCommas(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : ", ") + part;
  return joined;
}

}  // namespace frugal
