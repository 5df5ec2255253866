#include "sdk/io/json_text.h"

#include <nlohmann/json.hpp>

namespace frugal {

std::string QuoteJson(std::string_view text) { return nlohmann::json(text).dump(); }

bool IsUtf8(std::string_view text) {
  try {
    QuoteJson(text);
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::string WithoutErrorNumber(const std::string& message) {
  const std::size_t end = message.find("] ");
  return end == std::string::npos ? message : message.substr(end + 2);
}

}  // namespace frugal
