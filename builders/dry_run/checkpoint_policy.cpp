#include "builders/dry_run/checkpoint_policy.h"

#include <algorithm>

#include "layers/residual.h"

namespace frugal {
namespace {

// The lists directly inside a composite layer.
std::vector<Sequential*> ListsIn(Layer& layer) {
  if (layer.children().empty()) return {};
  if (auto* list = dynamic_cast<Sequential*>(&layer)) return {list};
  const auto* residual = dynamic_cast<const Residual*>(&layer);
  if (residual == nullptr) return {};
  std::vector<Sequential*> lists = {&residual->body()};
  if (residual->shortcut() != nullptr) lists.push_back(residual->shortcut());
  return lists;
}

bool IsAboveThreshold(const Layer& layer, const CheckpointOptions& options,
                      const SavedBytes& kept) {
  if (!options.saved_bytes_threshold) return false;
  const auto found = kept.find(layer.path());
  return found != kept.end() && found->second > *options.saved_bytes_threshold;
}

// Says how the layers of a tree run, which lies in one that runs once or not.
void SetRecomputeIn(Module& module, const CheckpointOptions& options, bool runs_once) {
  CheckpointOptions may_nest = options;
  if (auto* layer = dynamic_cast<Layer*>(&module)) {
    layer->set_recompute(Recompute::kWithOthers);
    const LayerKind kind = layer->kind();
    const bool attends = kind == LayerKind::kAttention;
    const bool is_block = kind == LayerKind::kResidual || kind == LayerKind::kBlock;
    if (attends && options.enabled && options.attention_layers == runs_once) {
      layer->set_recompute(runs_once ? Recompute::kAlways : Recompute::kNever);
    }
    if (is_block && options.enabled && !options.residual_blocks && !runs_once) {
      layer->set_recompute(Recompute::kNever);
      runs_once = true;
    }
    if (is_block && options.enabled && options.residual_blocks && options.nested_blocks) {
      layer->set_recompute(Recompute::kAlways);
      may_nest.nested_blocks = false;
    }
  }
  for (const Module::Child& child : module.children()) {
    SetRecomputeIn(*child.module, may_nest, runs_once);
  }
}

Sequential& ChainOf(Sequential& network) {
  if (network.size() != 1) return network;
  auto* only = dynamic_cast<Sequential*>(&network.layer(0));
  return only == nullptr ? network : ChainOf(*only);
}

void RemoveSegments(Sequential& list) {
  list.SetSegments({});
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (Sequential* inner : ListsIn(list.layer(i))) RemoveSegments(*inner);
  }
}

// Leaves of segments that cross the borders of Sequentials.
void NumberLeafSegments(const Sequential& list, std::map<std::string, int>& numbers) {
  const std::vector<Layer*> leaves = list.Leaves();
  for (std::size_t number = 0; number < list.segments().size(); ++number) {
    const CheckpointSegment& segment = list.segments()[number];
    for (std::size_t i = segment.begin; i < segment.end; ++i) {
      numbers[leaves[i]->path()] = static_cast<int>(number);
    }
  }
}

void NumberSegments(const Sequential& list, int& next, std::map<std::string, int>& numbers) {
  std::size_t segment = 0;
  const auto& segments = list.segments();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (segment < segments.size() && i >= segments[segment].begin) {
      numbers[list.layer(i).path()] = next;
      if (i + 1 == segments[segment].end) {
        ++segment;
        ++next;
      }
      continue;
    }
    for (const Sequential* inner : ListsIn(list.layer(i))) NumberSegments(*inner, next, numbers);
  }
}

}  // namespace

void SetCheckpointSegments(Sequential& network, const CheckpointOptions& options,
                           const SavedBytes& kept) {
  RemoveSegments(network);
  const std::vector<Layer*> layers = ChainLayers(network);
  SetRecompute(layers, options);
  ChainOf(network).SetSegments(RunsOf(layers, options, kept));
}

std::vector<Layer*> ChainLayers(Sequential& network) {
  const Sequential& list = ChainOf(network);
  std::vector<Layer*> layers;
  for (std::size_t i = 0; i < list.size(); ++i) layers.push_back(&list.layer(i));
  return layers;
}

void SetRecompute(std::span<Layer* const> layers, const CheckpointOptions& options) {
  for (Layer* layer : layers) SetRecomputeIn(*layer, options, false);
}

CheckpointSegments RunsOf(std::span<Layer* const> layers, const CheckpointOptions& options,
                          const SavedBytes& kept) {
  CheckpointSegments runs;
  if (!options.enabled) return runs;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool alone = IsAboveThreshold(*layers[i], options, kept);
    if (alone && begin < i) runs.push_back({begin, i});
    if (alone) begin = i;
    if (!alone && i + 1 - begin < static_cast<std::size_t>(options.every_n_layers)) continue;
    runs.push_back({begin, i + 1});
    begin = i + 1;
  }
  if (begin < layers.size()) runs.push_back({begin, layers.size()});
  return runs;
}

CheckpointOptions CheckpointOptionsOf(const TrainingMemoryConfig& config) {
  return {.enabled = config.use_gradient_checkpointing,
          .every_n_layers = config.checkpoint_every_n_layers,
          .attention_layers = config.checkpoint_attention_layers,
          .residual_blocks = config.checkpoint_residual_blocks,
          .saved_bytes_threshold = config.high_activation_memory_threshold_bytes};
}

std::map<std::string, int> SegmentNumbers(const Sequential& network) {
  std::map<std::string, int> numbers;
  int next = 0;
  if (network.cuts_leaves()) {
    NumberLeafSegments(network, numbers);
  } else {
    NumberSegments(network, next, numbers);
  }
  return numbers;
}

}  // namespace frugal
