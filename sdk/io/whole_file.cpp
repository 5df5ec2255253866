#include "sdk/io/whole_file.h"

#include <filesystem>
#include <fstream>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

constexpr std::uintmax_t kMostBytes = 1 << 30;

[[noreturn]] void RefuseReading(const std::string& path, std::string given, std::string advice) {
  throw DataError({.where = path,
                   .required = "a file to read",
                   .given = std::move(given),
                   .advice = std::move(advice)});
}

}  // namespace

std::string ReadWholeFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    RefuseReading(path, "it is not there", "check the path");
  if (!std::filesystem::is_regular_file(path, error)) {
    RefuseReading(path, "it is no regular file", "name a file");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size == 0)
    RefuseReading(path, error ? error.message() : "it is empty", "check the file");
  if (size > kMostBytes) {
    RefuseReading(path, "it has " + FormatBytes(static_cast<std::int64_t>(size)), "split it");
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) RefuseReading(path, "it cannot be read to its end", "check its permissions");
  return bytes;
}

}  // namespace frugal
