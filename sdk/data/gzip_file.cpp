#include "sdk/data/gzip_file.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

#include "sdk/core/error.h"
#include "sdk/data/dataset_info.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr std::size_t kMaxRead = std::size_t{1} << 30;  // zlib counts in unsigned int
constexpr int kGzipWindow = 15 + 16;                    // the largest, with the header of gzip

bool IsGzip(const z_stream& input) {
  return input.avail_in >= 2 && input.next_in[0] == 0x1F && input.next_in[1] == 0x8B;
}

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

// The members of a gzip file are inflated one by one: from zlib 1.3.2 on its gzread takes a file
// that is cut short as one that ends there.
struct GzipFile::Stream {
  ~Stream() {
    if (compressed) inflateEnd(&zlib);
    if (file != nullptr) std::fclose(file);
  }

  std::FILE* file = nullptr;
  std::vector<std::uint8_t> buffer = std::vector<std::uint8_t>(kBufferBytes);
  z_stream zlib{};      // its input is what of the buffer is not used yet
  bool at_end = false;  // nothing of the file is behind the buffer
  bool compressed = false;
  bool ended = false;  // the last member is unpacked
};

GzipFile::GzipFile(std::string path)
    : path_(std::move(path)),
      stored_bytes_(CheckedSize(path_)),
      stream_(std::make_unique<Stream>()) {
  errno = 0;
  stream_->file = std::fopen(path_.c_str(), "rbe");
  if (stream_->file == nullptr) {
    throw DataError({.where = path_,
                     .required = "a file of the data set must be readable",
                     .given = std::strerror(errno),
                     .advice = "check its permissions"});
  }
  Refill();
  if (!IsGzip(stream_->zlib)) return;
  if (inflateInit2(&stream_->zlib, kGzipWindow) != Z_OK) throw std::bad_alloc();
  stream_->compressed = true;
}

GzipFile::~GzipFile() = default;

bool GzipFile::Compressed() const { return stream_->compressed; }

std::size_t GzipFile::Read(std::span<std::uint8_t> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const auto rest =
        destination.subspan(done).first(std::min(destination.size() - done, kMaxRead));
    const std::size_t got = stream_->compressed ? Inflate(rest) : ReadPlain(rest);
    if (got == 0) break;
    done += got;
  }
  return done;
}

// Puts what is left of the buffer in front, and fills it up from the file.
void GzipFile::Refill() {
  Stream& stream = *stream_;
  const std::size_t left = stream.zlib.avail_in;
  if (left > 0) std::memmove(stream.buffer.data(), stream.zlib.next_in, left);
  errno = 0;
  const std::size_t got =
      std::fread(stream.buffer.data() + left, 1, stream.buffer.size() - left, stream.file);
  if (got == 0 && std::ferror(stream.file) != 0) RefuseDamage(std::strerror(errno));
  stream.at_end = got == 0;
  stream.zlib.next_in = stream.buffer.data();
  stream.zlib.avail_in = static_cast<uInt>(left + got);
}

std::size_t GzipFile::ReadPlain(std::span<std::uint8_t> destination) {
  z_stream& input = stream_->zlib;
  if (input.avail_in == 0) Refill();
  const std::size_t count = std::min<std::size_t>(destination.size(), input.avail_in);
  if (count > 0) std::memcpy(destination.data(), input.next_in, count);
  input.next_in += count;
  input.avail_in -= static_cast<uInt>(count);
  return count;
}

// Unpacks at least one byte, or none where the content ends.
std::size_t GzipFile::Inflate(std::span<std::uint8_t> destination) {
  Stream& stream = *stream_;
  stream.zlib.next_out = destination.data();
  stream.zlib.avail_out = static_cast<uInt>(destination.size());
  while (!stream.ended && stream.zlib.avail_out == destination.size()) {
    if (stream.zlib.avail_in == 0 && !stream.at_end) Refill();
    const int code = inflate(&stream.zlib, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      BeginNextMember();
    } else if (code == Z_BUF_ERROR && stream.at_end) {
      RefuseDamage("the compressed data are cut short");
    } else if (code == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      RefuseDamage("the compressed data are damaged");
    }
  }
  return destination.size() - stream.zlib.avail_out;
}

// Members may follow each other; what is no member behind the last one is passed over, as by gzip.
void GzipFile::BeginNextMember() {
  Stream& stream = *stream_;
  while (stream.zlib.avail_in < 2 && !stream.at_end) Refill();
  stream.ended = !IsGzip(stream.zlib);
  if (!stream.ended) inflateReset(&stream.zlib);
}

void GzipFile::RefuseDamage(std::string given) const {
  throw DataError({.where = path_,
                   .required = "the file unpacks to its end",
                   .given = std::move(given),
                   .advice = "fetch it again"});
}

}  // namespace frugal
