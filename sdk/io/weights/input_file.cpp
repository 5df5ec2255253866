#include "sdk/io/weights/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

static_assert(std::endian::native == std::endian::little, "weight files are little endian");

constexpr const char* kRequired = "a weight file must be a regular file that can be read";

// Looks before opening: opening a named pipe would wait for its writer.
void CheckRegular(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    RefuseWeights(path, "a path has no NUL character", "the system would end it there",
                  "correct the path");
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    RefuseWeights(path, "a weight file must exist", "there is no such file", "check the path");
  }
  if (std::filesystem::is_directory(status)) {
    RefuseWeights(path, kRequired, "this is a directory", "name a file in it");
  }
  if (error) RefuseWeights(path, kRequired, error.message(), "check its permissions");
  if (!std::filesystem::is_regular_file(status)) {
    RefuseWeights(path, kRequired, "this is a device, pipe or socket", "name a file");
  }
}

std::int64_t SizeOfOpen(int descriptor) {
  struct stat facts = {};
  return ::fstat(descriptor, &facts) == 0 ? facts.st_size : 0;
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  CheckRegular(path_);
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0)
    RefuseWeights(path_, kRequired, std::strerror(errno), "check its permissions");
  size_ = SizeOfOpen(descriptor_);
  if (size_ > 0) return;
  ::close(descriptor_);
  RefuseWeights(path_, "a weight file holds at least a table of contents", "this file is empty",
                "write it again");
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::ReadAt(std::int64_t offset, std::span<std::byte> destination) const {
  while (!destination.empty()) {
    const ssize_t got = ::pread(descriptor_, destination.data(), destination.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) RefuseWeights(path_, "the file must stay readable", std::strerror(errno));
    if (got == 0) {
      RefuseWeights(path_, std::to_string(destination.size()) + " bytes more are needed",
                    "the file ends at byte " + std::to_string(offset),
                    "it is cut short, or was changed while in use; fetch or write it again");
    }
    destination = destination.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

}  // namespace frugal
