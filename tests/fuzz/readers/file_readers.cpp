#include "tests/fuzz/readers/file_reader.h"

namespace frugal::testing {

std::vector<FileReader> FileReaders() {
  return {TomlFileReader(),          JsonWeightsFileReader(), SafetensorsFileReader(),
          BinaryWeightsFileReader(), IdxFileReader(),         PngFileReader(),
          NpyFileReader(),           SnapshotFileReader(),    CaptureFileReader()};
}

}  // namespace frugal::testing
