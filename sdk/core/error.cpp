#include "sdk/core/error.h"

#include <algorithm>

namespace frugal {
namespace {

// Names come from files too: a zero byte would end the message, and an escape drive the terminal.
std::string WithoutControls(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char code) { return (code < 0x20 && code != '\n') || code == 0x7F; }, '?');
  return text;
}

}  // namespace

std::string Describe(const Complaint& complaint) {
  std::string text = "[" + complaint.where + "]";
  const char* separator = " ";
  for (const std::string* part : {&complaint.required, &complaint.given, &complaint.advice}) {
    if (part->empty()) continue;
    text += separator + *part;
    separator = "; ";
  }
  return text;
}

Error::Error(const Complaint& complaint) : Error(Describe(complaint)) {}
Error::Error(const std::string& message) : std::runtime_error(WithoutControls(message)) {}

}  // namespace frugal
