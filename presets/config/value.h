#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace frugal {

// One value of a configuration field. std::monostate means "none": an optional field without a
// value. Values compare with ==; a NaN equals nothing, and no field accepts one.
using Value =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<std::string>>;

// Names what a field can hold. kChoice is text out of a closed list; kTable is a table of further
// fields.
enum class ValueKind : std::uint8_t {
  kBool,
  kInt,
  kReal,
  kText,
  kAmount,  // a number of something, or a share of all there is: "70%"
  kChoice,
  kIntList,
  kRealList,
  kTextList,
  kTable
};

bool IsNone(const Value& value);

// Writes the value as TOML does: `true`, `42`, `0.9`, `"text"`, `[1, 2]`; and `none`, which TOML
// has no word for. Numbers are the shortest text that reads back as the same number.
std::string ToString(const Value& value);

// "none", "a boolean", "an integer", "a number", "a string", "a list of integers", ...
std::string_view TypeNameOf(const Value& value);

// The text as a TOML basic string, with its quotes and escapes.
std::string QuoteToml(std::string_view text);

// The double that is written like the float: 0.9 for 0.9f, not 0.89999997615814209.
double ShortestDouble(float value);

// The text itself, or its beginning and "..." where it is too long for a message.
std::string Shorten(std::string_view text);

// "a, b, c"
std::string JoinWithCommas(const std::vector<std::string>& parts);

}  // namespace frugal
