#include "tests/style/include_rules.h"

#include <array>

namespace frugal::style {
namespace {

// The stack. A file may include its own folder and every folder of a lower level: two folders of
// one level never see each other. A file belongs to the longest of these that its path begins with.
struct Room {
  std::string_view directory;
  int level;
};
constexpr auto kRooms = std::to_array<Room>({
    {"sdk/core/", 0},
    {"sdk/memory/", 1},
    {"sdk/tensor/", 2},
    {"sdk/backend/", 3},
    {"sdk/comm/", 3},
    {"sdk/comm/process/", 4},
    {"sdk/comm/mpi/", 5},
    {"sdk/backend/common/", 4},
    {"sdk/backend/eigen/matmul/", 5},
    {"sdk/backend/eigen/elementwise/", 5},
    {"sdk/backend/eigen/loss/", 5},
    {"sdk/backend/eigen/optimizer/", 5},
    {"sdk/backend/eigen/array/", 6},
    {"sdk/backend/eigen/conv/", 6},
    {"sdk/backend/eigen/norm/", 6},
    {"sdk/backend/eigen/sequence/", 6},
    {"sdk/backend/eigen/", 7},
    {"sdk/backend/onednn/simd/vector/", 4},
    {"sdk/backend/onednn/simd/attention/", 5},
    {"sdk/backend/onednn/simd/winograd/", 6},
    {"sdk/backend/onednn/simd/amx/", 5},
    {"sdk/backend/onednn/simd/", 7},
    {"sdk/backend/onednn/operation/", 8},
    {"sdk/backend/onednn/gemm/", 9},
    {"sdk/backend/onednn/primitive/", 9},
    {"sdk/backend/onednn/attention/", 10},
    {"sdk/backend/onednn/conv/", 10},
    {"sdk/backend/onednn/elementwise/", 10},
    {"sdk/backend/onednn/matmul/", 10},
    {"sdk/backend/onednn/norm/", 10},
    {"sdk/backend/onednn/", 11},
    {"sdk/backend/machine/", 12},
    {"sdk/autograd/", 13},
    {"sdk/module/", 14},
    {"sdk/ops/support/", 15},
    {"sdk/ops/", 16},
    {"sdk/ops/losses/", 17},
    {"sdk/ops/norm/", 17},
    {"sdk/ops/spatial/", 17},
    {"sdk/ops/split/", 18},
    {"sdk/optim/", 18},
    {"sdk/data/", 18},
    {"sdk/io/", 18},
    {"sdk/io/paging/", 19},
    {"sdk/io/weights/", 19},
    {"sdk/io/snapshots/", 19},
    {"sdk/capture/calls/", 18},
    {"sdk/capture/", 20},
    {"sdk/capture/store/", 21},
    {"sdk/capture/verify/", 22},
    {"sdk/capture/profile/", 23},
    {"sdk/capture/recorder/", 19},
    {"sdk/diffusion/", 20},
    {"sdk/metrics/", 20},
    {"sdk/plan/", 20},
    {"sdk/train/", 21},
    {"layers/types/", 22},
    {"layers/", 23},
    {"layers/blocks/", 24},
    {"layers/joins/", 24},
    {"layers/blocks/streams/", 25},
    {"layers/architectures/unet/", 25},
    {"layers/architectures/", 26},
    {"presets/config/", 21},
    {"presets/", 22},
    {"builders/config/types/", 27},
    {"builders/config/", 28},
    {"builders/config/text/", 29},
    {"builders/setup/", 30},
    {"builders/dry_run/", 31},
    {"builders/budget/", 32},
    {"builders/plan/", 33},
    {"builders/execute/", 34},
    {"builders/snapshot/", 35},
    {"builders/memory_report/", 35},
    {"builders/run/", 36},
    {"builders/training_memory/", 37},
    {"builders/inference/", 37},
    {"builders/report/", 37},
    {"builders/capture/", 37},
    {"builders/reference/", 37},
    {"builders/report/rows/", 38},
    {"builders/report/json/", 39},
    {"builders/report/text/", 39},
    {"builders/report/html/", 40},
    {"builders/report/memory/", 41},
    {"builders/", 42},
    {"builders/cli/", 43},
    {"samples/", 44},
    {"tests/", 45},
});

// Headers of a library, by the start of their names, and the files that may include them.
struct Fence {
  std::string_view header;
  bool (*allows)(std::string_view path);
  std::string_view where;
};

bool IsSource(std::string_view path) { return path.ends_with(".cpp"); }
bool IsSourceOrTest(std::string_view path) { return IsSource(path) || path.starts_with("tests/"); }

bool InBackendPart(std::string_view path, std::string_view part) {
  constexpr std::string_view kBackend = "sdk/backend/";
  if (!path.starts_with(kBackend)) return false;
  return IsSource(path) || path.substr(kBackend.size()).starts_with(part);
}

bool MayUseToml(std::string_view path) { return path.starts_with("presets/config/"); }
bool MayUseEigen(std::string_view path) { return InBackendPart(path, "eigen/"); }
bool MayUseOneDnn(std::string_view path) { return InBackendPart(path, "onednn/"); }
bool MayUseSpdlog(std::string_view path) { return path == "sdk/core/log.cpp"; }
bool MayUseCatch(std::string_view path) { return path == "tests/catch.h"; }
bool MayUseOpenMp(std::string_view) { return false; }
bool MayUseCli(std::string_view path) { return path.starts_with("builders/cli/"); }

constexpr std::string_view kEigenPlace = "sdk/backend/**/*.cpp and sdk/backend/eigen/";
constexpr std::string_view kOneDnnPlace = "sdk/backend/**/*.cpp and sdk/backend/onednn/";
constexpr std::array<Fence, 13> kFences = {{
    {"toml++/", MayUseToml, "presets/config/"},
    {"Eigen/", MayUseEigen, kEigenPlace},
    {"unsupported/Eigen/", MayUseEigen, kEigenPlace},
    {"dnnl", MayUseOneDnn, kOneDnnPlace},
    {"oneapi/", MayUseOneDnn, kOneDnnPlace},
    {"spdlog/", MayUseSpdlog, "sdk/core/log.cpp"},
    {"fmt/", MayUseSpdlog, "sdk/core/log.cpp"},
    {"catch2/", MayUseCatch, "tests/catch.h (include \"tests/catch.h\" instead)"},
    {"nlohmann/", IsSourceOrTest, "*.cpp files and tests"},
    {"zlib.h", IsSource, "*.cpp files"},
    {"png.h", IsSource, "*.cpp files"},
    {"omp.h", MayUseOpenMp, "no file; threads come from sdk/core/threads.h"},
    {"CLI/", MayUseCli, "builders/cli/"},
}};

const Room* RoomOf(std::string_view path) {
  const Room* longest = nullptr;
  for (const Room& room : kRooms) {
    if (!path.starts_with(room.directory)) continue;
    if (longest == nullptr || room.directory.size() > longest->directory.size()) longest = &room;
  }
  return longest;
}

std::optional<std::string> FenceProblem(std::string_view path, std::string_view header) {
  for (const Fence& fence : kFences) {
    if (!header.starts_with(fence.header) || fence.allows(path)) continue;
    return std::string("<").append(header) + "> may be included only in " +
           std::string(fence.where);
  }
  return std::nullopt;
}

// Layers and the presets are apart, whatever their levels: builders bring them together. Layers
// describe their options by the fields of presets/config/.
bool AreApart(std::string_view path, std::string_view header) {
  const auto is_between = [&](std::string_view a, std::string_view b) {
    return path.starts_with(a) && header.starts_with(b);
  };
  if (header.starts_with("presets/config/")) return false;
  return is_between("layers/", "presets/") || is_between("presets/", "layers/");
}

// Folders that nobody but the backends looks into.
bool IsPrivateToBackend(std::string_view header) {
  return header.starts_with("sdk/backend/eigen/") || header.starts_with("sdk/backend/onednn/") ||
         header.starts_with("sdk/backend/common/");
}

}  // namespace

std::optional<std::string> IncludeProblem(std::string_view path, std::string_view header,
                                          bool quoted) {
  if (!quoted) return FenceProblem(path, header);
  const std::string name = std::string("\"").append(header) + "\"";
  const Room* from = RoomOf(path);
  const Room* to = RoomOf(header);
  if (to == nullptr) return name + " is not a path from the root of the repository";
  if (from == nullptr) return "this directory has no level in tests/style/include_rules.cpp";
  if (from == to) return std::nullopt;
  if (to->level >= from->level || AreApart(path, header)) {
    return name + " points up the stack: " + std::string(from->directory) +
           " lies below or beside " + std::string(to->directory);
  }
  if (IsPrivateToBackend(header) && !path.starts_with("sdk/backend/") &&
      !path.starts_with("tests/")) {
    return name + " is private to sdk/backend/";
  }
  return std::nullopt;
}

}  // namespace frugal::style
