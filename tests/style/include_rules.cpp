#include "tests/style/include_rules.h"

#include <algorithm>
#include <array>

namespace frugal::style {
namespace {

// The stack. A file may include its own room and every room of a lower level: two rooms of one
// level never see each other.
struct Room {
  std::string_view directory;
  int level;
};
constexpr std::array<Room, 18> kRooms = {{
    {"sdk/core/", 0},
    {"sdk/memory/", 1},
    {"sdk/tensor/", 2},
    {"sdk/backend/", 3},
    {"sdk/autograd/", 4},
    {"sdk/module/", 5},
    {"sdk/ops/", 6},
    {"sdk/optim/", 7},
    {"sdk/data/", 8},
    {"sdk/io/", 8},
    {"sdk/diffusion/", 9},
    {"sdk/plan/", 9},
    {"sdk/train/", 10},
    {"layers/", 11},
    {"presets/", 11},
    {"builders/", 12},
    {"samples/", 13},
    {"tests/", 14},
}};

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

bool MayUseToml(std::string_view path) { return path.starts_with("presets/"); }
bool MayUseEigen(std::string_view path) { return InBackendPart(path, "eigen/"); }
bool MayUseOneDnn(std::string_view path) { return InBackendPart(path, "onednn/"); }
bool MayUseSpdlog(std::string_view path) { return path == "sdk/core/log.cpp"; }
bool MayUseCatch(std::string_view path) { return path == "tests/catch.h"; }
bool MayUseOpenMp(std::string_view) { return false; }
bool MayUseCli(std::string_view path) { return path.starts_with("samples/"); }

constexpr std::string_view kEigenPlace = "sdk/backend/**/*.cpp and sdk/backend/eigen/";
constexpr std::string_view kOneDnnPlace = "sdk/backend/**/*.cpp and sdk/backend/onednn/";
constexpr std::array<Fence, 13> kFences = {{
    {"toml++/", MayUseToml, "presets/"},
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
    {"CLI/", MayUseCli, "samples/"},
}};

const Room* RoomOf(std::string_view path) {
  const auto room = std::find_if(kRooms.begin(), kRooms.end(), [&](const Room& candidate) {
    return path.starts_with(candidate.directory);
  });
  return room == kRooms.end() ? nullptr : &*room;
}

std::optional<std::string> FenceProblem(std::string_view path, std::string_view header) {
  for (const Fence& fence : kFences) {
    if (!header.starts_with(fence.header) || fence.allows(path)) continue;
    return std::string("<").append(header) + "> may be included only in " +
           std::string(fence.where);
  }
  return std::nullopt;
}

bool IsPrivateToBackend(std::string_view header) {
  return header.starts_with("sdk/backend/eigen/") || header.starts_with("sdk/backend/onednn/");
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
  if (to->level >= from->level) {
    return name + " points up the stack: " + std::string(from->directory) +
           " lies below or beside " + std::string(to->directory);
  }
  if (IsPrivateToBackend(header) && !path.starts_with("tests/")) {
    return name + " is private to sdk/backend/";
  }
  return std::nullopt;
}

}  // namespace frugal::style
