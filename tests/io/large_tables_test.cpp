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
constexpr double kMostGrowth = 3;    // of a plain table's, for ten times as many; 10 if quadratic

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

// Builds and frees a plain table of the names, each eight times, which is about the memory that a
// parsed entry takes: linear time on this machine, with the caches that it outgrows.
void BuildPlainTable(int count) {
  std::vector<std::unique_ptr<std::string>> table;
  for (int i = 0; i < count; ++i) {
    for (int part = 0; part < 8; ++part) {
      table.push_back(std::make_unique<std::string>(NameOf(i, true)));
    }
  }
}

std::map<std::string, double> SecondsOfEach(const std::string& path, WeightsFileFormat format,
                                            int count) {
  std::map<std::string, double> seconds;
  seconds["write"] = SecondsOf([&] { WriteMany(path, format, count); });
  std::unique_ptr<WeightSource> file;
  seconds["open"] = SecondsOf([&] { file = OpenWeights(path, format); });
  REQUIRE(file->Entries().size() == static_cast<std::size_t>(count));
  seconds["search"] = SecondsOf([&] { SearchMany(*file, count); });
  return seconds;
}

// Measures three times, since others use the machine's caches and memory: quadratic time grows
// too much in each.
TEST_CASE("weight files of 100,000 tensors are written, opened and searched in linear time",
          "[io]") {
  const auto format = GENERATE(WeightsFileFormat::kSafetensors, WeightsFileFormat::kBinary,
                               WeightsFileFormat::kJson);
  CAPTURE(NameOf(format));
  const TempDir directory;
  std::map<std::string, double> least_growth;
  for (int round = 0; round < 3; ++round) {
    const auto few = SecondsOfEach(directory.File("few"), format, kFew);
    const auto many = SecondsOfEach(directory.File("many"), format, kMany);
    const double linear =
        SecondsOf([] { BuildPlainTable(kMany); }) / SecondsOf([] { BuildPlainTable(kFew); });
    for (const auto& [what, seconds] : many) {
      CAPTURE(what, seconds);
      CHECK(seconds < kMostSeconds);
      const double growth = seconds / few.at(what) / linear;
      const auto [known, is_first] = least_growth.try_emplace(what, growth);
      if (!is_first) known->second = std::min(known->second, growth);
    }
  }
  for (const auto& [what, growth] : least_growth) {
    CAPTURE(what);
    CHECK(growth < kMostGrowth);
  }
}

}  // namespace
}  // namespace frugal::testing
