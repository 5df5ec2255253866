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

// 16 bytes that stand for the content of a tensor: XXH3 with 128 bits. Different contents have the
// same by chance once in 2^128 pairs.
struct ContentHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const ContentHash&) const = default;
  std::string Hex() const;  // 32 hexadecimal digits
};
ContentHash ContentHashOf(std::span<const std::byte> bytes);

// Takes such a hash of bytes that come in pieces.
class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(const ContentHasher&) = delete;
  ContentHasher& operator=(const ContentHasher&) = delete;

  void Add(std::span<const std::byte> bytes);
  ContentHash Value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace frugal
