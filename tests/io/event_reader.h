#pragma once

// Reads files of events as TensorBoard does, and fails where they are not as it wants them.

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/io/crc32c.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {

struct ReadEvent {
  double wall_time = 0;
  std::int64_t step = 0;
  std::string file_version;
  std::map<std::string, float> scalars;
  std::uint64_t session = 0;  // 1 where earlier events from this step on do not count
};

// A message of protocol buffers, field by field.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    std::uint64_t number;
    std::uint64_t wire_type;
    std::uint64_t value;     // of a number, as its bits
    std::string_view bytes;  // of a text or message
  };
  bool HasMore() const { return !rest_.empty(); }
  Field Next() {
    const std::uint64_t key = Varint();
    Field field{key >> 3, key & 7, 0, {}};
    if (field.wire_type == 0) field.value = Varint();
    if (field.wire_type == 1) field.value = Fixed(8);
    if (field.wire_type == 2) field.bytes = Take(Varint());
    if (field.wire_type == 5) field.value = Fixed(4);
    return field;
  }
  std::string_view Take(std::size_t count) {
    if (count > rest_.size()) throw std::runtime_error("the record ends too early");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t Fixed(std::size_t count) {
    std::uint64_t value = 0;
    int shift = 0;
    for (const char byte : Take(count)) {
      value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }

 private:
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(Take(1).front());
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  }

  std::string_view rest_;
};

inline void ReadScalar(std::string_view value, std::map<std::string, float>& scalars) {
  std::string tag;
  float number = NAN;
  for (MessageReader reader(value); reader.HasMore();) {
    const MessageReader::Field field = reader.Next();
    if (field.number == 1) tag = field.bytes;
    if (field.number == 2) number = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
  }
  if (!scalars.emplace(tag, number).second) throw std::runtime_error(tag + " is there twice");
}

inline ReadEvent ReadOneEvent(std::string_view message) {
  ReadEvent event;
  for (MessageReader reader(message); reader.HasMore();) {
    const MessageReader::Field field = reader.Next();
    if (field.number == 1) event.wall_time = std::bit_cast<double>(field.value);
    if (field.number == 2) event.step = static_cast<std::int64_t>(field.value);
    if (field.number == 3) event.file_version = field.bytes;
    if (field.number == 7) event.session = MessageReader(field.bytes).Next().value;
    if (field.number != 5) continue;
    for (MessageReader summary(field.bytes); summary.HasMore();) {
      ReadScalar(summary.Next().bytes, event.scalars);
    }
  }
  return event;
}

// Turns a masked checksum back, as readers do.
inline void CheckMasked(std::string_view bytes, std::uint64_t masked) {
  const std::uint32_t turned = static_cast<std::uint32_t>(masked) - 0xA282EAD8U;
  if (Crc32c(bytes) != ((turned >> 17) | (turned << 15))) {
    throw std::runtime_error("the checksum is another");
  }
}

inline std::vector<ReadEvent> ReadEvents(const std::string& path) {
  const std::string text = ReadAll(path);
  std::vector<ReadEvent> events;
  for (MessageReader file(text); file.HasMore();) {
    const std::string_view length = file.Take(8);
    CheckMasked(length, file.Fixed(4));
    const std::string_view message = file.Take(MessageReader(length).Fixed(8));
    CheckMasked(message, file.Fixed(4));
    events.push_back(ReadOneEvent(message));
  }
  return events;
}

}  // namespace frugal::testing
