#include "sdk/io/weights/json_text.h"

#include <nlohmann/json.hpp>

#include "sdk/core/utf8.h"

namespace frugal {

std::string QuoteJson(std::string_view text) { return nlohmann::json(text).dump(); }

std::string WithoutErrorNumber(const std::string& message) {
  const std::size_t end = message.find("] ");
  return Shortened(end == std::string::npos ? message : message.substr(end + 2), 300);
}

}  // namespace frugal
