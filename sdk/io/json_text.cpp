#include "sdk/io/json_text.h"

#include <nlohmann/json.hpp>

namespace frugal {

std::string QuoteJson(std::string_view text) { return nlohmann::json(text).dump(); }

std::string WithoutErrorNumber(const std::string& message) {
  const std::size_t end = message.find("] ");
  return ShortText(end == std::string::npos ? message : message.substr(end + 2), 300);
}

std::string ShortText(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  // Never in a UTF-8 character: its later bytes are 10xxxxxx.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace frugal
