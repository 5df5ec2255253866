#include "sdk/io/atomic_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "sdk/io/file_error.h"
#include "sdk/io/output_path.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAll = "all of the file must be written";
constexpr std::int64_t kPartBytes = 1 << 20;

fs::path CheckedTarget(const std::string& path) {
  fs::path target = ResolveOutput(path);
  std::error_code error;
  if (fs::is_directory(DirectoryOf(target), error)) return target;
  RefuseFile(path, "a file is written into a directory that exists",
             "there is no directory '" + DirectoryOf(target).string() + "'", "create it first");
}

// Gives the open file the owner, group and permissions of the one that it will replace. Where the
// group cannot be kept, another one gets no more than everybody.
void TakeAfter(const struct stat& replaced, int descriptor) {
  mode_t permissions = replaced.st_mode & 0777;
  const bool all = ::fchown(descriptor, replaced.st_uid, replaced.st_gid) == 0;
  if (!all && ::fchown(descriptor, static_cast<uid_t>(-1), replaced.st_gid) != 0) {
    permissions &= ~mode_t{070} | ((permissions & mode_t{07}) << 3);
  }
  ::fchmod(descriptor, permissions);
}

// The file is made for its owner alone where it replaces another, so that nobody opens it before it
// has the permissions of that one.
PartialFile CreateBeside(FileSystem& files, const fs::path& target, PageCache cache) {
  struct stat replaced = {};
  const bool replaces = ::stat(target.c_str(), &replaced) == 0;
  const OpenMode mode = cache == PageCache::kBypass ? OpenMode::kNewDirect : OpenMode::kNew;
  PartialFile file = CreatePartial(files, DirectoryOf(target), mode, replaces ? 0600 : 0666);
  if (replaces && file.descriptor >= 0) TakeAfter(replaced, file.descriptor);
  return file;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, PageCache cache)
    : path_(path),
      target_(CheckedTarget(path)),
      syncs_(cache != PageCache::kLeaveIn),
      files_(CurrentFileSystem()) {
  RemoveAbandoned(files_, DirectoryOf(target_));
  partial_ = CreateBeside(files_, target_, cache);
  Require(partial_.error, "a new file must be allowed beside it");
  if (cache == PageCache::kBypass) blocks_.emplace(files_, partial_.descriptor);
}

AtomicFile::~AtomicFile() {
  if (partial_.descriptor < 0) return;
  Uninterrupted([&] { return files_.Remove(partial_.path); });
  files_.Close(partial_.descriptor);
}

void AtomicFile::Require(const std::error_code& error, const char* what) {
  if (!error_) error_ = error;
  if (!error_) return;
  RefuseFile(path_, what, error_.message(), "free space or choose another place");
}

void AtomicFile::WriteAt(std::int64_t offset, std::span<const std::byte> bytes) {
  Require({}, kAll);
  if (blocks_) {
    if (offset != size_) throw std::logic_error("a file past the page cache is written in order");
    return AppendParts(std::ssize(bytes), [&](std::int64_t at, std::span<std::byte> part) {
      std::memcpy(part.data(), bytes.data() + at, part.size());
    });
  }
  Require(WriteAll(files_, partial_.descriptor, offset, bytes), kAll);
  in_order_ = in_order_ && offset == size_;
  if (in_order_) hash_.Add(bytes);
  size_ = std::max(size_, offset + std::ssize(bytes));
}

void AtomicFile::AppendParts(std::int64_t bytes, const FillPart& fill) {
  Require({}, kAll);
  std::vector<std::byte> own(blocks_ ? 0 : static_cast<std::size_t>(std::min(bytes, kPartBytes)));
  for (std::int64_t at = 0; at < bytes;) {
    const std::span<std::byte> space = blocks_ ? blocks_->Space() : std::span(own);
    const auto part = space.first(std::min(space.size(), static_cast<std::size_t>(bytes - at)));
    fill(at, part);
    AppendPart(part);
    at += std::ssize(part);
  }
}

void AtomicFile::AppendPart(std::span<const std::byte> bytes) {
  if (!blocks_) return WriteAt(size_, bytes);
  if (in_order_) hash_.Add(bytes);  // while it is in the cache
  Require(blocks_->Filled(bytes.size()), kAll);
  size_ += std::ssize(bytes);
}

// A sync that failed may have dropped what it could not write, and a second one would not say so:
// what failed once has failed.
void AtomicFile::Commit() {
  constexpr const char* kReach = "all of the file must reach the disk";
  Require({}, kReach);
  if (blocks_) Require(blocks_->Finish(), kReach);
  if (syncs_) Require(Uninterrupted([&] { return files_.Sync(partial_.descriptor); }), kReach);
  Require(Uninterrupted([&] { return files_.Rename(partial_.path, target_.string()); }),
          "the file must be replaceable");
  files_.Close(partial_.descriptor);
  partial_.descriptor = -1;
  if (syncs_)
    Require(SyncNames(files_, DirectoryOf(target_).string()), "its name must reach the disk");
}

}  // namespace frugal
