#include "builders/output_files.h"

#include <filesystem>
#include <functional>

#include "builders/report/html/html_report.h"
#include "builders/report/json/summary_json.h"
#include "builders/report/memory/memory_file.h"
#include "builders/report/report_file.h"
#include "presets/config/diagnostics.h"
#include "sdk/comm/launched_ranks.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/error.h"
#include "sdk/io/atomic_file.h"
#include "sdk/io/file_system.h"
#include "sdk/io/output_path.h"
#include "sdk/io/weights/open_weights.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

struct Output {
  std::string key;  // "output.weights"
  std::string path;
  std::int64_t bytes;
};

// The file of events has a name of its own each time; this one stands for it.
std::string EventsIn(const std::string& directory) {
  return directory.empty() ? "" : (fs::path(directory) / "events.out.tfevents").string();
}

// Lists them in the order in which they are written.
std::vector<Output> OutputsOf(const OutputOptions& options, const OutputBytes& bytes) {
  std::vector<Output> outputs;
  if (options.weights) outputs.push_back({"output.weights", *options.weights, bytes.weights});
  if (options.best_weights) {
    outputs.push_back({"output.best_weights", *options.best_weights, bytes.weights});
  }
  if (options.log) outputs.push_back({"output.log", *options.log, bytes.summary});
  if (options.tensorboard) {
    outputs.push_back({"output.tensorboard", EventsIn(*options.tensorboard), 2 * bytes.summary});
  }
  if (options.summary) outputs.push_back({"output.summary", *options.summary, bytes.summary});
  if (options.report) outputs.push_back({"output.report", *options.report, bytes.report});
  if (options.memory_report) {
    outputs.push_back({"output.memory_report", *options.memory_report, bytes.report});
  }
  return outputs;
}

// One spelling for all ways to name a file that may not exist yet.
std::string Canonical(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path.string() : canonical.string();
}

std::string Quoted(const std::string& text) { return "'" + text + "'"; }

// Data files of the configuration, and for other outputs than weights the file that weights come
// from: a training that goes on may write its weights where it found them.
std::vector<std::string> InputsOf(const RunConfig& config, const std::string& key) {
  std::vector<std::string> inputs;
  const auto add = [&](const std::optional<std::string>& path) {
    if (path) inputs.push_back(*path);
  };
  const DataOptions& data = config.data;
  for (const auto* path : {&data.text_file, &data.train_images, &data.train_labels,
                           &data.test_images, &data.test_labels}) {
    add(*path);
  }
  if (key != "output.weights") add(config.memory.weights_file_path);
  return inputs;
}

// Returns what is wrong with the path itself, or nothing.
std::string ProblemOf(const Output& output) {
  try {
    ResolveOutput(output.path);
    return "";
  } catch (const FileError& error) {
    return error.diagnostic().given;
  }
}

// Returns what is wrong with the form of weights that the path tells, or nothing.
std::string ProblemOfForm(const Output& output) {
  const bool is_memory = output.key == "output.memory_report";
  if (!is_memory && !output.key.ends_with("weights")) return "";
  try {
    if (is_memory) {
      MemoryFileFormOf(output.path);
    } else {
      FormatToWrite(output.path);
    }
    return "";
  } catch (const FileError& error) {
    return error.diagnostic().given + ": " + error.diagnostic().required;
  }
}

// Creates the directory of `path`. Returns what keeps a file from being made in it, or nothing.
std::string ProblemOfDirectory(const std::string& path) {
  const fs::path parent = DirectoryOf(ResolveOutput(path));
  const std::error_code error = MakeDirectories(CurrentFileSystem(), parent.string());
  if (error) {
    return "directory " + Quoted(parent.string()) + " cannot be made: " + error.message();
  }
  try {
    const AtomicFile probe(path);  // only making a file shows whether one can be made
    return "";
  } catch (const FileError& refusal) {
    return Quoted(path) + " cannot be made: " + refusal.diagnostic().given;
  }
}

// Says that there is no room for the file, or nothing where there is.
std::string ProblemOfSpace(const Output& output, OutputSpace& space) {
  const std::string takes = Quoted(output.path) + " takes " + FormatCount(output.bytes) + " bytes";
  const std::optional<std::int64_t> limit = FileSizeLimit();
  if (limit && output.bytes > *limit) {
    return takes + ", and a file of this process may have " + FormatCount(*limit) + " (ulimit -f)";
  }
  const std::optional<std::int64_t> free = space.Take(output.path, output.bytes);
  if (!free) return "";
  const bool replaces = fs::exists(ResolveOutput(output.path));
  return takes + (replaces ? " beside the file that it replaces" : "") + ", and " +
         FormatCount(*free) + " are free there";
}

class OutputCheck {
 public:
  explicit OutputCheck(const RunConfig& config, const OutputBytes& bytes = {})
      : config_(config), outputs_(OutputsOf(config.output, bytes)) {}

  void Run(const std::vector<std::string>& keep) {
    for (const Output& output : outputs_) {
      Refuse(output, ProblemOf(output));
      Refuse(output, ProblemOfForm(output));
    }
    diagnostics_.ThrowIfAny();
    for (const Output& output : outputs_) CheckIsFree(output, keep);
    diagnostics_.ThrowIfAny();  // before anything is made
    for (const Output& output : outputs_) Refuse(output, ProblemOfDirectory(output.path));
    diagnostics_.ThrowIfAny();
  }

  void CheckSpace() {
    OutputSpace space;
    for (const Output& output : outputs_) {
      Refuse(output, ProblemOfSpace(output, space), kRoom);
    }
    diagnostics_.ThrowIfAny();
  }

 private:
  struct Demand {
    const char* required;
    const char* advice;
  };
  static constexpr Demand kPath = {"the path of a file that can be written",
                                   "name another file, or leave the key out"};
  static constexpr Demand kRoom = {"room for the file", "free space, or name a file elsewhere"};

  void Refuse(const Output& output, const std::string& problem, const Demand& demand = kPath) {
    if (problem.empty()) return;
    diagnostics_.Add(config_.origins.PlaceOf(output.key), {.where = output.key,
                                                           .required = demand.required,
                                                           .given = problem,
                                                           .advice = demand.advice});
  }

  static std::string Target(const Output& output) { return Canonical(ResolveOutput(output.path)); }

  void CheckIsFree(const Output& output, const std::vector<std::string>& keep) {
    for (const Output& other : outputs_) {
      if (other.key >= output.key || Target(other) != Target(output)) continue;
      Refuse(output, Quoted(output.path) + " is also that of " + other.key);
    }
    std::vector<std::string> inputs = InputsOf(config_, output.key);
    inputs.insert(inputs.end(), keep.begin(), keep.end());
    for (const std::string& file : inputs) {
      if (Canonical(file) != Target(output)) continue;
      Refuse(output, Quoted(output.path) + " is what this training is read from");
    }
  }

  const RunConfig& config_;
  std::vector<Output> outputs_;
  Diagnostics diagnostics_;
};

}  // namespace

void PrepareOutputs(const RunConfig& config, const std::vector<std::string>& keep) {
  OutputCheck(config).Run(keep);
}

void CheckOutputSpace(const RunConfig& config, const OutputBytes& bytes) {
  OutputCheck(config, bytes).CheckSpace();
}

std::vector<std::string> WriteOutputs(Model& model, const TrainingResult& result) {
  const OutputOptions& output = model.config().output;
  if (!IsFirstProcess()) {
    if (output.weights) model.SaveWeights(*output.weights);  // the first one collects them
    return {};
  }
  const ReportData data = {model.planned(), result};
  std::vector<std::string> written;
  std::string failures;
  const auto write = [&](const std::optional<std::string>& path, const auto& write_to) {
    if (!path) return;
    try {
      write_to(*path);
      written.push_back(*path);
    } catch (const Error& error) {
      failures += (failures.empty() ? "" : "\n") + std::string(error.what());
    }
  };
  write(output.weights, [&](const std::string& path) { model.SaveWeights(path); });
  write(output.summary, [&](const std::string& path) { WriteTextFile(path, SummaryJson(data)); });
  write(output.report, [&](const std::string& path) { WriteTextFile(path, HtmlReport(data)); });
  write(output.memory_report, [&](const std::string& path) {
    MemoryReport report = model.MemoryReport();
    report.growth = result.growth;
    WriteMemoryFile(path, report);
  });
  if (!failures.empty()) throw Error(failures);
  return written;
}

}  // namespace frugal
