#include "tests/fuzz/readers/packing.h"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

namespace frugal::testing {
namespace {

constexpr int kWindow = 15;

int WindowOf(Packing packing) { return packing == Packing::kGzip ? kWindow + 16 : kWindow; }

void PutBigEndian(std::uint8_t* to, std::uint32_t value) {
  for (int at = 0; at < 4; ++at) to[at] = static_cast<std::uint8_t>(value >> (24 - 8 * at));
}

std::uint32_t BigEndian(const std::uint8_t* from) {
  return std::uint32_t{from[0]} << 24 | std::uint32_t{from[1]} << 16 | std::uint32_t{from[2]} << 8 |
         from[3];
}

Bytef* BytesOf(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

std::string Pack(std::string_view text, Packing packing) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WindowOf(packing), 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib does not begin");
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = BytesOf(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = BytesOf(packed);
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::optional<std::string> Unpack(std::string_view packed, Packing packing, std::size_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, WindowOf(packing)) != Z_OK) return std::nullopt;
  std::string text(most, '\0');
  stream.next_in = BytesOf(packed);
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = BytesOf(text);
  stream.avail_out = static_cast<uInt>(text.size());
  const int code = inflate(&stream, Z_FINISH);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  if (code != Z_STREAM_END) return std::nullopt;
  return text;
}

std::string PngChunk(const std::string& type, const std::string& data) {
  std::string chunk(4, '\0');
  PutBigEndian(reinterpret_cast<std::uint8_t*>(chunk.data()),
               static_cast<std::uint32_t>(data.size()));
  chunk += type + data + std::string(4, '\0');
  std::string file = std::string(kPngSignature) + chunk;
  MendPngChecksums(reinterpret_cast<std::uint8_t*>(file.data()), file.size());
  return file.substr(kPngSignature.size());
}

void MendPngChecksums(std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kBeside = 12;  // length, type and checksum
  std::size_t at = kPngSignature.size();
  while (at + kBeside <= size) {
    const std::size_t length = BigEndian(data + at);
    if (length > size - at - kBeside) return;
    const uLong checksum = crc32(0, data + at + 4, static_cast<uInt>(length + 4));
    PutBigEndian(data + at + 8 + length, static_cast<std::uint32_t>(checksum));
    at += length + kBeside;
  }
}

}  // namespace frugal::testing
