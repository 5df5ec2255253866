#include "sdk/backend/onednn/matmul/column_blocks.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "sdk/backend/onednn/matmul/no_copy_gemm.h"

namespace frugal::onednn {
namespace {

class ColumnBlocks final : public Operation {
 public:
  // `last` is for what kColumnBlock leaves over, else nullptr.
  ColumnBlocks(const LinearDescription& d, std::unique_ptr<Operation> block,
               std::unique_ptr<Operation> last)
      : d_(d), block_(std::move(block)), last_(std::move(last)) {}

  std::int64_t ScratchBytes() const override {
    return std::max(block_->ScratchBytes(), last_ ? last_->ScratchBytes() : 0);
  }

  void Run(std::initializer_list<Argument> arguments, void* scratch) override {
    for (std::int64_t first = 0; first < d_.outputs; first += kColumnBlock) {
      Operation& operation = d_.outputs - first < kColumnBlock ? *last_ : *block_;
      const auto at = [&](Slot slot, std::int64_t elements) -> void* {
        auto* const data = static_cast<float*>(DataOf(arguments, slot));
        return data == nullptr ? nullptr : data + elements;
      };
      operation.Run({{Slot::kSource, at(Slot::kSource, 0)},
                     {Slot::kWeight, at(Slot::kWeight, first * d_.inputs)},
                     {Slot::kBias, at(Slot::kBias, first)},
                     {Slot::kResidual, at(Slot::kResidual, first)},
                     {Slot::kDestination, at(Slot::kDestination, first)}},
                    scratch);
    }
  }

 private:
  LinearDescription d_;
  std::unique_ptr<Operation> block_, last_;
};

}  // namespace

std::unique_ptr<Operation> MakeColumnBlocks(
    const LinearDescription& d,
    const std::function<std::unique_ptr<Operation>(const LinearDescription&)>& make) {
  assert(d.layout == WeightLayout::kOutIn && d.outputs >= kColumnBlock);
  LinearDescription block = d;
  block.row_width = d.RowWidth();
  block.outputs = kColumnBlock;
  auto most = make(block);
  if (most == nullptr) return nullptr;
  block.outputs = d.outputs % kColumnBlock;
  if (block.outputs == 0) return std::make_unique<ColumnBlocks>(d, std::move(most), nullptr);
  auto last = make(block);
  if (last == nullptr) return nullptr;
  return std::make_unique<ColumnBlocks>(d, std::move(most), std::move(last));
}

}  // namespace frugal::onednn
