#include "sdk/capture/verify/verify_capture.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>

#include "sdk/capture/store/capture_reader.h"
#include "sdk/capture/verify/entry_verifier.h"
#include "sdk/capture/verify/workers.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/slow_work.h"
#include "sdk/io/append_file.h"
#include "sdk/io/whole_file.h"
#include "sdk/memory/system_memory.h"

namespace frugal {
namespace {

// So much is left to code that is generated, libraries' own memory and the heap's gaps.
constexpr std::int64_t kReserve = std::int64_t{40} << 20;

struct Item {
  BackendKind backend;
  std::size_t entry;  // among the reader's
};

std::string PrecisionName(const VerifyOptions& options) {
  return options.precision ? std::string(NameOf(*options.precision)) : "recorded";
}

std::string PolicyText(const VerifyOptions& options, int threads) {
  std::string text = "one entry at a time, by " + std::to_string(threads) +
                     " threads; a new process for every " + FormatBytes(options.batch_bytes) +
                     " of tensors";
  if (options.memory_cap > 0) {
    text += "; each process within " + FormatBytes(options.memory_cap);
  }
  return text + "; at most " + std::to_string(static_cast<std::int64_t>(options.timeout_seconds)) +
         " s for an entry";
}

EntryResult ResultOf(const CaptureEntry& entry, const Item& item, const VerifyOptions& options,
                     const WorkOutcome& outcome) {
  if (outcome.kind == WorkOutcome::Kind::kLine) return ResultFromJson(outcome.text, "worker");
  const bool late = outcome.kind == WorkOutcome::Kind::kTookLong;
  return {.entry = entry.number,
          .operation = entry.call.kernel,
          .path = entry.place.path,
          .backward = entry.place.backward,
          .backend = std::string(NameOf(item.backend)),
          .precision = PrecisionName(options),
          .status = late ? EntryStatus::kTookLong : EntryStatus::kCrashed,
          .reason = late ? "it took longer than " + outcome.text : "it ended by " + outcome.text,
          .tensor_bytes = entry.call.TensorBytes()};
}

// The results that a file has, the torn last line left out.
std::vector<EntryResult> ReadResults(const std::string& path) {
  std::vector<EntryResult> results;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) ||
      std::filesystem::file_size(path, ignored) == 0) {
    return results;
  }
  std::istringstream lines(ReadWholeFile(path));
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line) && !lines.eof(); ++number) {
    results.push_back(ResultFromJson(line, path + ":" + std::to_string(number)));
  }
  return results;
}

void CheckCap(std::int64_t memory_cap) {
  if (memory_cap == 0 || TensorBudget(memory_cap) > 0) return;
  const std::int64_t taken = ResidentBytes() + kReserve;
  throw CaptureError({.where = "memory cap",
                      .required = "more than the " + FormatBytes(taken) +
                                  " that the process takes without any tensors",
                      .given = FormatBytes(memory_cap),
                      .advice = "raise --memory-cap"});
}

class Verification {
 public:
  Verification(const std::string& directory, const VerifyOptions& options)
      : options_(options), reader_(directory) {
    path_ = options.results.empty() ? directory + "/verify.jsonl" : options.results;
    CheckCap(options.memory_cap);
    report_.torn = reader_.torn();
    threads_ = options.threads > 0 ? options.threads : static_cast<int>(reader_.header().threads);
    report_.policy = PolicyText(options, threads_);
  }

  VerifyReport Run() {
    if (options_.resume) report_.results = ReadResults(path_);
    ChooseItems();
    AppendFile file(path_, OpenMode::kEmpty,
                    {.required = "results that can be written", .advice = "name another file"});
    // Written anew, since a line of before may be torn.
    for (const EntryResult& result : report_.results) file.Append(ToJson(result) + "\n");
    std::vector<WorkItem> work;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      work.push_back({static_cast<std::int64_t>(i), EntryOf(items_[i]).call.TensorBytes()});
    }
    RunInWorkers(
        work, {options_.batch_bytes, options_.timeout_seconds, threads_},
        [this] { return MakeWork(); },
        [&](std::int64_t number, const WorkOutcome& outcome) {
          const Item& item = items_[static_cast<std::size_t>(number)];
          Take(ResultOf(EntryOf(item), item, options_, outcome), file);
        });
    report_.peak_rss_bytes = PeakResidentBytes();
    for (const EntryResult& result : report_.results) {
      report_.peak_rss_bytes = std::max(report_.peak_rss_bytes, result.peak_rss_bytes);
    }
    return std::move(report_);
  }

 private:
  const CaptureEntry& EntryOf(const Item& item) const { return reader_.entries()[item.entry]; }

  void ChooseItems() {
    std::set<std::pair<std::int64_t, std::string>> done;
    for (const EntryResult& result : report_.results) {
      if (result.precision != PrecisionName(options_)) continue;
      done.emplace(result.entry, result.backend);
    }
    bool found = false;
    for (const BackendKind backend : options_.backends) {
      for (std::size_t i = 0; i < reader_.entries().size(); ++i) {
        const CaptureEntry& entry = reader_.entries()[i];
        if (!options_.selection.Takes(entry.call.kernel, entry.place.path)) continue;
        found = true;
        if (!done.contains({entry.number, std::string(NameOf(backend))})) {
          items_.push_back({backend, i});
        }
      }
    }
    if (found) return;
    throw CaptureError(
        {.where = reader_.directory(),
         .required = "an entry that is selected",
         .given = "none of the " + std::to_string(reader_.entries().size()) + " entries is",
         .advice = "select by operation or path, as in 'attention*'"});
  }

  // Is called in the process that does it.
  Work MakeWork() {
    const std::int64_t budget = TensorBudget(options_.memory_cap);
    struct Running {
      std::unique_ptr<Backend> backend;
      std::unique_ptr<EntryVerifier> verifier;
    };
    auto running = std::make_shared<std::map<BackendKind, Running>>();
    return [this, budget, running](std::int64_t number) {
      const Item& item = items_[static_cast<std::size_t>(number)];
      Running& here = (*running)[item.backend];
      if (here.verifier == nullptr) {
        here.backend =
            options_.make_backend ? options_.make_backend(item.backend) : MakeBackend(item.backend);
        here.verifier =
            std::make_unique<EntryVerifier>(reader_, *here.backend, options_.precision, budget);
      }
      EntryResult result = here.verifier->Verify(EntryOf(item));
      if (options_.memory_cap > 0) ReturnFreeMemory();
      return ToJson(result);
    };
  }

  void Take(EntryResult result, AppendFile& file) {
    file.Append(ToJson(result) + "\n");
    if (options_.on_result) options_.on_result(result);
    report_.results.push_back(std::move(result));
    ++taken_;
    progress_.Tell([this] {
      return FormatCount(taken_) + " of " + FormatCount(std::ssize(items_)) +
             " operations computed again";
    });
  }

  const VerifyOptions& options_;
  CaptureReader reader_;
  std::string path_;
  std::vector<Item> items_;
  VerifyReport report_;
  int threads_ = 0;
  std::int64_t taken_ = 0;  // results of this run
  SlowWork progress_;
};

}  // namespace

std::int64_t VerifyReport::Count(EntryStatus status) const {
  return std::ranges::count(results, status, &EntryResult::status);
}

bool VerifyReport::passed() const {
  return std::ranges::none_of(results,
                              [](const EntryResult& result) { return IsBad(result.status); });
}

std::int64_t TensorBudget(std::int64_t memory_cap) {
  if (memory_cap == 0) return 0;
  return memory_cap - ResidentBytes() - kReserve;
}

VerifyReport VerifyCapture(const std::string& directory, const VerifyOptions& options) {
  return Verification(directory, options).Run();
}

}  // namespace frugal
