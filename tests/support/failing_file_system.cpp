#include "tests/support/failing_file_system.h"

#include <chrono>
#include <thread>

#include "tests/catch.h"

namespace frugal::testing {

std::size_t FailingFileSystem::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::string FailingFileSystem::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

namespace {

void KeepBusy(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

}  // namespace

bool FailingFileSystem::has_failed() const { return !failed().empty(); }

bool FailingFileSystem::IsHit(const std::string& text) {
  const std::lock_guard lock(mutex_);
  ++calls_;
  const bool hit =
      fault_.call != 0 && (calls_ == fault_.call || (fault_.lasts && calls_ > fault_.call));
  if (hit && failed_.empty()) failed_ = text;
  return hit;
}

std::error_code FailingFileSystem::ErrorAt(const std::string& text) {
  if (!IsHit(text) || fault_.short_write) return {};
  return {fault_.error, std::generic_category()};
}

int FailingFileSystem::Open(const std::string& path, OpenMode mode, mode_t permissions,
                            std::error_code& error) {
  std::this_thread::sleep_for(std::chrono::milliseconds(fault_.open_milliseconds));
  error = ErrorAt("open " + path);
  return error ? -1 : below_.Open(path, mode, permissions, error);
}

std::size_t FailingFileSystem::WriteAt(int file, std::int64_t offset,
                                       std::span<const std::byte> bytes, std::error_code& error) {
  const bool hit = IsHit("write");
  KeepBusy(std::chrono::milliseconds(fault_.busy_milliseconds));
  if (hit && fault_.short_write) bytes = bytes.first((bytes.size() + 1) / 2);
  error = hit && !fault_.short_write ? std::error_code(fault_.error, std::generic_category())
                                     : std::error_code();
  return error ? 0 : below_.WriteAt(file, offset, bytes, error);
}

std::error_code FailingFileSystem::Truncate(int file, std::int64_t size) {
  const std::error_code error = ErrorAt("truncate");
  return error ? error : below_.Truncate(file, size);
}

std::error_code FailingFileSystem::TakeSpace(int file, std::int64_t size) {
  const std::error_code error = ErrorAt("take space");
  return error ? error : below_.TakeSpace(file, size);
}

std::error_code FailingFileSystem::Sync(int file) {
  std::this_thread::sleep_for(std::chrono::milliseconds(fault_.sync_milliseconds));
  const std::error_code error = ErrorAt("sync");
  return error ? error : below_.Sync(file);
}

std::error_code FailingFileSystem::Close(int file) {
  const std::error_code error = ErrorAt("close");
  const std::error_code closed = below_.Close(file);
  return error ? error : closed;
}

std::error_code FailingFileSystem::Rename(const std::string& from, const std::string& to) {
  const std::error_code error = ErrorAt("rename to " + to);
  return error ? error : below_.Rename(from, to);
}

std::error_code FailingFileSystem::Remove(const std::string& path) {
  const std::error_code error = ErrorAt("remove " + path);
  return error ? error : below_.Remove(path);
}

std::error_code FailingFileSystem::MakeDirectory(const std::string& path) {
  const std::error_code error = ErrorAt("make directory " + path);
  return error ? error : below_.MakeDirectory(path);
}

std::error_code FailingFileSystem::SyncDirectory(const std::string& path) {
  const std::error_code error = ErrorAt("sync directory " + path);
  return error ? error : below_.SyncDirectory(path);
}

std::size_t ForEachFailingCall(Fault fault,
                               const std::function<void(FailingFileSystem& files)>& run) {
  for (fault.call = 1;; ++fault.call) {
    FailingFileSystem files(fault);
    {
      const FileSystemScope scope(files);
      INFO("call " << fault.call << " is hit");
      run(files);
    }
    if (!files.has_failed()) return fault.call - 1;
  }
}

}  // namespace frugal::testing
