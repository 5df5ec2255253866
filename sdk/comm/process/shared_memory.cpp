#include "sdk/comm/process/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sdk/comm/communication_error.h"
#include "sdk/core/byte_size.h"

namespace frugal {
namespace {

constexpr const char* kPrefix = "frugal-ranks-";

// A name holds the number of the process that made it, so what one left that was killed before it
// could take the name away is found.
void RemoveAbandoned() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const long process = std::strtol(name.c_str() + std::strlen(kPrefix), nullptr, 10);
    if (process <= 0 || ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH) continue;
    ::shm_unlink(("/" + name).c_str());
  }
}

[[noreturn]] void Refuse(const std::string& what, int error, std::int64_t bytes) {
  throw CommunicationError(
      {.where = "shared memory",
       .required = "processes of one machine share " + FormatBytes(bytes) + " of memory",
       .given = what + ": " + std::generic_category().message(error),
       .advice = "give /dev/shm more room (docker run --shm-size), or use threads: start one "
                 "process"});
}

}  // namespace

SharedMemory::SharedMemory(std::string name, int file, std::int64_t bytes, bool owns_name)
    : name_(std::move(name)), bytes_(bytes), owns_name_(owns_name) {
  void* memory =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  ::close(file);
  if (memory == MAP_FAILED) {
    Unlink();
    Refuse("it cannot be mapped", error, bytes);
  }
  data_ = static_cast<std::byte*>(memory);
}

SharedMemory SharedMemory::Create(std::int64_t bytes) {
  RemoveAbandoned();
  static std::atomic<int> made = 0;
  const std::string name =
      "/" + std::string(kPrefix) + std::to_string(::getpid()) + "-" + std::to_string(made++);
  const int file = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0) Refuse("it cannot be made", errno, bytes);
  // Pages are taken here: one that is missing later would end the process without a word.
  if (const int error = ::posix_fallocate(file, 0, bytes); error != 0) {
    ::close(file);
    ::shm_unlink(name.c_str());
    Refuse("there is no room for it", error, bytes);
  }
  return {name, file, bytes, true};
}

SharedMemory SharedMemory::Open(const std::string& name, std::int64_t bytes) {
  const int file = ::shm_open(name.c_str(), O_RDWR, 0600);
  if (file < 0) Refuse("it cannot be opened", errno, bytes);
  return {name, file, bytes, false};
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : name_(std::move(other.name_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_),
      owns_name_(std::exchange(other.owns_name_, false)) {}

SharedMemory::~SharedMemory() {
  Unlink();
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
}

void SharedMemory::Unlink() {
  if (std::exchange(owns_name_, false)) ::shm_unlink(name_.c_str());
}

}  // namespace frugal
