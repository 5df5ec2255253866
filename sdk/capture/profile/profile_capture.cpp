#include "sdk/capture/profile/profile_capture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/verify/entry_verifier.h"
#include "sdk/capture/verify/workers.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"
#include "sdk/core/slow_work.h"

namespace frugal {
namespace {

struct Item {
  BackendKind backend;
  const CaptureEntry* entry;
  std::int64_t like_it = 1;
};

// Two entries of one signature do the same work on other numbers.
std::string SignatureOf(CaptureEntry entry) {
  entry.number = 0;
  entry.place = {};
  entry.file.clear();
  for (StoredContent& content : entry.before) content = {};
  for (StoredContent& content : entry.after) content = {};
  // Rates and counters of steps take no time.
  std::erase_if(entry.call.attributes, [](const auto& attribute) {
    return attribute.first == "step" || attribute.first == "key" ||
           attribute.first == "noise_key" || attribute.first == "learning_rate" ||
           attribute.first == "gradient_scale" || attribute.first == "factor" ||
           attribute.first == "value";
  });
  return ToJson(entry);
}

// Measures in a process of its own, which gives its memory back.
MachineLimits LimitsHere(const WorkerOptions& options) {
  MachineLimits limits;
  RunInWorkers(
      {{0, 0}}, options,
      [] {
        return [](std::int64_t) {
          const MachineLimits here = MeasureMachineLimits();
          return nlohmann::json{here.product_f32, here.product_bf16, here.copy}.dump();
        };
      },
      [&](std::int64_t, const WorkOutcome& outcome) {
        if (outcome.kind != WorkOutcome::Kind::kLine) return;
        const auto json = nlohmann::json::parse(outcome.text);
        limits = {.product_f32 = json[0], .product_bf16 = json[1], .copy = json[2]};
      });
  return limits;
}

class Profiling {
 public:
  Profiling(const std::string& directory, const ProfileOptions& options)
      : options_(options), reader_(directory) {
    const int threads =
        options.threads > 0 ? options.threads : static_cast<int>(reader_.header().threads);
    worker_options_ = {options.batch_bytes, options.timeout_seconds, threads};
    report_.policy = "one entry at a time, by " + std::to_string(threads) +
                     " threads; a new process for every " + FormatBytes(options.batch_bytes) +
                     " of tensors; each until the error of the mean is below " +
                     PercentText(options.timing.error_of_mean) + " or for " +
                     DurationText(options.timing.seconds) + ", the quietest of " +
                     std::to_string(options.rounds) + " rounds";
    ChooseItems();
  }

  ProfileReport Run() {
    limits_ = LimitsHere(worker_options_);
    std::vector<WorkItem> work;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      work.push_back({static_cast<std::int64_t>(i), items_[i].entry->call.TensorBytes()});
    }
    for (const Item& item : items_) report_.times.push_back(Begun(item));
    for (std::int64_t round = 0; round < options_.rounds; ++round) {
      const auto make = [this] { return MakeWork(); };
      RunInWorkers(work, worker_options_, make,
                   [this](std::int64_t number, const WorkOutcome& outcome) {
                     Take(static_cast<std::size_t>(number), outcome);
                   });
      // An item that failed is not tried again.
      std::erase_if(work, [this](const WorkItem& item) {
        return IsBad(report_.times[static_cast<std::size_t>(item.number)].status);
      });
    }
    std::ranges::stable_sort(report_.times, std::greater(), &EntryTime::TotalSeconds);
    return std::move(report_);
  }

 private:
  void ChooseItems() {
    std::vector<BackendKind> backends = options_.backends;
    if (backends.empty()) {
      backends = {reader_.header().backend == NameOf(BackendKind::kEigen) ? BackendKind::kEigen
                                                                          : BackendKind::kOneDnn};
    }
    for (const BackendKind backend : backends) {
      std::map<std::string, std::size_t> first;
      for (const CaptureEntry& entry : reader_.entries()) {
        if (!options_.selection.Takes(entry.call.kernel, entry.place.path)) continue;
        const auto [found, is_new] = first.emplace(SignatureOf(entry), items_.size());
        if (is_new || options_.each) {
          items_.push_back({backend, &entry});
        } else {
          ++items_[found->second].like_it;
        }
      }
    }
    if (!items_.empty()) return;
    throw CaptureError(
        {.where = reader_.directory(),
         .required = "an entry that is selected",
         .given = "none of the " + std::to_string(reader_.entries().size()) + " entries is",
         .advice = "select by operation or path, as in 'attention*'"});
  }

  EntryTime Begun(const Item& item) const {
    const CaptureEntry& entry = *item.entry;
    const bool is_bf16 = std::ranges::any_of(
        entry.call.buffers, [](const CallBuffer& b) { return b.dtype == DType::kBF16; });
    EntryTime time;
    time.entry = entry.number;
    time.operation = entry.call.kernel;
    time.path = entry.place.path;
    time.backward = entry.place.backward;
    time.shapes = ShapesText(entry.call);
    time.backend = std::string(NameOf(item.backend));
    time.like_it = item.like_it;
    time.product_limit = limits_.ProductOf(is_bf16 ? DType::kBF16 : DType::kF32);
    time.copy_limit = limits_.copy;
    return time;
  }

  Work MakeWork() {
    std::int64_t budget = TensorBudget(options_.memory_cap);
    if (budget > 0) budget = std::max<std::int64_t>(budget - kCacheFillBytes, 1);
    auto backends = std::make_shared<std::map<BackendKind, std::unique_ptr<Backend>>>();
    return [this, budget, backends](std::int64_t number) {
      const Item& item = items_[static_cast<std::size_t>(number)];
      std::unique_ptr<Backend>& backend = (*backends)[item.backend];
      if (backend == nullptr) backend = MakeBackend(item.backend);
      EntryTime time = Begun(item);
      try {
        EntryTimer(reader_, *backend, options_.timing, budget).Time(*item.entry, time);
        EntryVerifier verifier(reader_, *backend, std::nullopt, budget);
        EntryResult result = verifier.Verify(*item.entry);
        time.status = result.status;
        time.reason = result.reason;
      } catch (const std::exception& error) {
        time.status = EntryStatus::kError;
        time.reason = error.what();
      }
      return ToJson(time);
    };
  }

  void Take(std::size_t number, const WorkOutcome& outcome) {
    ++taken_;
    progress_.Tell([this] {
      const std::int64_t all = options_.rounds * std::ssize(items_);
      return FormatCount(taken_) + " of " + FormatCount(all) + " timings taken";
    });
    EntryTime& time = report_.times[number];
    if (outcome.kind != WorkOutcome::Kind::kLine) {
      const bool late = outcome.kind == WorkOutcome::Kind::kTookLong;
      time.status = late ? EntryStatus::kTookLong : EntryStatus::kCrashed;
      time.reason = late ? "it took longer than " + outcome.text : "it ended by " + outcome.text;
      return;
    }
    EntryTime now = TimeFromJson(outcome.text, "worker");
    const bool is_first = time.warm.count == 0;
    if (!is_first && time.warm.median < now.warm.median) now.warm = time.warm;
    if (!is_first && time.cold.median < now.cold.median) now.cold = time.cold;
    time = std::move(now);
  }

  const ProfileOptions& options_;
  CaptureReader reader_;
  WorkerOptions worker_options_;
  std::vector<Item> items_;
  MachineLimits limits_;
  ProfileReport report_;
  std::int64_t taken_ = 0;  // timings, of all rounds
  SlowWork progress_;
};

}  // namespace

bool ProfileReport::passed() const {
  return std::ranges::none_of(times, [](const EntryTime& time) { return IsBad(time.status); });
}

ProfileReport ProfileCapture(const std::string& directory, const ProfileOptions& options) {
  return Profiling(directory, options).Run();
}

}  // namespace frugal
