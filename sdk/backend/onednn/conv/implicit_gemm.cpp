#include "sdk/backend/onednn/conv/implicit_gemm.h"

#include <algorithm>
#include <array>
#include <vector>

#include "sdk/backend/backend.h"
#include "sdk/backend/common/cpu_features.h"
#include "sdk/backend/common/parallel.h"
#include "sdk/backend/onednn/conv/conv_windows.h"
#include "sdk/backend/onednn/simd/amx/conv_panels.h"
#include "sdk/core/threads.h"

namespace frugal::onednn {
namespace {

using simd::kAmxBlock;
using simd::Whole;
using simd::WholeBlocks;

constexpr std::int64_t kMostRows = 512;  // positions at a time
constexpr std::int64_t kBlockSize = kAmxBlock * kAmxBlock;

std::int64_t Count(std::int64_t size, std::int64_t piece) { return (size + piece - 1) / piece; }

// Places of the window that are multiplied at once: their channels are a depth of about 768.
std::int64_t PlacesOfChunk(std::int64_t channels) {
  return std::max<std::int64_t>(1, 768 / Whole(channels));
}

// Some places of a part, and the panels of the weight for them.
struct Chunk {
  std::int64_t first, count;
  std::int64_t at;  // where the panels begin
};
// A place lies at `at` in the first panel, and `panel_step` further in each next one.
struct PackedPlace {
  std::int64_t at, panel_step;
};
// Some positions of a part.
struct Task {
  std::size_t part;
  std::int64_t row, count;
};

class ImplicitGemm final : public Operation {
 public:
  explicit ImplicitGemm(const ConvDescription& d)
      : d_(d),
        forward_(d.pass == Pass::kForward),
        channels_(forward_ ? d.geometry.input_channels : d.geometry.output_channels),
        columns_(forward_ ? d.geometry.output_channels : d.geometry.input_channels),
        parts_(forward_ ? OutputParts(d.geometry) : InputParts(d.geometry)),
        packed_places_(static_cast<std::size_t>(d.geometry.window.KernelSize())) {
    for (const WindowPart& part : parts_) CutPlaces(part);
    for (std::size_t i = 0; i < parts_.size(); ++i) CutPositions(i);
    for (const Task& task : tasks_) rows_ = std::max(rows_, Whole(task.count));
  }

  // [panels of the weight][for each thread: panels of what windows read, then sums]
  std::int64_t ScratchBytes() const override {
    return 2 * weight_size_ + ThreadCount() * BytesPerThread();
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    const auto find = [&](Slot slot) { return DataOf(arguments, slot); };
    source_ =
        static_cast<const BFloat16*>(find(forward_ ? Slot::kSource : Slot::kDestinationGradient));
    result_ = static_cast<BFloat16*>(find(forward_ ? Slot::kDestination : Slot::kSourceGradient));
    bias_ = d_.bias ? static_cast<const float*>(find(Slot::kBias)) : nullptr;
    weight_ = static_cast<BFloat16*>(scratch);
    char* const own = static_cast<char*>(scratch) + 2 * weight_size_;
    PackWeight(static_cast<const float*>(find(Slot::kWeight)));
    const auto tasks = static_cast<std::int64_t>(tasks_.size());
    SharedTasks shared(tasks, 1);
    RunTeam(tasks > 1 ? 0 : 1, [&] {
      char* const mine = own + ThreadNumber() * BytesPerThread();
      shared.Work([&](std::int64_t i) { Compute(tasks_[static_cast<std::size_t>(i)], mine); });
    });
  }

 private:
  // Elements of a place in a panel of the weight.
  std::int64_t PlaceSize() const { return Whole(channels_) * kAmxBlock; }
  std::int64_t BytesPerThread() const { return rows_ * (2 * depth_ + 4 * Whole(columns_)); }

  void CutPlaces(const WindowPart& part) {
    const auto places = static_cast<std::int64_t>(part.places.size());
    const std::int64_t chunks = Count(places, PlacesOfChunk(channels_));
    std::vector<Chunk>& cut = chunks_.emplace_back();
    for (std::int64_t i = 0; i < chunks; ++i) {
      const std::int64_t first = i * places / chunks, count = (i + 1) * places / chunks - first;
      cut.push_back({first, count, weight_size_});
      for (std::int64_t p = 0; p < count; ++p) {
        const WindowPlace& place = part.places[static_cast<std::size_t>(first + p)];
        packed_places_[static_cast<std::size_t>(place.number)] = {weight_size_ + p * PlaceSize(),
                                                                  count * PlaceSize()};
      }
      weight_size_ += count * PlaceSize() * WholeBlocks(columns_);
      depth_ = std::max(depth_, count * Whole(channels_));
    }
  }

  // So many positions at a time that what they read and their sums fill 1 MB of the second cache,
  // and a number of pieces that threads can share evenly.
  void CutPositions(std::size_t part) {
    constexpr std::int64_t kBytes = 1 << 20;
    const std::int64_t positions = parts_[part].Positions(d_.geometry.window.batch);
    if (positions == 0) return;
    const std::int64_t fit = kBytes / (2 * depth_ + 4 * Whole(columns_));
    const std::int64_t most = std::clamp(fit, kAmxBlock, kMostRows);
    const std::int64_t pieces = Count(Count(positions, most), ThreadCount()) * ThreadCount();
    const std::int64_t rows = std::min(kMostRows, Whole(Count(positions, pieces)));
    for (std::int64_t row = 0; row < positions; row += rows) {
      tasks_.push_back({part, row, std::min(rows, positions - row)});
    }
  }

  // A panel is 32 columns of the result.
  void PackWeight(const float* weight) const {
    const std::int64_t blocks = WholeBlocks(channels_);
    eigen::ParallelFor(WholeBlocks(columns_) * blocks, 4, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) PackBlocks(weight, i / blocks, i % blocks);
    });
  }

  // Packs a block of the panel, 32 channels at all places.
  void PackBlocks(const float* weight, std::int64_t panel, std::int64_t block) const {
    const auto places = static_cast<std::int64_t>(packed_places_.size());
    const std::int64_t step = places * d_.geometry.input_channels;  // of the outputs
    const std::int64_t row = forward_ ? places : step, column = forward_ ? step : places;
    const std::int64_t channel = block * kAmxBlock, first = panel * kAmxBlock;
    std::array<BFloat16*, simd::kPointsAtOnce> to;
    for (std::int64_t place = 0; place < places; place += simd::kPointsAtOnce) {
      const std::int64_t taken = std::min(simd::kPointsAtOnce, places - place);
      for (std::int64_t i = 0; i < taken; ++i) {
        const PackedPlace& packed = packed_places_[static_cast<std::size_t>(place + i)];
        to[static_cast<std::size_t>(i)] =
            weight_ + packed.at + panel * packed.panel_step + block * kBlockSize;
      }
      simd::PackRightBlocks({weight + channel * row + first * column + place, row, column,
                             std::min(kAmxBlock, channels_ - channel),
                             std::min(kAmxBlock, columns_ - first), places, taken},
                            to.data());
    }
  }

  const WindowPlace& PlaceOf(std::size_t part, const Chunk& chunk, std::int64_t i) const {
    return parts_[part].places[static_cast<std::size_t>(chunk.first + i)];
  }

  void Compute(const Task& task, char* own) const {
    const simd::AmxSession session;
    auto* const left = reinterpret_cast<BFloat16*>(own);
    auto* const sums = reinterpret_cast<float*>(own + 2 * rows_ * depth_);
    const std::int64_t rows = Whole(task.count);
    if (chunks_[task.part].empty()) std::fill_n(sums, rows * Whole(columns_), 0.0f);
    for (const Chunk& chunk : chunks_[task.part]) {
      Gather(task, chunk, left);
      Multiply(chunk, rows, chunk.first > 0, left, sums);
    }
    Write(task, sums);
  }

  // Panels of 32 positions, [places][channels / 32] blocks each.
  void Gather(const Task& task, const Chunk& chunk, BFloat16* left) const {
    std::array<const BFloat16*, kMostRows> rows;
    for (std::int64_t i = 0; i < chunk.count; ++i, left += PlaceSize()) {
      Im2colIterator walk(parts_[task.part].source, task.row);
      const Spatial& offset = PlaceOf(task.part, chunk, i).offset;
      for (std::int64_t r = 0; r < task.count; ++r, walk.Next()) {
        rows[static_cast<std::size_t>(r)] = walk.Find(source_, offset);
      }
      simd::GatherLeftPanels({rows.data(), task.count, channels_}, chunk.count * PlaceSize(), left);
    }
  }

  // Each panel of the weight stays in the first cache, and the next one comes nearer.
  void Multiply(const Chunk& chunk, std::int64_t rows, bool accumulate, const BFloat16* left,
                float* sums) const {
    const std::int64_t panel = chunk.count * PlaceSize(), panels = WholeBlocks(columns_);
    const BFloat16* right = weight_ + chunk.at;
    for (std::int64_t i = 0; i < panels; ++i, right += panel, sums += rows * kAmxBlock) {
      simd::MultiplyPanels(
          {.left = left,
           .right = right,
           .depth = chunk.count * Whole(channels_),
           .c = sums,
           .c_row = kAmxBlock,
           .rows = rows,
           .columns = kAmxBlock,
           .accumulate = accumulate,
           .soon = {right + panel, kAmxBlock, i + 1 < panels ? panel / kAmxBlock : 0, kAmxBlock}});
    }
  }

  void Write(const Task& task, const float* sums) const {
    std::array<BFloat16*, kMostRows> rows;
    Im2colIterator walk(parts_[task.part].result, task.row);
    for (std::int64_t r = 0; r < task.count; ++r, walk.Next()) {
      rows[static_cast<std::size_t>(r)] = walk.Find(result_, parts_[task.part].first);
    }
    simd::WriteSummedRows({sums, Whole(task.count), task.count, columns_, bias_,
                           d_.epilogue.activation == Activation::kRelu, rows.data()});
  }

  ConvDescription d_;
  bool forward_;
  std::int64_t channels_, columns_;  // of what is read, of the result
  std::vector<WindowPart> parts_;
  std::vector<PackedPlace> packed_places_;  // of the window, by their numbers
  std::vector<std::vector<Chunk>> chunks_;  // of each part
  std::vector<Task> tasks_;
  std::int64_t weight_size_ = 0;  // elements
  std::int64_t depth_ = 0;        // of the largest chunk
  std::int64_t rows_ = 0;         // of the largest task
  // Run() sets these.
  const BFloat16* source_ = nullptr;
  BFloat16* result_ = nullptr;
  const float* bias_ = nullptr;
  BFloat16* weight_ = nullptr;
};

}  // namespace

std::unique_ptr<Operation> MakeImplicitGemm(const ConvDescription& d) {
  const Activation activation = d.epilogue.activation;
  const bool fused = activation == Activation::kIdentity || activation == Activation::kRelu;
  const bool ours = d.pass != Pass::kBackwardWeight && d.dtype == DType::kBF16 && fused &&
                    d.geometry.groups == 1 && simd::HasAmxBf16();
  return ours ? std::make_unique<ImplicitGemm>(d) : nullptr;
}

bool ImplicitGemmPays(const ConvDescription& d) {
  const WindowGeometry& w = d.geometry.window;
  const bool forward = d.pass == Pass::kForward, steps = w.stride[1] > 1 || w.stride[2] > 1;
  const std::int64_t inputs = d.geometry.input_channels, outputs = d.geometry.output_channels;
  const std::int64_t channels = std::min(inputs, outputs);
  if (!forward && steps) return channels >= 64;
  if (channels < 128 || w.batch * w.OutputSize() < 96) return false;
  const std::int64_t width = w.output[2];
  const bool large = inputs * outputs * w.KernelSize() >= 1 << 20;
  return width <= 4 || (width <= 8 && (large || (steps && w.KernelSize() > 1)));
}

}  // namespace frugal::onednn
