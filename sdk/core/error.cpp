#include "sdk/core/error.h"

#include "sdk/core/utf8.h"

namespace frugal {
namespace {

constexpr std::size_t kMostBytes = 4096;  // of one part of a message; a path may be as long

}  // namespace

struct Error::Parts {
  Diagnostic diagnostic;
  SourceLocation place;
  std::string message;  // of the two, or a list
};

std::string Describe(const Diagnostic& diagnostic) {
  std::string text =
      diagnostic.where.empty() ? "" : "[" + Shortened(diagnostic.where, kMostBytes) + "]";
  const char* separator = text.empty() ? "" : " ";
  for (const std::string* part : {&diagnostic.required, &diagnostic.given, &diagnostic.advice}) {
    if (part->empty()) continue;
    text += separator + Shortened(*part, kMostBytes);
    separator = "; ";
  }
  return text;
}

std::string DescribeAt(const SourceLocation& place, const Diagnostic& diagnostic) {
  const std::string head = ToString(place);
  return (head.empty() ? "" : head + ": ") + Describe(diagnostic);
}

Error::Error(const Diagnostic& diagnostic, const SourceLocation& place) : std::runtime_error("") {
  const auto parts = std::make_shared<Parts>();
  parts->diagnostic = diagnostic;
  parts->place = place;
  parts->message = WithoutControls(DescribeAt(place, diagnostic));
  parts_ = parts;
}

Error::Error(const std::string& message) : std::runtime_error("") {
  const auto parts = std::make_shared<Parts>();
  parts->message = WithoutControls(message);
  parts_ = parts;
}

const char* Error::what() const noexcept { return parts_->message.c_str(); }
const Diagnostic& Error::diagnostic() const { return parts_->diagnostic; }
const SourceLocation& Error::place() const { return parts_->place; }

bool Error::IsList() const {
  const Diagnostic& parts = diagnostic();
  return parts.where.empty() && parts.required.empty() && parts.given.empty();
}

void Error::PlaceAt(const SourceLocation& location) {
  if (IsList() || !place().empty() || location.empty()) return;
  *this = Error(diagnostic(), location);
}

void Error::Rename(const std::string& where) {
  if (IsList()) return;
  Diagnostic renamed = diagnostic();
  renamed.where = where;
  *this = Error(renamed, place());
}

}  // namespace frugal
