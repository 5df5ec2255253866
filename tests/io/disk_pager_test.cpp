#include "sdk/io/paging/disk_pager.h"

#include <cerrno>
#include <map>
#include <random>

#include "sdk/core/error.h"
#include "sdk/memory/allocator.h"
#include "sdk/memory/system_memory.h"
#include "tests/catch.h"
#include "tests/io/temp_dir.h"
#include "tests/support/failing_file_system.h"

namespace frugal::testing {
namespace {

using Place = TensorPager::Place;

class PagerPlace {
 public:
  explicit PagerPlace(const std::string& path, std::int64_t file_bytes = 64 << 20,
                      std::int64_t pieces_bytes = 4 << 20)
      : buffers_(static_cast<std::size_t>(DiskPager::BufferBytes(pieces_bytes))),
        pager_(path, file_bytes, buffers_) {}

  Place Reserve(std::int64_t bytes) {
    bytes_.push_back(bytes);
    return pager_.Reserve(bytes);
  }
  Tensor New(Place place) { return Tensor(heap_, {bytes_[place]}, DType::kU8, MemoryTag::kData); }
  // Pages out bytes that begin with `value` and count up.
  void Out(Place place, std::uint8_t value) {
    const Tensor tensor = New(place);
    for (std::uint8_t& byte : tensor.values<std::uint8_t>()) byte = value++;
    pager_.PageOut(place, tensor);
    for (std::uint8_t& byte : tensor.values<std::uint8_t>()) byte = 0;  // it was taken
  }
  bool Holds(Place place, std::uint8_t value) {
    const Tensor tensor = New(place);
    pager_.PageIn(place, tensor);
    return std::ranges::all_of(tensor.values<std::uint8_t>(),
                               [&](std::uint8_t byte) { return byte == value++; });
  }
  DiskPager& pager() { return pager_; }

 private:
  HeapAllocator heap_;
  std::vector<std::int64_t> bytes_;
  std::vector<std::byte> buffers_;
  DiskPager pager_;
};

TEST_CASE("what is paged out comes back, whatever its size", "[io][paging]") {
  const TempDir directory;
  PagerPlace paged(directory.File("page"));
  CHECK(directory.Count() == 0);  // the file has no name any more
  std::vector<Place> places;
  const std::int64_t piece = DiskPager::kPieceBytes;
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{4095}, std::int64_t{4096},
                                   piece - 1, piece, piece + 1, 7 * piece + 5}) {
    places.push_back(paged.Reserve(bytes));
    paged.Out(places.back(), static_cast<std::uint8_t>(places.size()));
  }
  for (std::size_t i = places.size(); i-- > 0;) {
    CHECK(paged.Holds(places[i], static_cast<std::uint8_t>(i + 1)));
  }
  std::vector<std::byte> part(12288);
  paged.pager().ReadPart(places.back(), piece - 5, part);
  const auto expected = static_cast<std::uint8_t>(places.size() + piece - 5);
  CHECK(part[0] == std::byte{expected});
  CHECK(part[7] == std::byte{static_cast<std::uint8_t>(expected + 7)});
}

TEST_CASE("steps page as memory would, whatever their order", "[io][paging][properties]") {
  const TempDir directory(MemoryDirectory());
  for (unsigned seed = 0; seed < 30; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
    PagerPlace paged(directory.File("page"), 64 << 20, (2 + below(4)) << 20);
    std::map<Place, std::uint8_t> held;
    PagingTraffic traffic;
    for (int i = 0; i < 6; ++i) {
      const Place place = paged.Reserve(1 + below(3 << 20));
      held[place] = static_cast<std::uint8_t>(below(256));
      paged.Out(place, held[place]);
    }
    // A step is a script of places; most steps repeat one, some leave it, some fail.
    std::vector<std::vector<std::pair<Place, bool>>> scripts(2);
    for (auto& script : scripts) {
      for (int i = 0; i < 12; ++i) {
        script.push_back({static_cast<Place>(below(6)), below(2) == 0});
      }
    }
    for (int step = 0; step < 12; ++step) {
      const auto key = static_cast<std::size_t>(below(2));
      paged.pager().BeginStep(static_cast<std::int64_t>(key));
      for (auto [place, out] : scripts[key]) {
        if (below(20) == 0) place = static_cast<Place>(below(6));
        if (out) {
          paged.Out(place, ++held[place]);
        } else {
          REQUIRE(paged.Holds(place, held[place]));
        }
      }
      if (below(8) == 0) {
        paged.pager().AbandonStep();
      } else {
        paged.pager().EndStep();
      }
      if (below(3) == 0) {
        const auto place = static_cast<Place>(below(6));
        paged.Out(place, ++held[place]);
        REQUIRE(paged.Holds(place, held[place]));
      }
    }
  }
}

TEST_CASE("a step counts what it pages", "[io][paging]") {
  const TempDir directory;
  PagerPlace paged(directory.File("page"));
  const Place small = paged.Reserve(100), large = paged.Reserve(3'000'000);
  paged.Out(small, 1);  // outside of a step
  paged.Out(large, 1);
  paged.pager().BeginStep(0);
  CHECK(paged.Holds(large, 1));
  paged.Out(large, 2);
  paged.Out(small, 2);
  paged.pager().EndStep();
  CHECK(paged.pager().step_traffic() == PagingTraffic{3'000'000, 3'000'100});
  CHECK(paged.pager().total_traffic() == PagingTraffic{3'000'000, 3'000'100});
  CHECK(paged.pager().file_bytes() == 4096 + 733 * 4096);
}

TEST_CASE("a page file that cannot be made is refused in a sentence", "[io][paging]") {
  const TempDir directory;
  const auto refusal = [&](const std::string& path, std::int64_t bytes = 1 << 20) {
    return MessageOf<FileError>([&] { PagerPlace paged(path, bytes); });
  };
  CheckContains(refusal(directory.File("none/page")), "No such file or directory");
  const std::string there = directory.Write("there", "text");
  CheckContains(refusal(there), "remove what is there");
  CHECK(ReadAll(there) == "text");
  const std::string full = refusal(directory.File("page"), std::int64_t{1} << 55);
  CheckContains(full, "has room for");
  CheckContains(full, "are free there");
  CHECK(directory.Count() == 1);
}

TEST_CASE("each call of a page file that fails is one error, and leaves nothing", "[io][paging]") {
  const TempDir directory(MemoryDirectory());
  const std::size_t failed = ForEachFailingCall({.error = EIO}, [&](FailingFileSystem& files) {
    std::string message;
    try {
      PagerPlace paged(directory.File("page"));
      const Place place = paged.Reserve(5 << 20);
      for (std::uint8_t i = 0; i < 4; ++i) {
        paged.Out(place, i);
        const bool holds = paged.Holds(place, i);  // an exception is the test's own
        CHECK(holds);
      }
    } catch (const FileError& error) {
      message = error.what();
    }
    const std::string call = files.failed();
    INFO(call << ": " << message);
    CHECK(message.empty() == (call.empty() || call == "close"));
    if (!call.starts_with("remove")) CHECK(directory.Count() == 0);
    std::filesystem::remove(directory.File("page"));
  });
  CHECK(failed > 10);
}

}  // namespace
}  // namespace frugal::testing
