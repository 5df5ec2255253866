#pragma once

#include <string>
#include <vector>

#include "layers/sequential.h"

// All U-Nets have this in common: which blocks are where, of which sizes, and which of them leave
// or take a skip (Ronneberger et al., arXiv:1505.04597; with residual blocks and attention: Ho et
// al., arXiv:2006.11239, appendix B).
namespace frugal::architectures {

// Skips travel at the end of the tuple: a layer may take the last one off, or append its output.
struct SkipUse {
  bool takes = false;
  bool leaves = false;
};

// Stage 0 has the largest images.
struct UNetSizes {
  std::string prefix{};  // of all paths: "encoder."
  std::vector<std::int64_t> channels{};
  std::vector<std::int64_t> layers{};  // residual blocks on the way down; up has one more
  std::vector<bool> down_attends{};
  std::vector<bool> up_attends{};  // on the way: the last stage first
  bool skips = true;
};

enum class UNetPart : std::uint8_t { kDown, kMiddle, kUp };

struct ResnetPlace {
  std::int64_t inputs = 0;  // with the skip's
  std::int64_t outputs = 0;
  UNetPart part = UNetPart::kDown;
  bool before_attention = false;
  SkipUse skips{};
};

struct AttentionPlace {
  std::int64_t channels = 0;
  std::size_t stage = 0;
  UNetPart part = UNetPart::kDown;
  SkipUse skips{};
};

struct DownsamplerPlace {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;  // other than the inputs in the Efficient U-Net only
  SkipUse skips{};
};

// Makes what a family puts in the places. A path is that of the public checkpoints' module.
class UNetParts {
 public:
  virtual ~UNetParts() = default;
  virtual void AppendResnet(Sequential& net, const std::string& path, const ResnetPlace&) const = 0;
  virtual void AppendAttention(Sequential& net, const std::string& path,
                               const AttentionPlace&) const = 0;
  virtual void AppendDownsampler(Sequential& net, const std::string& path,
                                 const DownsamplerPlace& place) const = 0;
  virtual void AppendUpsampler(Sequential& net, const std::string& path,
                               std::int64_t channels) const = 0;
};

enum class UNetMiddle : std::uint8_t {
  kNone,
  kOneResnet,
  kTwoResnets,
  kAttention,  // between two residual blocks
};

void AppendDown(Sequential& net, const UNetSizes& sizes, const UNetParts& parts);
void AppendMiddle(Sequential& net, const UNetSizes& sizes, const UNetParts& parts,
                  UNetMiddle middle);
void AppendUp(Sequential& net, const UNetSizes& sizes, const UNetParts& parts);

// The order of the Efficient U-Net (Saharia et al., arXiv:2205.11487, appendix B.1): on the way
// down a stage halves its images before its residual blocks, on the way up it doubles them behind
// its own, so that no block works at full size. Each way has as many blocks, and attention once,
// behind the last of them; each stage but the last leaves one skip.
void AppendEfficientDown(Sequential& net, const UNetSizes& sizes, const UNetParts& parts);
void AppendEfficientUp(Sequential& net, const UNetSizes& sizes, const UNetParts& parts);

// Throws ConfigError naming the family and the key unless there are stages, with channels.
void CheckStages(const char* family, const char* key, const std::vector<std::int64_t>& channels);
// Throws as CheckStages does for block_out_channels, and unless the norms' groups divide them.
void CheckNormedStages(const char* family, const std::vector<std::int64_t>& channels,
                       std::int64_t groups);

// Returns whether each entry of a list of block types is `with` attention rather than `plain`.
// Throws ConfigError naming the family and the key for other entries and another number of them.
std::vector<bool> AttendingStages(const char* family, const char* key,
                                  const std::vector<std::string>& types, std::size_t stages,
                                  const std::string& plain, const std::string& with);

// One number for all stages, or one for each; at least 1. Throws ConfigError as above.
std::vector<std::int64_t> PerStage(const char* family, const char* key,
                                   const std::vector<std::int64_t>& values, std::size_t stages);

// Throws ConfigError unless cross_attention_dim is the same for all stages.
void CheckSameWidth(const char* family, const std::vector<std::int64_t>& widths,
                    std::size_t stages);

// Returns by what height and width must be divisible: 2 for each stage but the last.
std::int64_t DownsamplingOf(std::size_t stages);

}  // namespace frugal::architectures
