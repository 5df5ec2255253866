#include "sdk/io/file_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string>
#include <string_view>

#include "tests/catch.h"

namespace frugal::testing {
namespace {

std::span<const std::byte> BytesOfText(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string HashOf(std::string_view text) {
  FileHash hash;
  hash.Add(BytesOfText(text));
  return hash.Hex();
}

// The first value is that of the reference implementation's tests for no input and seed 0.
TEST_CASE("hashes are those of XXH3 with 64 bits", "[io]") {
  CHECK(HashOf("") == "2d06800538d394c2");
  CHECK(HashOf("a") == "e6c632b61e964e1f");
  CHECK(HashOf("abc") == "78af5f94892f3950");
  FileHash leading_zero;
  CHECK(leading_zero.Hex().size() == 16);
}

// The first value is the reference implementation's too.
TEST_CASE("content hashes are those of XXH3 with 128 bits, in one piece or in many", "[io]") {
  CHECK(ContentHashOf({}).Hex() == "99aa06d3014798d86001c324468d497f");
  std::string text(3000, 'x');
  for (std::size_t at = 0; at < text.size(); ++at) text[at] = static_cast<char>(at * at % 251);
  const XXH128_hash_t wanted = XXH3_128bits(text.data(), text.size());
  CHECK(ContentHashOf(BytesOfText(text)) == ContentHash{wanted.high64, wanted.low64});
  ContentHasher pieces;
  for (std::size_t at = 0; at < text.size(); at += 37) {
    pieces.Add(BytesOfText(std::string_view(text).substr(at, 37)));
  }
  CHECK(pieces.Value() == ContentHashOf(BytesOfText(text)));
}

TEST_CASE("a hash does not depend on how the bytes were cut", "[io]") {
  std::string text(5000, 'x');
  for (std::size_t at = 0; at < text.size(); ++at) text[at] = static_cast<char>(at * at % 251);
  FileHash pieces;
  for (std::size_t at = 0; at < text.size(); at += 37) {
    pieces.Add(BytesOfText(std::string_view(text).substr(at, 37)));
    pieces.Add({});
  }
  CHECK(pieces.Hex() == HashOf(text));
  CHECK(pieces.Hex() == pieces.Hex());
  text[2500] ^= 1;
  CHECK(pieces.Hex() != HashOf(text));
  XXH3_state_t plain;  // as the header is compiled here, for no instruction set in particular
  XXH3_64bits_reset(&plain);
  XXH3_64bits_update(&plain, text.data(), text.size());
  FileHash whole;
  whole.Add(BytesOfText(text));
  CHECK(whole.Value() == XXH3_64bits_digest(&plain));
  FileHash moved = std::move(pieces);
  CHECK(moved.Hex().size() == 16);
}

}  // namespace
}  // namespace frugal::testing
