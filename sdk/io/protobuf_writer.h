#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace frugal {

// Builds one message in the binary form of protocol buffers: fields in the order in which they are
// added, each a key (its number and wire type) and its value
// (https://protobuf.dev/programming-guides/encoding).
class ProtobufWriter {
 public:
  void AddInteger(int field, std::int64_t value) {
    AddKey(field, kVarint);
    AddVarint(static_cast<std::uint64_t>(value));
  }
  void AddDouble(int field, double value) {
    AddKey(field, kEightBytes);
    AddBytes(std::bit_cast<std::uint64_t>(value), 8);
  }
  void AddFloat(int field, float value) {
    AddKey(field, kFourBytes);
    AddBytes(std::bit_cast<std::uint32_t>(value), 4);
  }
  // Adds a text, or a message inside this one.
  void AddText(int field, std::string_view text) {
    AddKey(field, kLengthDelimited);
    AddVarint(text.size());
    bytes_ += text;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  enum WireType : std::uint8_t {
    kVarint = 0,
    kEightBytes = 1,
    kLengthDelimited = 2,
    kFourBytes = 5
  };

  void AddKey(int field, WireType type) {
    AddVarint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
  }
  // Seven bits a byte, the least first; the eighth says that more follow.
  void AddVarint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void AddBytes(std::uint64_t value, int count) {  // the least first
    for (int i = 0; i < count; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }

  std::string bytes_;
};

}  // namespace frugal
