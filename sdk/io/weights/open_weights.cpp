#include "sdk/io/weights/open_weights.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "sdk/io/file_error.h"
#include "sdk/io/weights/binary_weights.h"
#include "sdk/io/weights/detect_format.h"
#include "sdk/io/weights/input_file.h"
#include "sdk/io/weights/json_weights.h"
#include "sdk/io/weights/safetensors.h"
#include "sdk/io/weights/weight_error.h"

namespace frugal {
namespace {

std::string ReadBeginning(const std::string& path) {
  const InputFile file(path);
  std::string beginning(static_cast<std::size_t>(std::min<std::int64_t>(64, file.size())), '\0');
  file.ReadAt(0, std::as_writable_bytes(std::span(beginning)));
  return beginning;
}

WeightsFileFormat Decide(const std::string& path, WeightsFileFormat asked) {
  const std::string beginning = ReadBeginning(path);
  const WeightsFileFormat found = DetectFormat(beginning);
  const std::string_view foreign = ForeignKind(beginning);
  if (found == WeightsFileFormat::kAuto && (asked == found || !foreign.empty())) {
    RefuseWeights(path, "a weight file is safetensors, JSON or frugal's binary form",
                  "this file is " + std::string(foreign.empty() ? "none of them" : foreign),
                  "convert it to safetensors");
  }
  if (asked == WeightsFileFormat::kAuto) return found;
  if (found != asked && found != WeightsFileFormat::kAuto) {
    RefuseWeights(
        path, std::string(NameOf(asked)) + " was asked for",
        "the file is " + std::string(NameOf(found)) + ", not " + std::string(NameOf(asked)),
        "ask for " + std::string(NameOf(found)) + " or auto");
  }
  return asked;  // where the content is unclear, the reader says what is wrong with it
}

}  // namespace

WeightsFileFormat FormatToWrite(const std::string& path) {
  constexpr std::array<std::string_view, 12> kForeign = {".pt",   ".pth",  ".ckpt", ".pkl",
                                                         ".npy",  ".npz",  ".h5",   ".hdf5",
                                                         ".gguf", ".onnx", ".zip",  ".gz"};
  std::string extension = std::filesystem::path(path).extension().string();
  std::ranges::transform(extension, extension.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  if (extension == ".json") return WeightsFileFormat::kJson;
  if (extension == ".bin") return WeightsFileFormat::kBinary;
  if (std::ranges::find(kForeign, extension) == kForeign.end()) {
    return WeightsFileFormat::kSafetensors;
  }
  RefuseFile(path,
             "weights are written as safetensors, JSON (.json) or frugal's binary form (.bin)",
             "'" + extension + "' is another form", "name the file .safetensors");
}

std::int64_t WeightsFileBytes(WeightsFileFormat format, const std::vector<StoredTensor>& tensors,
                              const WeightMetadata& metadata) {
  switch (format) {
    case WeightsFileFormat::kJson:
      return MostJsonBytes(tensors, metadata);
    case WeightsFileFormat::kBinary:
      return BinaryBytes(tensors, metadata);
    default:
      return SafetensorsBytes(tensors, metadata);
  }
}

std::unique_ptr<WeightSource> OpenWeights(const std::string& path, WeightsFileFormat format) {
  switch (Decide(path, format)) {
    case WeightsFileFormat::kJson:
      return OpenJsonWeights(path);
    case WeightsFileFormat::kBinary:
      return OpenBinaryWeights(path);
    default:
      return OpenSafetensors(path);
  }
}

std::unique_ptr<WeightWriter> CreateWeights(const std::string& path, WeightsFileFormat format,
                                            std::vector<StoredTensor> tensors,
                                            const WeightMetadata& metadata) {
  switch (format) {
    case WeightsFileFormat::kJson:
      return CreateJsonWeights(path, std::move(tensors), metadata);
    case WeightsFileFormat::kBinary:
      return CreateBinaryWeights(path, std::move(tensors), metadata);
    default:
      return CreateSafetensors(path, std::move(tensors), metadata);
  }
}

}  // namespace frugal
