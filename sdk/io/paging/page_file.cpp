#include "sdk/io/paging/page_file.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "sdk/core/byte_size.h"
#include "sdk/io/file_error.h"

namespace frugal {
namespace {

constexpr mode_t kOwnerOnly = 0600;

std::string FreeSpaceBeside(const std::string& path) {
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  const auto space = std::filesystem::space(directory.empty() ? "." : directory, error);
  if (error) return "";
  return "; " + FormatBytes(static_cast<std::int64_t>(space.available)) + " are free there";
}

[[noreturn]] void RefuseToMake(const std::string& path, const std::error_code& error) {
  const bool is_there = error == std::errc::file_exists;
  RefuseFile(path, "the page file can be made", error.message(),
             is_there ? "remove what is there, or name another memory_page_file"
                      : "name a memory_page_file in a directory that is there and can be written");
}

}  // namespace

PageFile::PageFile(const std::string& path, std::int64_t bytes)
    : files_(CurrentFileSystem()), path_(path) {
  std::error_code error;
  file_ = OpenFile(files_, path, OpenMode::kNewDirect, kOwnerOnly, error);
  if (error) RefuseToMake(path, error);
  error = files_.Remove(path);
  if (!error) error = Uninterrupted([&] { return files_.TakeSpace(file_, bytes); });
  if (!error) return;
  const std::string free = FreeSpaceBeside(path);
  files_.Close(file_);
  RefuseFile(path, "the page file has room for " + FormatBytes(bytes), error.message() + free,
             "name a memory_page_file on a disk with more room");
}

PageFile::~PageFile() { files_.Close(file_); }

void PageFile::Write(std::int64_t offset, std::span<const std::byte> bytes) {
  const std::error_code error = WriteAll(files_, file_, offset, bytes);
  if (!error) return;
  RefuseFile(path_, "the page file can be written", error.message(),
             "the training cannot go on; begin it again, from its last snapshot if there is one");
}

void PageFile::Read(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const std::error_code error(errno, std::generic_category());
      RefuseFile(path_, "the page file can be read",
                 got < 0 ? error.message() : "it ends at byte " + std::to_string(offset),
                 "the training cannot go on; look at the disk, and begin it again, from its last "
                 "snapshot if there is one");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

}  // namespace frugal
