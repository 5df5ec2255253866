#include "builders/reference/kind_docs.h"

#include <array>

#include "sdk/optim/optimizer_registry.h"

namespace frugal {
namespace {

struct KindDoc {
  std::string_view section;
  std::string_view kind;
  std::string_view doc;
};

constexpr auto kDocs = std::to_array<KindDoc>({
    {"loss", "cross_entropy", "The negative logarithm of the label's probability, by softmax."},
    {"loss", "mse", "The mean of squared differences from the targets."},
    {"loss", "l1", "The mean of absolute differences from the targets."},
    {"loss", "huber", "Squared differences up to delta, a line beyond it."},
    {"loss", "bce_with_logits", "Binary cross entropy of each output, by the logistic function."},
    {"loss", "focal", "Cross entropy in which rows count less that are right already."},
    {"loss", "hinge", "How far other classes come within a margin of the label's score."},
    {"loss", "kl_divergence", "From the outputs' distribution to that of the targets."},
    {"loss", "cosine", "One less the cosine of the angle between output and target."},
    {"loss", "triplet", "How far the unlike sample comes within a margin of the like one."},
    {"loss", "ctc", "Of label sequences without times, over all ways to spread them over steps."},
    {"schedule", "constant", "The rate stays, behind the warm-up."},
    {"schedule", "cosine", "Half a cosine down to final_fraction."},
    {"schedule", "step", "Times step_factor every step_every steps."},
    {"schedule", "linear", "A line down to final_fraction."},
    {"schedule", "polynomial", "Down to final_fraction as (1 - t)^power falls."},
    {"schedule", "exponential", "Times step_factor in step_every steps, a little in each."},
    {"schedule", "one_cycle",
     "From start_fraction up to the rate and down to final_fraction (arXiv:1708.07120)."},
    {"schedule", "restarts",
     "Cosines of restart_every steps, each restart_factor times as long as the last."},
    {"schedule", "plateau",
     "Times step_factor behind plateau_patience evaluations that are no better."},
});

}  // namespace

std::string_view DocOfKind(std::string_view section, std::string_view kind) {
  if (section == "optimizer") {
    const OptimizerRule* rule = Optimizers().Find(kind);
    return rule == nullptr ? "" : std::string_view(rule->doc);
  }
  for (const KindDoc& entry : kDocs) {
    if (entry.section == section && entry.kind == kind) return entry.doc;
  }
  return "";
}

}  // namespace frugal
