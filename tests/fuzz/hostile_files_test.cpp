// The seeds of the fuzz targets, read and refused as their lists say.
#include <ctime>

#include "sdk/core/error.h"
#include "tests/catch.h"
#include "tests/fuzz/readers/file_reader.h"
#include "tests/io/temp_dir.h"
#include "tests/support/refusal.h"

namespace frugal::testing {
namespace {

double ProcessorSeconds() {
  return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

TEST_CASE("files with the published flaws of their kind are refused for what is wrong") {
  const TempDir directory(MemoryDirectory());
  for (const FileReader& reader : FileReaders()) {
    for (const FileCase& one : reader.cases()) {
      INFO(reader.name << ": " << one.name);
      const std::string path = directory.Write("file", one.content);
      const double began = ProcessorSeconds();
      const std::string refusal = RefusalOf([&] { reader.read(path); });
      CHECK(ProcessorSeconds() - began < 1);
      if (one.refusal.empty()) {
        CHECK(refusal.empty());
      } else {
        CheckContains(refusal, one.refusal);
      }
    }
  }
}

TEST_CASE("files that are cut short anywhere, or have one other byte, are read or refused") {
  constexpr std::size_t kMostBytes = 300;
  const TempDir directory(MemoryDirectory());
  for (const FileReader& reader : FileReaders()) {
    int refused = 0;
    for (const FileCase& one : reader.cases()) {
      if (one.content.size() > kMostBytes || !one.refusal.empty()) continue;
      INFO(reader.name << ": " << one.name);
      for (std::size_t at = 0; at < one.content.size(); ++at) {
        std::string other = one.content;
        other[at] = static_cast<char>(other[at] ^ (1 << at % 8));
        for (const std::string& content : {one.content.substr(0, at), other}) {
          const std::string path = directory.Write("file", content);
          refused += RefusalOf([&] { reader.read(path); }).empty() ? 0 : 1;
        }
      }
    }
    INFO(reader.name);
    CHECK(refused > 0);
  }
}

}  // namespace
}  // namespace frugal::testing
