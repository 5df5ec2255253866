#include "sdk/io/file_hash.h"

#define XXH_INLINE_ALL  // the library's own way to be used as a header alone
#include <xxhash.h>

#include <cstdio>

#include "sdk/io/file_hash_avx2.h"

namespace frugal {
namespace {

bool HasAvx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
#else
  return false;
#endif
}

}  // namespace

struct FileHash::State {
  XXH3_state_t xxh;  // overaligned, which operator new knows
};

FileHash::FileHash() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh); }
FileHash::~FileHash() = default;
FileHash::FileHash(FileHash&&) noexcept = default;
FileHash& FileHash::operator=(FileHash&&) noexcept = default;

void FileHash::Add(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (HasAvx2()) return AddToXxh3ByAvx2(&state_->xxh, bytes.data(), bytes.size());
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::uint64_t FileHash::Value() const { return XXH3_64bits_digest(&state_->xxh); }

std::string FileHash::Hex() const {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(Value()));
  return digits;
}

namespace {

ContentHash From(const XXH128_hash_t& hash) { return {.high = hash.high64, .low = hash.low64}; }

}  // namespace

std::string ContentHash::Hex() const {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return digits;
}

ContentHash ContentHashOf(std::span<const std::byte> bytes) {
  return From(XXH3_128bits(bytes.data(), bytes.size()));
}

struct ContentHasher::State {
  XXH3_state_t xxh;
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
ContentHasher::~ContentHasher() = default;

void ContentHasher::Add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

ContentHash ContentHasher::Value() const { return From(XXH3_128bits_digest(&state_->xxh)); }

}  // namespace frugal
