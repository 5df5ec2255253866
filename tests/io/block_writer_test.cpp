#include "sdk/io/atomic_file.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

constexpr std::int64_t kBlock = 1 << 20;  // of a BlockWriter

std::string TextOf(std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i % 251);
  return text;
}

// Written in pieces of different sizes, by spans and by a function.
std::string HashWritten(const std::string& path, const std::string& text, PageCache cache) {
  AtomicFile file(path, cache);
  std::int64_t piece = 1;
  for (std::int64_t at = 0; at < std::ssize(text);) {
    piece = std::min(piece * 3, std::ssize(text) - at);
    const auto bytes = std::as_bytes(std::span(text))
                           .subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(piece));
    if (piece % 2 == 0) {
      file.Append(bytes);
    } else {
      file.AppendParts(piece, [&](std::int64_t offset, std::span<std::byte> part) {
        std::ranges::copy(bytes.subspan(static_cast<std::size_t>(offset), part.size()),
                          part.begin());
      });
    }
    at += piece;
  }
  CHECK(file.size() == std::ssize(text));
  const std::string hash = file.Hash();
  file.Commit();
  return hash;
}

// On a disk, and in memory, where some systems have no such files.
TEST_CASE("files past the page cache are the same bytes", "[io]") {
  const std::vector<std::int64_t> sizes = {
      0, 1, 511, 512, 4095, 4096, 4097, kBlock - 1, kBlock, kBlock + 1, 3 * kBlock + 4096 + 17};
  const TempDir here, memory(MemoryDirectory());
  for (const TempDir* directory : {&here, &memory}) {
    for (const std::int64_t size : sizes) {
      INFO(size << " bytes");
      const std::string text = TextOf(size), path = directory->File("file");
      const std::string hash = HashWritten(path, text, PageCache::kBypass);
      CHECK(ReadAll(path) == text);
      CHECK(hash == HashWritten(path, text, PageCache::kUse));
      CHECK(ReadAll(path) == text);
    }
  }
}

// A write that took a part leaves the next one out of step with the blocks of the disk.
TEST_CASE("files past the page cache stand short writes", "[io]") {
  const TempDir directory;
  const std::string text = TextOf(kBlock + 5000), path = directory.File("file");
  const std::size_t failed =
      ForEachFailingCall({.short_write = true}, [&](FailingFileSystem& files) {
        HashWritten(path, text, PageCache::kBypass);
        CHECK(files.calls() > 0);
        CHECK(ReadAll(path) == text);
      });
  CHECK(failed >= 2);
}

TEST_CASE("files past the page cache are written in order", "[io]") {
  const TempDir directory;
  AtomicFile file(directory.File("file"), PageCache::kBypass);
  file.Append(TextOf(10));
  CHECK_THROWS_AS(file.WriteAt(3, std::as_bytes(std::span("x", 1))), std::logic_error);
}

}  // namespace
}  // namespace frugal::testing
