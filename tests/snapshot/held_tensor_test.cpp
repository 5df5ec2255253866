#include "builders/execute/held_tensor.h"

#include <algorithm>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "tests/catch.h"

namespace frugal::testing {
namespace {

std::vector<std::byte> Pattern(std::size_t bytes) {
  std::vector<std::byte> pattern(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pattern[i] = static_cast<std::byte>(i * i % 253);
  return pattern;
}

// Reads all of a tensor in parts, with a function before each that may change it.
std::vector<std::byte> ReadAllOf(HeldTensor& tensor, std::size_t bytes, std::size_t part,
                                 const std::function<void(std::size_t at)>& before) {
  std::vector<std::byte> read(bytes);
  for (std::size_t at = 0; at < bytes; at += part) {
    before(at);
    tensor.Read(static_cast<std::int64_t>(at),
                std::span(read).subspan(at, std::min(part, bytes - at)));
  }
  return read;
}

TEST_CASE("a held tensor reads as it was when it was held, whenever it changes") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const std::size_t bytes = 1 + random() % 5000, part = 1 + random() % 700;
    const std::size_t changed_at = random() % (bytes + part);
    const std::vector<std::byte> was = Pattern(bytes);
    std::vector<std::byte> live = was, room(bytes);
    HeldTensor tensor(live, room);
    bool changed = false;
    const auto read = ReadAllOf(tensor, bytes, part, [&](std::size_t at) {
      if (changed || at + part < changed_at) return;
      changed = true;
      tensor.BeforeChange();
      std::ranges::fill(live, std::byte{255});
      tensor.BeforeChange();  // once more changes nothing
    });
    CHECK(read == was);
  }
}

TEST_CASE("nothing is copied of a held tensor that was read") {
  std::vector<std::byte> live = Pattern(1000), room(1000);
  HeldTensor tensor(live, room);
  CHECK(ReadAllOf(tensor, 1000, 600, [](std::size_t) {}) == live);
  tensor.BeforeChange();
  CHECK(room == std::vector<std::byte>(1000));
}

TEST_CASE("a held tensor is read by one thread while another changes it") {
  const std::size_t bytes = 3 << 20;
  const std::vector<std::byte> was = Pattern(bytes);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::byte> live = was, room(bytes);
    HeldTensor tensor(live, room);
    std::vector<std::byte> read;
    std::thread reader([&] { read = ReadAllOf(tensor, bytes, 1 << 14, [](std::size_t) {}); });
    for (int i = 0; i < round * 1000; ++i) std::this_thread::yield();
    tensor.BeforeChange();
    std::ranges::fill(live, std::byte{255});
    reader.join();
    CHECK(read == was);
  }
}

}  // namespace
}  // namespace frugal::testing
