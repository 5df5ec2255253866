#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace frugal::testing {

// A small file, named by what is wrong with it, and a part of the message that refuses it; "" for
// one that is read.
struct FileCase {
  std::string name;
  std::string content;
  std::string refusal;
};

// A reader of files as the fuzz targets and the tests of their seeds use it.
struct FileReader {
  std::string name;  // of its target, dictionary and directories
  // Reads all that a file holds. Throws Error for a file that it refuses, std::logic_error where
  // what it read breaks a promise.
  void (*read)(const std::string& path) = nullptr;
  std::vector<FileCase> (*cases)() = nullptr;
  // The reader has at most so many bytes allocated at once for each byte of the file, beside
  // fixed_bytes.
  std::size_t bytes_per_byte = 0;
  std::size_t fixed_bytes = 0;
};

FileReader TomlFileReader();
FileReader JsonWeightsFileReader();
FileReader SafetensorsFileReader();
FileReader BinaryWeightsFileReader();
FileReader IdxFileReader();
FileReader PngFileReader();
FileReader NpyFileReader();
FileReader SnapshotFileReader();
FileReader CaptureFileReader();

// All of these, in this order.
std::vector<FileReader> FileReaders();

}  // namespace frugal::testing
