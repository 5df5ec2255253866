#include "sdk/data/gzip_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/data/dataset_info.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kBufferBytes = 1u << 18;
constexpr std::size_t kMaxRead = std::size_t{1} << 30;  // gzread counts in int

gzFile Open(void* stream) { return static_cast<gzFile>(stream); }

std::string AdviceForMissing(const std::string& path) {
  const std::string package = PackageProviding(path);
  return package.empty() ? "check the path" : "install the package " + package;
}

std::int64_t CheckedSize(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw DataError({.where = path,
                     .required = "a file of the data set must exist",
                     .given = "there is no such file",
                     .advice = AdviceForMissing(path)});
  }
  if (error || !fs::is_regular_file(status)) {
    throw DataError({.where = path,
                     .required = "a file of the data set must be a regular file",
                     .given = error                      ? error.message()
                              : fs::is_directory(status) ? "this is a directory"
                                                         : "this is a device or a pipe",
                     .advice = "name a file that can be read"});
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > 0) return static_cast<std::int64_t>(size);
  throw DataError({.where = path,
                   .required = "a file of the data set has content",
                   .given = error ? error.message() : "this file is empty",
                   .advice = "fetch it again"});
}

}  // namespace

GzipFile::GzipFile(std::string path) : path_(std::move(path)), stored_bytes_(CheckedSize(path_)) {
  errno = 0;
  stream_ = gzopen(path_.c_str(), "rb");
  if (stream_ == nullptr) {
    throw DataError({.where = path_,
                     .required = "a file of the data set must be readable",
                     .given = std::strerror(errno == 0 ? ENOMEM : errno),
                     .advice = "check its permissions"});
  }
  gzbuffer(Open(stream_), kBufferBytes);
}

GzipFile::~GzipFile() { gzclose(Open(stream_)); }

bool GzipFile::Compressed() const { return gzdirect(Open(stream_)) == 0; }

std::size_t GzipFile::Read(std::span<std::uint8_t> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const std::size_t wanted = std::min(destination.size() - done, kMaxRead);
    const int got = gzread(Open(stream_), destination.data() + done, static_cast<unsigned>(wanted));
    if (got < 0) RefuseDamage();
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  // A stream that breaks off is noted as an error only after what it did hold.
  int code = Z_OK;
  gzerror(Open(stream_), &code);
  if (done < destination.size() && code != Z_OK && code != Z_STREAM_END) RefuseDamage();
  return done;
}

void GzipFile::RefuseDamage() const {
  const int reason = errno;
  int code = Z_OK;
  const std::string text = gzerror(Open(stream_), &code);
  const bool cut = code == Z_BUF_ERROR;
  throw DataError({.where = path_,
                   .required = "the file unpacks to its end",
                   .given = code == Z_ERRNO ? std::strerror(reason)
                            : cut           ? "the compressed data are cut short"
                                            : "the compressed data are damaged",
                   .advice = "fetch it again"});
}

}  // namespace frugal
