#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace frugal {

// XXH3 with 64 bits (https://xxhash.com) over a stream of bytes: how two sets of weights are
// compared in one line. Depends on the bytes only, not on how they were cut into pieces.
class FileHash {
 public:
  FileHash();
  ~FileHash();
  FileHash(FileHash&&) noexcept;
  FileHash& operator=(FileHash&&) noexcept;

  void Add(std::span<const std::byte> bytes);
  std::uint64_t Value() const;  // of everything added so far
  std::string Hex() const;      // 16 hexadecimal digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace frugal
