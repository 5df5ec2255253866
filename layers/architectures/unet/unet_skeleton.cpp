#include "layers/architectures/unet/unet_skeleton.h"

#include <algorithm>

#include "layers/blocks/parts.h"
#include "sdk/core/error.h"

namespace frugal::architectures {
namespace {

std::string StagePath(const UNetSizes& sizes, const char* blocks, std::size_t number) {
  return sizes.prefix + blocks + "." + std::to_string(number) + ".";
}

[[noreturn]] void Refuse(const char* family, const std::string& key, const std::string& required,
                         const std::string& given) {
  throw ConfigError({.where = std::string(family) + "." + key,
                     .required = required,
                     .given = given,
                     .advice = "give the list as its publication has it"});
}

}  // namespace

void AppendDown(Sequential& net, const UNetSizes& sizes, const UNetParts& parts) {
  std::int64_t inputs = sizes.channels[0];
  for (std::size_t stage = 0; stage < sizes.channels.size(); ++stage) {
    const std::string path = StagePath(sizes, "down_blocks", stage);
    const std::int64_t channels = sizes.channels[stage];
    const bool attends = sizes.down_attends[stage];
    for (std::int64_t i = 0; i < sizes.layers[stage]; ++i) {
      parts.AppendResnet(net, path + "resnets." + std::to_string(i),
                         {.inputs = inputs,
                          .outputs = channels,
                          .before_attention = attends,
                          .skips = {.leaves = sizes.skips && !attends}});
      inputs = channels;
      if (!attends) continue;
      parts.AppendAttention(
          net, path + "attentions." + std::to_string(i),
          {.channels = channels, .stage = stage, .skips = {.leaves = sizes.skips}});
    }
    if (stage + 1 == sizes.channels.size()) break;
    parts.AppendDownsampler(
        net, path + "downsamplers.0",
        {.inputs = channels, .outputs = channels, .skips = {.leaves = sizes.skips}});
  }
}

void AppendMiddle(Sequential& net, const UNetSizes& sizes, const UNetParts& parts,
                  UNetMiddle middle) {
  if (middle == UNetMiddle::kNone) return;
  const std::string path = sizes.prefix + "mid_block.";
  const std::int64_t channels = sizes.channels.back();
  const bool attends = middle == UNetMiddle::kAttention;
  const ResnetPlace resnet{.inputs = channels,
                           .outputs = channels,
                           .part = UNetPart::kMiddle,
                           .before_attention = attends};
  parts.AppendResnet(net, path + "resnets.0", resnet);
  if (middle == UNetMiddle::kOneResnet) return;
  if (attends) {
    parts.AppendAttention(
        net, path + "attentions.0",
        {.channels = channels, .stage = sizes.channels.size() - 1, .part = UNetPart::kMiddle});
  }
  parts.AppendResnet(net, path + "resnets.1", resnet);
}

// A stage takes the skips of the same stage on the way down, the last first, and then what that
// stage got from the one above it.
void AppendUp(Sequential& net, const UNetSizes& sizes, const UNetParts& parts) {
  std::int64_t inputs = sizes.channels.back();
  for (std::size_t stage = sizes.channels.size(); stage-- > 0;) {
    const std::size_t number = sizes.channels.size() - 1 - stage;
    const std::string path = StagePath(sizes, "up_blocks", number);
    const bool attends = sizes.up_attends[number];
    const std::int64_t channels = sizes.channels[stage];
    const std::int64_t before = sizes.channels[stage > 0 ? stage - 1 : 0];
    for (std::int64_t i = 0; i <= sizes.layers[stage]; ++i) {
      const std::int64_t skip = i == sizes.layers[stage] ? before : channels;
      parts.AppendResnet(net, path + "resnets." + std::to_string(i),
                         {.inputs = inputs + (sizes.skips ? skip : 0),
                          .outputs = channels,
                          .part = UNetPart::kUp,
                          .before_attention = attends,
                          .skips = {.takes = sizes.skips}});
      inputs = channels;
      if (!attends) continue;
      parts.AppendAttention(net, path + "attentions." + std::to_string(i),
                            {.channels = channels, .stage = stage, .part = UNetPart::kUp});
    }
    if (stage > 0) parts.AppendUpsampler(net, path + "upsamplers.0", channels);
  }
}

void AppendEfficientDown(Sequential& net, const UNetSizes& sizes, const UNetParts& parts) {
  std::int64_t inputs = sizes.channels[0];
  for (std::size_t stage = 0; stage < sizes.channels.size(); ++stage) {
    const std::string path = StagePath(sizes, "down_blocks", stage);
    const std::int64_t channels = sizes.channels[stage];
    const bool attends = sizes.down_attends[stage];
    const SkipUse skips{.leaves = stage + 1 < sizes.channels.size()};
    parts.AppendDownsampler(net, path + "downsamplers.0", {.inputs = inputs, .outputs = channels});
    inputs = channels;
    for (std::int64_t i = 0; i < sizes.layers[stage]; ++i) {
      const bool ends = i + 1 == sizes.layers[stage] && !attends;
      parts.AppendResnet(net, path + "resnets." + std::to_string(i),
                         {.inputs = channels,
                          .outputs = channels,
                          .before_attention = attends,
                          .skips = ends ? skips : SkipUse{}});
    }
    if (!attends) continue;
    parts.AppendAttention(net, path + "attentions.0",
                          {.channels = channels, .stage = stage, .skips = skips});
  }
}

void AppendEfficientUp(Sequential& net, const UNetSizes& sizes, const UNetParts& parts) {
  std::int64_t inputs = sizes.channels.back();
  for (std::size_t stage = sizes.channels.size(); stage-- > 0;) {
    const std::size_t number = sizes.channels.size() - 1 - stage;
    const std::string path = StagePath(sizes, "up_blocks", number);
    const std::int64_t channels = sizes.channels[stage];
    for (std::int64_t i = 0; i < sizes.layers[stage]; ++i) {
      const bool takes = i == 0 && number > 0;
      parts.AppendResnet(net, path + "resnets." + std::to_string(i),
                         {.inputs = inputs + (takes ? channels : 0),
                          .outputs = channels,
                          .part = UNetPart::kUp,
                          .before_attention = sizes.up_attends[number],
                          .skips = {.takes = takes}});
      inputs = channels;
    }
    if (sizes.up_attends[number]) {
      parts.AppendAttention(net, path + "attentions.0",
                            {.channels = channels, .stage = stage, .part = UNetPart::kUp});
    }
    parts.AppendUpsampler(net, path + "upsamplers.0", channels);
  }
}

void CheckStages(const char* family, const char* key, const std::vector<std::int64_t>& channels) {
  constexpr std::size_t kMost = 16;
  if (channels.empty() || channels.size() > kMost) {
    Refuse(family, key, "1 to " + std::to_string(kMost) + " stages",
           std::to_string(channels.size()) + " stages");
  }
  for (const std::int64_t one : channels) CheckAtLeast(family, key, one);
}

void CheckNormedStages(const char* family, const std::vector<std::int64_t>& channels,
                       std::int64_t groups) {
  CheckStages(family, "block_out_channels", channels);
  for (const std::int64_t one : channels) {
    CheckDivides(family, "norm_num_groups", groups, one, "the channels of each stage");
  }
}

std::vector<bool> AttendingStages(const char* family, const char* key,
                                  const std::vector<std::string>& types, std::size_t stages,
                                  const std::string& plain, const std::string& with) {
  if (types.size() != stages) {
    Refuse(family, key,
           "one entry for each of the " + std::to_string(stages) + " block_out_channels",
           std::to_string(types.size()) + " entries");
  }
  std::vector<bool> attending;
  for (const std::string& type : types) {
    if (type != plain && type != with) {
      Refuse(family, key, "entries are '" + plain + "' or '" + with + "'", "'" + type + "'");
    }
    attending.push_back(type == with);
  }
  return attending;
}

std::vector<std::int64_t> PerStage(const char* family, const char* key,
                                   const std::vector<std::int64_t>& values, std::size_t stages) {
  for (const std::int64_t value : values) CheckAtLeast(family, key, value);
  if (values.size() == 1) return std::vector<std::int64_t>(stages, values[0]);
  if (values.size() == stages) return values;
  Refuse(family, key,
         "one number, or one for each of the " + std::to_string(stages) + " block_out_channels",
         std::to_string(values.size()) + " numbers");
}

void CheckSameWidth(const char* family, const std::vector<std::int64_t>& widths,
                    std::size_t stages) {
  for (const std::int64_t width : PerStage(family, "cross_attention_dim", widths, stages)) {
    if (width == widths[0]) continue;
    Refuse(family, "cross_attention_dim", "one width, as all stages attend to one context",
           std::to_string(widths[0]) + " and " + std::to_string(width));
  }
}

std::int64_t DownsamplingOf(std::size_t stages) { return std::int64_t{1} << (stages - 1); }

}  // namespace frugal::architectures
