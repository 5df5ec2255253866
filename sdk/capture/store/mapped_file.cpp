#include "sdk/capture/store/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sdk/capture/capture_error.h"

namespace frugal {

class MappedFile::Mapping {
 public:
  explicit Mapping(const std::string& path) : path_(path) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file_ >= 0 && ::fstat(file_, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_, 0);
      if (at != MAP_FAILED) data_ = at;
    }
    const int error = errno;
    if (data_ != nullptr) return;
    const bool is_empty = file_ >= 0 && status.st_size == 0;
    if (file_ >= 0) ::close(file_);
    throw CaptureError({.where = path,
                        .required = "a file of a capture",
                        .given = is_empty ? "it is empty" : std::strerror(error),
                        .advice = "capture again"});
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    ::munmap(data_, size_);
    ::close(file_);
  }

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {static_cast<std::byte*>(data_), size_}; }
  void Read(std::int64_t offset, std::span<std::byte> to) const {
    while (!to.empty()) {
      const ssize_t got = ::pread(file_, to.data(), to.size(), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        throw CaptureError({.where = path_,
                            .required = "a file that can be read",
                            .given = got == 0 ? "it ends early" : std::strerror(errno),
                            .advice = "capture again"});
      }
      to = to.subspan(static_cast<std::size_t>(got));
      offset += got;
    }
  }
  void Forget() const { ::madvise(data_, size_, MADV_DONTNEED); }

 private:
  std::string path_;
  int file_ = -1;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace {

// Hands out one place of a mapping, which lives as long as the block does.
class WindowAllocator final : public Allocator {
 public:
  WindowAllocator(std::shared_ptr<const void> keeps, const void* at)
      : keeps_(std::move(keeps)), at_(const_cast<void*>(at)) {}

 private:
  Block DoAllocate(std::int64_t bytes, MemoryTag tag) override {
    return Block(this, at_, bytes, tag);
  }
  void DoFree(Block&) noexcept override { delete this; }

  std::shared_ptr<const void> keeps_;
  void* at_;
};

}  // namespace

MappedFile::MappedFile(const std::string& path) : mapping_(std::make_shared<Mapping>(path)) {}

const std::string& MappedFile::path() const { return mapping_->path(); }
std::span<const std::byte> MappedFile::bytes() const { return mapping_->bytes(); }
void MappedFile::Forget() const { mapping_->Forget(); }
void MappedFile::Read(std::int64_t offset, std::span<std::byte> to) const {
  mapping_->Read(offset, to);
}

Tensor MappedFile::At(std::int64_t offset, const Shape& shape, DType dtype) const {
  // The allocator is given back with the one block that it hands out.
  auto* const window = new WindowAllocator(mapping_, bytes().data() + offset);
  return Tensor(*window, shape, dtype, MemoryTag::kWorkspace);
}

}  // namespace frugal
