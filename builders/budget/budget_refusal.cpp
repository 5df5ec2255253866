#include "builders/budget/budget_refusal.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/core/number_text.h"
#include "sdk/core/slow_work.h"
#include "sdk/optim/optimizer_registry.h"

namespace frugal {
namespace {

using std::int64_t;
using Change = std::function<void(RunConfig&)>;

class Alternatives {
 public:
  Alternatives(const RunConfig& stated, const DataLayout* layout, int64_t budget,
               const BudgetCandidate& least)
      : stated_(stated),
        layout_(layout),
        budget_(budget),
        found_least_(&least),
        least_(least.footprint.bytes) {}

  // Compares what lives outside steps only.
  Alternatives(const RunConfig& stated, const DataLayout* layout, int64_t budget,
               const BytesByTag& outside)
      : stated_(stated), layout_(layout), budget_(budget), least_(outside.Total()) {}

  std::vector<BudgetAlternative> Find() {
    AddStated();
    AddSmallerBatch();
    if (std::ranges::any_of(found_, [&](const auto& one) { return one.least_bytes <= budget_; })) {
      std::erase_if(found_, [&](const auto& one) { return one.least_bytes > budget_; });
    } else if (found_.size() > 1) {
      const auto all = Planned("all of these together" + words_of_parts_, [&](RunConfig& config) {
        for (const Change& change : changes_) change(config);
      });
      if (all) found_.push_back(*all);
    }
    return std::move(found_);
  }

 private:
  int64_t SmallestOf(const RunConfig& config) const {
    const TrainingSetup setup = PrepareTraining(config, layout_);
    BudgetSearch search(setup, budget_);
    if (found_least_ == nullptr) return search.OutsideSteps().Total();
    if (const auto like = search.LeastLike(*found_least_)) return like->footprint.bytes;
    return search.Least().footprint.bytes;
  }

  // Nothing where that cannot be trained at all, e.g. batch statistics of one sample.
  std::optional<BudgetAlternative> Planned(std::string words, const Change& change) {
    progress_.Tell([&] { return "nothing fits the memory budget; planning " + words; });
    BudgetAlternative one{std::move(words), stated_};
    change(one.config);
    try {
      one.least_bytes = SmallestOf(one.config);
    } catch (const Error&) {
      return std::nullopt;
    }
    return one;
  }

  void Add(std::string words, const Change& change) {
    auto one = Planned(std::move(words), change);
    if (!one || !IsLess(one->least_bytes)) return;
    found_.push_back(*std::move(one));
    changes_.push_back(change);
  }

  // By what is printed.
  bool IsLess(int64_t bytes) const {
    return bytes < least_ && WholeMegabytes(bytes) != WholeMegabytes(least_);
  }

  bool IsExplicit(const char* key) const { return stated_.origins.Of(key).IsExplicit(); }

  // Fields that the user set to what takes more.
  void AddStated() {
    const bool clips = stated_.training.clip_gradient_norm > 0;
    if (!stated_.memory.optimizer_in_backward && !clips &&
        IsExplicit("memory.optimizer_in_backward")) {
      Add("optimizer_in_backward",
          [](RunConfig& config) { config.memory.optimizer_in_backward = true; });
    }
    const OptimizerRule& rule = FindOptimizer(stated_.optimizer.kind);
    const bool narrows = rule.narrow_state && StateCountOf(rule, stated_.optimizer) > 0;
    if (narrows && stated_.optimizer.state == StateFormat::kF32 &&
        stated_.training.precision != Precision::kF64) {
      Add("optimizer state = \"8bit\"",
          [](RunConfig& config) { config.optimizer.state = StateFormat::k8Bit; });
    }
    if (IsExplicit("memory.use_gradient_checkpointing")) {
      Add("use_gradient_checkpointing left to the planner", [](RunConfig& config) {
        config.memory.use_gradient_checkpointing = false;
        config.origins.Set("memory.use_gradient_checkpointing", Origin::Default());
      });
    }
    if (stated_.training.precision != Precision::kF32) {
      Add("precision = \"f32\"",
          [](RunConfig& config) { config.training.precision = Precision::kF32; });
    }
    const BackendKind backend = stated_.training.backend;
    if (stated_.training.precision == Precision::kF32 &&
        MakeBackend(backend)->Supports(DType::kBF16)) {
      Add("precision = \"bf16\"",
          [](RunConfig& config) { config.training.precision = Precision::kBF16; });
    }
    const int64_t batch = stated_.training.batch_size;
    if (IsExplicit("training.gradient_accumulation_steps") && CountsSamplesAlike(stated_.loss) &&
        stated_.training.gradient_accumulation_steps < batch) {
      Add("gradient_accumulation_steps = " + std::to_string(batch), [batch](RunConfig& config) {
        config.training.gradient_accumulation_steps = std::min(batch, config.training.batch_size);
      });
    }
    if (IsExplicit("training.evaluation_batch_size") &&
        stated_.training.evaluation_batch_size > 1) {
      Add("evaluation_batch_size = 1",
          [](RunConfig& config) { config.training.evaluation_batch_size = 1; });
    }
  }

  static Change BatchOf(int64_t batch) {
    return [batch](RunConfig& config) {
      config.training.batch_size = batch;
      config.training.gradient_accumulation_steps =
          std::min(config.training.gradient_accumulation_steps, batch);
    };
  }

  // Between two, neither of them, where the share of the way lies.
  static int64_t OnLine(int64_t from, int64_t to, double share) {
    const double at = static_cast<double>(from) + share * static_cast<double>(to - from);
    return std::clamp(static_cast<int64_t>(at), from + 1, to - 1);
  }

  // The largest that fits, or one sample: where bytes grew evenly between what fits and what does
  // not, or by halves where that tells little.
  void AddSmallerBatch() {
    const int64_t batch = stated_.training.batch_size;
    if (batch <= 1) return;
    const auto words = [&](int64_t size) {
      return "a smaller batch (" + std::to_string(batch) + " -> " + std::to_string(size) + ")";
    };
    int64_t fits = 1;
    auto best = Planned(words(1), BatchOf(1));
    while (!best && 2 * fits < batch) {
      fits *= 2;
      best = Planned(words(fits), BatchOf(fits));
    }
    if (!best) return;
    int64_t too_large = batch;
    int64_t too_many = least_;  // bytes, of those
    for (bool halve = false; best->least_bytes <= budget_ && too_large - fits > 1;) {
      const auto left = static_cast<double>(budget_ - best->least_bytes);
      const auto grown = static_cast<double>(too_many - best->least_bytes);
      const int64_t size = halve || too_many <= budget_ ? fits + (too_large - fits) / 2
                                                        : OnLine(fits, too_large, left / grown);
      const int64_t before = too_large - fits;
      auto one = Planned(words(size), BatchOf(size));
      if (one && one->least_bytes <= budget_) {
        best = std::move(one);
        fits = size;
      } else {
        too_large = size;
        if (one) too_many = one->least_bytes;
      }
      halve = 2 * (too_large - fits) > before;
    }
    if (!IsLess(best->least_bytes)) return;
    found_.push_back(*std::move(best));
    changes_.push_back(BatchOf(fits));
    // A batch goes through in at most as many parts as it has samples.
    if (MostParts() > fits)
      words_of_parts_ = " (gradient_accumulation_steps = " + std::to_string(fits) + ")";
  }

  // Returns gradient_accumulation_steps as stated, or as an alternative before the last sets it.
  int64_t MostParts() const {
    RunConfig config = stated_;
    for (std::size_t i = 0; i + 1 < changes_.size(); ++i) changes_[i](config);
    return config.training.gradient_accumulation_steps;
  }

  const RunConfig& stated_;
  const DataLayout* layout_;
  int64_t budget_;
  const BudgetCandidate* found_least_ = nullptr;  // nullptr: only what lives outside is compared
  int64_t least_;                                 // its bytes
  std::vector<BudgetAlternative> found_;
  std::vector<Change> changes_;
  std::string words_of_parts_;  // of all together, where they need fewer
  SlowWork progress_;
};

std::string WordsOf(MemoryTag tag) {
  if (tag == MemoryTag::kOptimizerState) return "optimizer state";
  const bool counted =
      tag == MemoryTag::kParameter || tag == MemoryTag::kGradient || tag == MemoryTag::kActivation;
  return std::string(NameOf(tag)) + (counted ? "s" : "");
}

// Writes what is stated in MB as it is, and a share of all memory rounded down, so that it never
// looks as if it were enough.
std::string LimitText(const BudgetLimit& limit) {
  if (limit.bytes % kBytesPerMegabyte == 0) return WholeMegabytes(limit.bytes);
  return FormatCount(limit.bytes / kBytesPerMegabyte) + " MB (" + SourceText(limit.origin) + ")";
}

// "1,420 MB are optimizer state, 710 MB parameters"
std::string PartsText(const BytesByTag& at_peak) {
  std::vector<MemoryTag> tags(kAllMemoryTags.begin(), kAllMemoryTags.end());
  std::ranges::sort(tags, std::greater<>(), [&](MemoryTag tag) { return at_peak[tag]; });
  std::string text;
  for (const MemoryTag tag : tags) {
    if (at_peak[tag] == 0) continue;
    text += (text.empty() ? "" : ", ") + WholeMegabytes(at_peak[tag]) +
            (text.empty() ? " are " : " ") + WordsOf(tag);
  }
  return text;
}

std::string AlternativesText(const std::vector<BudgetAlternative>& alternatives) {
  std::string text;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    text += i == 0 ? "; " : i + 1 < alternatives.size() ? ", " : ", or ";
    text += alternatives[i].words + (i == 0 ? " would bring it to " : " to ") +
            WholeMegabytes(alternatives[i].least_bytes);
  }
  return alternatives.empty() ? "; use a smaller model or less data" : text;
}

std::string RefusalText(const BudgetLimit& limit, const BudgetCandidate& least,
                        std::optional<int64_t> bound, const BudgetCandidate& unconstrained,
                        const std::vector<BudgetAlternative>& alternatives) {
  std::string text =
      "cannot train within " + LimitText(limit) + ": " + WholeMegabytes(least.footprint.bytes) +
      " is the least this model can use here" +
      (bound ? " (no segments peak below " + WholeMegabytes(*bound) + ", by the planner's model)"
             : "") +
      ", " + WholeMegabytes(unconstrained.footprint.bytes) +
      (unconstrained.settings.use_gradient_checkpointing
           ? " with nothing chosen; of the floor, "
           : " without recomputation; of the floor, ") +
      PartsText(least.footprint.at_peak);
  return text + AlternativesText(alternatives);
}

}  // namespace

std::vector<BudgetAlternative> AlternativesFor(const RunConfig& stated,
                                               const DataLayout* custom_layout,
                                               std::int64_t budget_bytes,
                                               const BudgetCandidate& least) {
  return Alternatives(stated, custom_layout, budget_bytes, least).Find();
}

std::string NothingFitsText(const RunConfig& stated, const DataLayout* custom_layout,
                            const BudgetLimit& limit, BudgetSearch& search) {
  const BytesByTag& outside = search.OutsideSteps();
  if (!search.IsDeep() || outside.Total() <= limit.bytes) {
    const BudgetCandidate least = search.Least();
    return RefusalText(limit, least, search.LeastPeakOfAny(least), search.unconstrained(),
                       AlternativesFor(stated, custom_layout, limit.bytes, least));
  }
  return "cannot train within " + LimitText(limit) + ": " + WholeMegabytes(outside.Total()) +
         " are taken before a step begins, of which " + PartsText(outside) +
         AlternativesText(Alternatives(stated, custom_layout, limit.bytes, outside).Find());
}

}  // namespace frugal
