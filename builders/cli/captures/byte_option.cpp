#include "builders/cli/captures/byte_option.h"

#include <charconv>
#include <map>
#include <optional>

#include "sdk/core/utf8.h"

namespace frugal::cli {
namespace {

std::optional<std::int64_t> BytesIn(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || !(number > 0)) return std::nullopt;
  std::string unit;
  for (const char* at = stop; at != end; ++at) {
    if (*at != ' ') unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*at)));
  }
  static const std::map<std::string, int> shifts = {
      {"", 0},     {"B", 0},  {"K", 10},  {"KB", 10},  {"KIB", 10}, {"M", 20},  {"MB", 20},
      {"MIB", 20}, {"G", 30}, {"GB", 30}, {"GIB", 30}, {"T", 40},   {"TB", 40}, {"TIB", 40}};
  const auto found = shifts.find(unit);
  if (found == shifts.end()) return std::nullopt;
  const double bytes = number * static_cast<double>(std::int64_t{1} << found->second);
  if (bytes < 1 || bytes > 1e18) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

void AddBytes(CLI::App& command, const std::string& name, std::int64_t& bytes,
              const std::string& doc) {
  const auto read = [name, &bytes](const std::string& text) {
    const std::optional<std::int64_t> number = BytesIn(text);
    if (!number) {
      throw CLI::ValidationError(
          name, "bytes such as 512MiB or 1GiB; " + QuotedName(text) + " was given");
    }
    bytes = *number;
  };
  command.add_option_function<std::string>(name, read, doc)->type_name("BYTES");
}

}  // namespace frugal::cli
