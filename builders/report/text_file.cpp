#include "builders/report/text_file.h"

#include "sdk/core/error.h"
#include "sdk/io/atomic_file.h"

namespace frugal {
namespace {

// What was given and what to do, out of "[path] what was required of weights; given; advice".
std::string ReasonOf(const Error& error, const std::string& path) {
  const std::string message = error.what();
  const std::string head = "[" + path + "] ";
  if (!message.starts_with(head)) return message;
  const std::size_t end = message.find("; ", head.size());
  return end == std::string::npos ? message : message.substr(end + 2);
}

}  // namespace

void WriteTextFile(const std::string& path, std::string_view text) {
  try {
    AtomicFile file(path);
    file.Append(text);
    file.Commit();
  } catch (const WeightFileError& error) {
    throw UsageError({.where = path,
                      .required = "this file must be writable",
                      .given = ReasonOf(error, path),
                      .advice = ""});
  }
}

}  // namespace frugal
