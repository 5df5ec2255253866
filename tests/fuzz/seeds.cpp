// fuzz_seeds DIRECTORY MOST writes the cases of every reader that have at most MOST bytes into
// DIRECTORY/READER/seeds, under their names.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/fuzz/readers/file_reader.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "give a directory, and how many bytes a seed may have\n";
    return 2;
  }
  const std::size_t most = std::strtoull(argv[2], nullptr, 10);
  for (const auto& reader : frugal::testing::FileReaders()) {
    const std::filesystem::path directory = std::filesystem::path(argv[1]) / reader.name / "seeds";
    std::filesystem::create_directories(directory);
    for (const auto& seed : reader.cases()) {
      if (seed.content.size() > most) continue;
      std::ofstream(directory / seed.name, std::ios::binary) << seed.content;
    }
  }
  return 0;
}
