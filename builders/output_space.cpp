#include "builders/output_space.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <limits>

#include "builders/execute/weights.h"
#include "sdk/core/byte_size.h"
#include "sdk/io/output_path.h"
#include "sdk/io/weights/open_weights.h"

namespace frugal {
namespace {

constexpr std::int64_t kAllowancePerStep = 100;
constexpr std::int64_t kAllowancePerEpoch = 256;
constexpr std::int64_t kAllowancePerLayer = 1024;
constexpr std::int64_t kStatBlock = 512;  // the unit of stat's st_blocks

// A file that is replaced gives its space back, unless it has other names.
std::int64_t BytesGivenBack(const std::filesystem::path& file) {
  struct stat facts = {};
  if (::stat(file.c_str(), &facts) != 0 || facts.st_nlink > 1) return 0;
  return facts.st_blocks * kStatBlock;
}

}  // namespace

OutputBytes OutputBytesOf(const PlannedTraining& planned) {
  const EpochSchedule& schedule = planned.schedule;
  const std::int64_t epochs = schedule.total_steps / schedule.steps_per_epoch + 1;
  const std::int64_t allowance = kBytesPerMegabyte + kAllowancePerStep * schedule.total_steps +
                                 kAllowancePerEpoch * epochs +
                                 kAllowancePerLayer * std::ssize(planned.plan.layers);
  OutputBytes bytes = {.weights = 0, .report = allowance, .summary = allowance};
  if (const std::optional<std::string>& path = planned.config.output.weights) {
    bytes.weights = WeightsFileBytes(
        FormatToWrite(*path), StoredTensorsOf(planned.parameters, MasterType(planned.dtype())),
        planned.metadata);
  }
  return bytes;
}

std::optional<std::int64_t> OutputSpace::Take(const std::string& path, std::int64_t bytes) {
  const std::filesystem::path file = ResolveOutput(path);
  struct stat facts = {};
  struct statvfs space = {};
  const std::string directory = DirectoryOf(file).string();
  if (::stat(directory.c_str(), &facts) != 0 || ::statvfs(directory.c_str(), &space) != 0 ||
      space.f_blocks == 0) {
    return std::nullopt;
  }
  const auto block = static_cast<std::int64_t>(space.f_frsize);
  const auto found =
      free_.try_emplace(facts.st_dev, static_cast<std::int64_t>(space.f_bavail) * block).first;
  std::int64_t& free = found->second;
  if (bytes > free - free % block) return free;
  free += BytesGivenBack(file) - (bytes + block - 1) / block * block;
  return std::nullopt;
}

std::optional<std::int64_t> FileSizeLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  constexpr rlim_t kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min(limit.rlim_cur, kMost));
}

}  // namespace frugal
