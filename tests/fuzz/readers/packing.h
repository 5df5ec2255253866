#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frugal::testing {

enum class Packing : std::uint8_t { kZlib, kGzip };

// The text as one stream of zlib or one member of gzip.
std::string Pack(std::string_view text, Packing packing);

// Returns what a stream or a first member unpacks to; nothing where it is damaged or unpacks to
// more bytes than `most`.
std::optional<std::string> Unpack(std::string_view packed, Packing packing, std::size_t most);

// The first bytes of a PNG file.
inline constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1A\n";

// A chunk of a PNG file: length, type, data and checksum.
std::string PngChunk(const std::string& type, const std::string& data);

// Writes the right checksum behind each chunk of a PNG file, as far as its lengths lead.
void MendPngChecksums(std::uint8_t* data, std::size_t size);

}  // namespace frugal::testing
