#include "sdk/io/weights/detect_format.h"

#include <algorithm>
#include <array>

#include "sdk/io/weights/binary_table.h"

namespace frugal {
namespace {

using namespace std::string_view_literals;

bool IsSpace(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

// JSON text has no control characters but white space, while the length with which safetensors
// begins always has zero bytes in its upper half: the header is limited to 100,000,000 bytes.
bool LooksLikeJson(std::string_view beginning) {
  const std::string_view first = beginning.substr(0, 8);
  const auto is_control = [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 && !IsSpace(letter);
  };
  if (std::ranges::any_of(first, is_control)) return false;
  if (beginning.starts_with("\xEF\xBB\xBF")) beginning.remove_prefix(3);  // byte order mark
  const auto start = std::ranges::find_if_not(beginning, IsSpace);
  return start == beginning.end() || *start == '{' || *start == '[';
}

struct Signature {
  std::string_view bytes;
  std::string_view kind;
};
constexpr std::array<Signature, 7> kForeign = {{
    {"PK\x03\x04"sv, "a zip archive, perhaps a PyTorch checkpoint"sv},
    {"\x80\x02"sv, "a Python pickle, perhaps a PyTorch checkpoint"sv},
    {"GGUF"sv, "a GGUF file"sv},
    {"\x89HDF"sv, "an HDF5 file"sv},
    {"\x93NUMPY"sv, "a NumPy array"sv},
    {"\x1f\x8b"sv, "gzip-compressed"sv},
    {"version https://"sv, "a Git LFS pointer, not the weights themselves"sv},
}};

}  // namespace

WeightsFileFormat DetectFormat(std::string_view beginning) {
  if (beginning.starts_with(kBinaryWeightsMagic)) return WeightsFileFormat::kBinary;
  if (LooksLikeJson(beginning)) return WeightsFileFormat::kJson;
  if (beginning.size() > 8 && beginning[8] == '{') return WeightsFileFormat::kSafetensors;
  return WeightsFileFormat::kAuto;
}

std::string_view ForeignKind(std::string_view beginning) {
  for (const Signature& signature : kForeign) {
    if (beginning.starts_with(signature.bytes)) return signature.kind;
  }
  return {};
}

}  // namespace frugal
