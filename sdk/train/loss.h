#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sdk/ops/loss.h"

namespace frugal {

enum class LossKind : std::uint8_t {
  kCrossEntropy,
  kMse,
  kL1,
  kHuber,
  kBceWithLogits,
  kFocal,         // alpha (1 - p)^gamma (-log p), p that of the label (arXiv:1708.02002)
  kHinge,         // PyTorch's MultiMarginLoss
  kKlDivergence,  // of distributions from softmax(output): PyTorch's KLDivLoss, "batchmean"
  kCosine,        // 1 - cosine similarity of each row of output with that of the targets
  kTriplet,       // PyTorch's TripletMarginLoss; output [N, 3, D]: anchor, like, unlike
  kCtc,           // PyTorch's CTCLoss, "mean"; output [N, T, C], labels [N, L]
};
inline constexpr std::size_t kLossKindCount = 11;
std::string_view NameOf(LossKind kind);  // "cross_entropy", "mse", "l1", "huber", ...

// A loss of a program's own: makes a scalar [1] of the network's output and a batch's targets,
// which are labels (kI64) or values.
using LossFunction = std::function<Var(Context&, const Var& output, const Tensor& targets)>;

struct LossOptions {
  LossKind kind = LossKind::kCrossEntropy;
  double label_smoothing = 0;  // cross entropy
  std::int64_t ignore_index = -100;
  double delta = 1;         // huber
  LossFunction function{};  // where there is one, `kind` says nothing
  std::string name{};       // of the function, where it is registered (loss_registry.h)
  // Cross entropy, focal: one for each class, or none. The mean divides by the sum of the weights
  // of the labels that count.
  std::vector<double> class_weights{};
  double gamma = 2;            // focal: how much less rows count that are right already
  double alpha = 1;            // focal: a factor
  double margin = 1;           // hinge, triplet
  std::int64_t blank = 0;      // ctc: the class that says nothing; ignore_index pads labels
  bool zero_infinity = false;  // ctc: samples of more labels than steps count 0
};

// Says what a loss compares outputs with.
enum class LossTargets : std::uint8_t { kLabels, kValues, kNothing };
LossTargets TargetsOf(LossKind kind);
// Returns true where its targets are class labels (kI64 [N]) rather than values.
bool TakesLabels(LossKind kind);
// Returns true where a row of outputs is a vote for the row's label, so that there is an accuracy.
bool VotesForLabels(const LossOptions& options);
// Returns true where each sample counts alike in a batch's mean. Others leave out labels or weigh
// them, so that parts of a batch would have to know of each other.
bool CountsSamplesAlike(const LossOptions& options);
// Returns true where the loss is LinearCrossEntropy's, which can take over a last projection.
bool IsPlainCrossEntropy(const LossOptions& options);
std::string NameOf(const LossOptions& options);

// A scalar [1], the mean over the batch; with sample weights [N] the mean of weight times loss.
// Throws UsageError where a loss of the program's own, which does not see them, gets weights.
Var ComputeLoss(Context& context, const LossOptions& options, const Var& output,
                const Tensor& targets, const Tensor& sample_weights = {});

}  // namespace frugal
