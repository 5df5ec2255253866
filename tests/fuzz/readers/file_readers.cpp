#include "tests/fuzz/readers/file_reader.h"

namespace frugal::testing {

std::vector<FileReader> FileReaders() {
  return {
      TomlFileReader(), JsonWeightsFileReader(), SafetensorsFileReader(), BinaryWeightsFileReader(),
      IdxFileReader(),  PngFileReader(),         NpyFileReader()};
}

}  // namespace frugal::testing
