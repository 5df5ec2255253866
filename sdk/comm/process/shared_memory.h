#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace frugal {

// Memory that several processes of one machine see, under a name until all of them have it.
class SharedMemory {
 public:
  // Makes it, all zero, and takes all of its pages. Throws CommunicationError where the machine
  // gives no room for it.
  static SharedMemory Create(std::int64_t bytes);
  // Opens what another process made.
  static SharedMemory Open(const std::string& name, std::int64_t bytes);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  // Takes the name away. The memory itself ends with the last process that has it, however that
  // ends, so nothing stays behind.
  void Unlink();

  const std::string& name() const { return name_; }
  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  SharedMemory(std::string name, int file, std::int64_t bytes, bool owns_name);

  std::string name_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  bool owns_name_ = false;
};

}  // namespace frugal
