#include "builders/output_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>

#include "builders/report/html_report.h"
#include "builders/report/summary_json.h"
#include "builders/report/text_file.h"
#include "presets/complaints.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

namespace fs = std::filesystem;

struct Output {
  std::string key;  // "output.weights"
  std::string path;
};

std::vector<Output> OutputsOf(const OutputOptions& options) {
  std::vector<Output> outputs;
  if (options.weights) outputs.push_back({"output.weights", *options.weights});
  if (options.report) outputs.push_back({"output.report", *options.report});
  if (options.summary) outputs.push_back({"output.summary", *options.summary});
  return outputs;
}

// One spelling for all ways to name a file that may not exist yet.
std::string Canonical(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : canonical.string();
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

// What is wrong with the path itself, or nothing.
std::string ProblemOf(const std::string& path) {
  if (path.empty()) return "the path is empty";
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error == std::errc::too_many_symbolic_link_levels) {
    return Quoted(path) + " is a link that leads back to itself";
  }
  if (fs::is_directory(status) || !fs::path(path).has_filename()) {
    return Quoted(path) + " is a directory";
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) return Quoted(path) + " is a device";
  return "";
}

// What keeps a file from being made in the directory of `path`, or nothing. Creates the directory.
std::string ProblemOfDirectory(const std::string& path) {
  std::error_code error;
  const fs::path parent = fs::path("." / fs::path(path)).parent_path().lexically_normal();
  fs::create_directories(parent, error);
  if (error && !fs::is_directory(parent)) {
    return "directory " + Quoted(parent.string()) + " cannot be made: " + error.message();
  }
  // Only making a file shows whether one can be made.
  const std::string probe = Canonical(path) + ".probe" + std::to_string(::getpid());
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return Quoted(path) + " cannot be made: " + std::strerror(errno);
  ::close(descriptor);
  ::unlink(probe.c_str());
  return "";
}

class OutputCheck {
 public:
  explicit OutputCheck(const RunConfig& config)
      : config_(config), outputs_(OutputsOf(config.output)) {}

  void Run(const std::vector<std::string>& keep) {
    for (const Output& output : outputs_) Refuse(output, ProblemOf(output.path));
    complaints_.ThrowIfAny();
    for (const Output& output : outputs_) CheckIsFree(output, keep);
    complaints_.ThrowIfAny();  // before anything is made
    for (const Output& output : outputs_) Refuse(output, ProblemOfDirectory(output.path));
    complaints_.ThrowIfAny();
  }

 private:
  void Refuse(const Output& output, const std::string& problem) {
    if (problem.empty()) return;
    complaints_.Add(config_.origins.Of(output.key).location,
                    {.where = output.key,
                     .required = "the path of a file that can be written",
                     .given = problem,
                     .advice = "name another file, or leave the key out"});
  }

  void CheckIsFree(const Output& output, const std::vector<std::string>& keep) {
    for (const Output& other : outputs_) {
      if (other.key >= output.key || Canonical(other.path) != Canonical(output.path)) continue;
      Refuse(output, Quoted(output.path) + " is also that of " + other.key);
    }
    std::vector<std::string> inputs = InputsOf(config_, output.key);
    inputs.insert(inputs.end(), keep.begin(), keep.end());
    for (const std::string& file : inputs) {
      if (Canonical(file) != Canonical(output.path)) continue;
      Refuse(output, Quoted(output.path) + " is what this training is read from");
    }
  }

  const RunConfig& config_;
  std::vector<Output> outputs_;
  Complaints complaints_;
};

}  // namespace

void PrepareOutputs(const RunConfig& config, const std::vector<std::string>& keep) {
  OutputCheck(config).Run(keep);
}

std::vector<std::string> WriteOutputs(Model& model, const TrainingResult& result) {
  const OutputOptions& output = model.config().output;
  const ReportData data = {model.config(), model.layout(), model.program(), model.plan(), result};
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
  if (!failures.empty()) throw Error(failures);
  return written;
}

}  // namespace frugal
