#include "sdk/train/loss_registry.h"

#include <array>

namespace frugal {
namespace {

// In the order of LossKind.
constexpr auto kDocs = std::to_array<const char*>(
    {"The negative logarithm of the label's probability, by softmax.",
     "The mean of squared differences from the targets.",
     "The mean of absolute differences from the targets.",
     "Squared differences up to delta, a line beyond it.",
     "Binary cross entropy of each output, by the logistic function.",
     "Cross entropy in which rows count less that are right already.",
     "How far other classes come within a margin of the label's score.",
     "From the outputs' distribution to that of the targets.",
     "One less the cosine of the angle between output and target.",
     "How far the unlike sample comes within a margin of the like one.",
     "Of label sequences without times, over all ways to spread them over steps."});
static_assert(kDocs.size() == kLossKindCount);

std::vector<LossRow> BuiltInRows() {
  std::vector<LossRow> rows;
  for (std::size_t i = 0; i < kLossKindCount; ++i) {
    rows.push_back({.name = std::string(NameOf(static_cast<LossKind>(i))), .doc = kDocs[i]});
  }
  return rows;
}

}  // namespace

Registry<LossRow>& Losses() {
  static Registry<LossRow> losses("loss", BuiltInRows());
  return losses;
}

}  // namespace frugal
