#include "builders/dry_run/checkpoint_policy.h"

#include <algorithm>

#include "layers/residual.h"

namespace frugal {
namespace {

// The lists directly inside a composite layer.
std::vector<Sequential*> ListsIn(Layer& layer) {
  if (auto* list = dynamic_cast<Sequential*>(&layer)) return {list};
  const auto* residual = dynamic_cast<const Residual*>(&layer);
  if (residual == nullptr) return {};
  std::vector<Sequential*> lists = {&residual->body()};
  if (residual->shortcut() != nullptr) lists.push_back(residual->shortcut());
  return lists;
}

class Cutter {
 public:
  Cutter(const CheckpointOptions& options, const SavedBytes& kept)
      : options_(options), kept_(kept) {}

  void Cut(Sequential& list) {
    CheckpointSegments segments;
    std::size_t run_begin = 0;
    const auto end_run = [&](std::size_t end) { CutRun(run_begin, end, segments); };
    for (std::size_t i = 0; i < list.size(); ++i) {
      Layer& layer = list.layer(i);
      const bool own_segment = IsOwnSegment(layer);
      if (!own_segment && !HoldsSegment(layer)) continue;
      end_run(i);
      run_begin = i + 1;
      if (own_segment) {
        segments.push_back({i, i + 1});
      } else {
        for (Sequential* inner : ListsIn(layer)) Cut(*inner);
      }
    }
    end_run(list.size());
    list.SetSegments(std::move(segments));
  }

  CheckpointSegments CutFlat(std::span<Layer* const> layers) const {
    CheckpointSegments segments;
    std::size_t run_begin = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (!IsOwnSegment(*layers[i])) continue;
      CutRun(run_begin, i, segments);
      segments.push_back({i, i + 1});
      run_begin = i + 1;
    }
    CutRun(run_begin, layers.size(), segments);
    return segments;
  }

 private:
  bool IsOwnSegment(const Layer& layer) const {
    if (options_.attention_layers && layer.kind() == LayerKind::kAttention) return true;
    if (options_.residual_blocks && layer.kind() == LayerKind::kResidual) return true;
    if (layer.kind() == LayerKind::kBlock &&
        (options_.attention_layers || options_.residual_blocks)) {
      return true;
    }
    if (!options_.saved_bytes_threshold) return false;
    const auto found = kept_.find(layer.path());
    return found != kept_.end() && found->second > *options_.saved_bytes_threshold;
  }

  bool HoldsSegment(Layer& layer) const {
    return std::ranges::any_of(ListsIn(layer), [&](const Sequential* list) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        if (IsOwnSegment(list->layer(i)) || HoldsSegment(list->layer(i))) return true;
      }
      return false;
    });
  }

  void CutRun(std::size_t begin, std::size_t end, CheckpointSegments& segments) const {
    const auto length = static_cast<std::size_t>(options_.every_n_layers);
    while (begin < end) {
      const std::size_t next = begin + std::min(length, end - begin);
      segments.push_back({begin, next});
      begin = next;
    }
  }

  const CheckpointOptions& options_;
  const SavedBytes& kept_;
};

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
  if (options.enabled) Cutter(options, kept).Cut(network);
}

CheckpointOptions CheckpointOptionsOf(const TrainingMemoryConfig& config) {
  return {.enabled = config.use_gradient_checkpointing,
          .every_n_layers = config.checkpoint_every_n_layers,
          .attention_layers = config.checkpoint_attention_layers,
          .residual_blocks = config.checkpoint_residual_blocks,
          .saved_bytes_threshold = config.high_activation_memory_threshold_bytes};
}

CheckpointSegments SegmentsOf(std::span<Layer* const> layers, const CheckpointOptions& options,
                              const SavedBytes& kept) {
  if (!options.enabled) return {};
  return Cutter(options, kept).CutFlat(layers);
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
