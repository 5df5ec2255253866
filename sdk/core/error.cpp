#include "sdk/core/error.h"

namespace frugal {

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

Error::Error(const Complaint& complaint) : std::runtime_error(Describe(complaint)) {}
Error::Error(const std::string& message) : std::runtime_error(message) {}

}  // namespace frugal
