#include "sdk/core/error.h"

#include "sdk/core/utf8.h"

namespace frugal {
namespace {

constexpr std::size_t kMostBytes = 4096;  // of one part of a message; a path may be as long

}  // namespace

struct Error::Parts {
  Complaint complaint;
  SourceLocation place;
  std::string message;  // of the two, or a list
};

std::string Describe(const Complaint& complaint) {
  std::string text =
      complaint.where.empty() ? "" : "[" + Shortened(complaint.where, kMostBytes) + "]";
  const char* separator = text.empty() ? "" : " ";
  for (const std::string* part : {&complaint.required, &complaint.given, &complaint.advice}) {
    if (part->empty()) continue;
    text += separator + Shortened(*part, kMostBytes);
    separator = "; ";
  }
  return text;
}

std::string DescribeAt(const SourceLocation& place, const Complaint& complaint) {
  const std::string head = ToString(place);
  return (head.empty() ? "" : head + ": ") + Describe(complaint);
}

Error::Error(const Complaint& complaint, const SourceLocation& place) : std::runtime_error("") {
  const auto parts = std::make_shared<Parts>();
  parts->complaint = complaint;
  parts->place = place;
  parts->message = WithoutControls(DescribeAt(place, complaint));
  parts_ = parts;
}

Error::Error(const std::string& message) : std::runtime_error("") {
  const auto parts = std::make_shared<Parts>();
  parts->message = WithoutControls(message);
  parts_ = parts;
}

const char* Error::what() const noexcept { return parts_->message.c_str(); }
const Complaint& Error::complaint() const { return parts_->complaint; }
const SourceLocation& Error::place() const { return parts_->place; }

bool Error::IsList() const {
  const Complaint& parts = complaint();
  return parts.where.empty() && parts.required.empty() && parts.given.empty();
}

void Error::PlaceAt(const SourceLocation& location) {
  if (IsList() || !place().empty() || location.empty()) return;
  *this = Error(complaint(), location);
}

void Error::Rename(const std::string& where) {
  if (IsList()) return;
  Complaint renamed = complaint();
  renamed.where = where;
  *this = Error(renamed, place());
}

}  // namespace frugal
