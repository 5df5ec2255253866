// Weight files of very many tensors: time grows with their number, and not with its square.
#include <ctime>
#include <map>

#include "builders/execute/checkpoint_keys.h"
#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

constexpr int kFew = 10'000;
constexpr int kMany = 100'000;
constexpr double kMostSeconds = 15;  // of what takes 0.2 to 0.8, or minutes where it is quadratic
constexpr double kMostTimes = 25;    // for ten times as many; 100 where it is quadratic

// Measures this process alone, so that what else runs on the machine does not count.
double SecondsOf(const auto& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// "part7.block.weight"; with `base`, "model.part7.block.weight".
std::string NameOf(int i, bool base = false) {
  return (base ? "model.part" : "part") + std::to_string(i) + ".block.weight";
}

std::vector<StoredTensor> Tensors(int count) {
  std::vector<StoredTensor> tensors;
  for (int i = 0; i < count; ++i) tensors.push_back({NameOf(i, true), {1}, StoredDType::kF32});
  return tensors;
}

void WriteMany(const std::string& path, WeightsFileFormat format, int count) {
  const auto writer = CreateWeights(path, format, Tensors(count));
  const std::vector<std::byte> zero(4);
  for (int i = 0; i < count; ++i) writer->Write(NameOf(i, true), zero);
  writer->Finish();
}

// One half is there behind the name of a base model, the other nowhere.
void SearchMany(const WeightSource& file, int count) {
  for (int i = 0; i < count; ++i) {
    const Parameter parameter{
        .name = "w", .path = NameOf(2 * i), .aliases = {}, .shape = {1}, .initializer = {}};
    if ((FindCheckpointKey(file, parameter) != nullptr) != (2 * i < count)) FAIL("wrongly found");
  }
}

// Measures three times, since others use the machine's memory.
std::map<std::string, double> LeastSeconds(const std::string& path, WeightsFileFormat format,
                                           int count) {
  std::map<std::string, double> seconds;
  const auto measure = [&](const std::string& what, const auto& work) {
    const double took = SecondsOf(work);
    const auto [known, is_new] = seconds.try_emplace(what, took);
    if (!is_new) known->second = std::min(known->second, took);
  };
  for (int round = 0; round < 3; ++round) {
    measure("write", [&] { WriteMany(path, format, count); });
    std::unique_ptr<WeightSource> file;
    measure("open", [&] { file = OpenWeights(path, format); });
    REQUIRE(file->Entries().size() == static_cast<std::size_t>(count));
    measure("search", [&] { SearchMany(*file, count); });
  }
  return seconds;
}

TEST_CASE("weight files of 100,000 tensors are written, opened and searched in linear time",
          "[io]") {
  const auto format = GENERATE(WeightsFileFormat::kSafetensors, WeightsFileFormat::kBinary,
                               WeightsFileFormat::kJson);
  CAPTURE(NameOf(format));
  const TempDir directory;
  std::map<std::string, std::vector<double>> seconds;
  for (const int count : {kFew, kMany}) {
    for (const auto& [what, least] :
         LeastSeconds(directory.File(std::to_string(count)), format, count)) {
      seconds[what].push_back(least);
    }
  }
  for (const auto& [what, both] : seconds) {
    CAPTURE(what, both[0], both[1]);
    CHECK(both[1] < kMostSeconds);
    CHECK(both[1] < kMostTimes * std::max(both[0], 0.01));
  }
}

}  // namespace
}  // namespace frugal::testing
