#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "builders/cli/captures/byte_option.h"
#include "builders/cli/captures/number_ranges.h"
#include "builders/cli/commands.h"
#include "builders/cli/number_option.h"
#include "builders/report/text/text_table.h"
#include "sdk/capture/verify/verify_capture.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"

namespace frugal::cli {
namespace {

struct VerifyArguments {
  std::string directory;
  std::string backend;
  std::string precision;
  VerifyOptions options;
  bool json = false;
};

// Sums up what came of all entries of one operation on one backend.
struct OperationSummary {
  std::int64_t entries = 0, blind = 0, same_bits = 0, bad = 0, skipped = 0, null_tests = 0;
  double relative = 0, to_f64 = 0;
  std::int64_t ulp = 0;

  void Add(const EntryResult& result) {
    ++entries;
    blind += result.status == EntryStatus::kCannotTell ? 1 : 0;
    skipped += result.status == EntryStatus::kSkipped ? 1 : 0;
    bad += IsBad(result.status) ? 1 : 0;
    same_bits += result.same_bits() ? 1 : 0;
    null_tests += result.null_tests;
    relative = std::max(relative, result.relative());
    ulp = std::max(ulp, result.ulp());
    for (const EntryOutput& output : result.outputs) {
      to_f64 = std::max(to_f64, output.to_f64.relative());
    }
  }
};

std::string TableText(const VerifyReport& report) {
  std::map<std::pair<std::string, std::string>, OperationSummary> summaries;
  for (const EntryResult& result : report.results) {
    summaries[{result.backend, result.operation}].Add(result);
  }
  TextTable table;
  table.width = 130;
  table.columns = {{"operation"},       {"backend"},           {"entries", true},
                   {"bad", true},       {"cannot tell", true}, {"skipped", true},
                   {"same bits", true}, {"relative", true},    {"ULP", true},
                   {"to f64", true},    {"wrong tried", true}};
  for (const auto& [key, sum] : summaries) {
    table.rows.push_back({key.second, key.first, FormatCount(sum.entries), FormatCount(sum.bad),
                          FormatCount(sum.blind), FormatCount(sum.skipped),
                          FormatCount(sum.same_bits), CompactText(sum.relative, 2),
                          FormatCount(sum.ulp), CompactText(sum.to_f64, 2),
                          FormatCount(sum.null_tests)});
  }
  return ToText(table);
}

std::string LineOf(const EntryResult& result) {
  return "  " + std::string(NameOf(result.status)) + ": entry " + FormatCount(result.entry) + ", " +
         result.operation + " in " + (result.path.empty() ? "the step" : result.path) +
         (result.backward ? ", backward" : "") + ", on " + result.backend + ": " + result.reason;
}

std::string CountsText(const VerifyReport& report) {
  std::string text;
  for (int i = 0; i <= static_cast<int>(EntryStatus::kTooLarge); ++i) {
    const auto status = static_cast<EntryStatus>(i);
    const std::int64_t count = report.Count(status);
    if (count == 0 && status != EntryStatus::kPassed) continue;
    text += (text.empty() ? "" : ", ") + FormatCount(count) + " " + std::string(NameOf(status));
  }
  return text;
}

void PrintText(const VerifyReport& report) {
  std::cout << "policy  " << report.policy << "\n";
  if (report.torn) std::cout << "note    the capture ends in the middle of an entry\n";
  std::cout << "\n" << TableText(report) << "\n";
  for (const EntryResult& result : report.results) {
    if (IsBad(result.status)) std::cout << LineOf(result) << "\n";
  }
  // Each reason of what was not compared once.
  std::map<std::string, std::int64_t> reasons;
  for (const EntryResult& result : report.results) {
    if (result.status == EntryStatus::kSkipped) ++reasons[result.reason];
  }
  for (const auto& [reason, count] : reasons) {
    std::cout << "  skipped " << FormatCount(count) << ": " << reason << "\n";
  }
  std::cout << CountsText(report) << "; peak " << FormatBytes(report.peak_rss_bytes)
            << " of a process" << std::endl;
}

void PrintJson(const VerifyReport& report) {
  nlohmann::ordered_json json;
  json["policy"] = report.policy;
  json["passed"] = report.passed();
  json["peak_rss_bytes"] = report.peak_rss_bytes;
  json["results"] = nlohmann::ordered_json::array();
  for (const EntryResult& result : report.results) {
    json["results"].push_back(nlohmann::ordered_json::parse(ToJson(result)));
  }
  std::cout << json.dump(2) << std::endl;
}

void Verify(const VerifyArguments& arguments) {
  VerifyOptions options = arguments.options;
  if (arguments.backend == "onednn") options.backends = {BackendKind::kOneDnn};
  if (arguments.backend == "eigen") options.backends = {BackendKind::kEigen};
  if (arguments.precision == "f32") options.precision = DType::kF32;
  if (arguments.precision == "f64") options.precision = DType::kF64;
  const VerifyReport report = VerifyCapture(arguments.directory, options);
  if (arguments.json) {
    PrintJson(report);
  } else {
    PrintText(report);
  }
  if (report.passed()) return;
  const std::int64_t bad = std::ranges::count_if(
      report.results, [](const EntryResult& result) { return IsBad(result.status); });
  throw CaptureError(
      {.where = arguments.directory,
       .required = "operations that compute what was recorded",
       .given = FormatCount(bad) + " of " + FormatCount(std::ssize(report.results)) + " do not",
       .advice = "the lines above say which, and why"});
}

}  // namespace

void AddVerifyCommand(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "verify", "Compute a capture's operations again and compare, without the training");
  const auto arguments = std::make_shared<VerifyArguments>();
  VerifyOptions& options = arguments->options;
  command.add_option("DIR", arguments->directory, "Directory of a capture")
      ->type_name(" ")
      ->required();
  command.add_option("--backend", arguments->backend, "Compute on this one alone")
      ->type_name("onednn|eigen")
      ->check(CLI::IsMember({"onednn", "eigen"}).description(""));
  command
      .add_option("--precision", arguments->precision,
                  "Compute in this type; else in that which was recorded")
      ->type_name("f32|f64")
      ->check(CLI::IsMember({"f32", "f64"}).description(""));
  AddSelection(command, options.selection.patterns);
  AddBytes(command, "--batch-bytes", options.batch_bytes,
           "Replace the process that computes behind so many bytes of tensors (512MiB)");
  AddBytes(command, "--memory-cap", options.memory_cap,
           "No process holds more than this in memory; entries are cut to fit");
  AddNumber(command, "--timeout", options.timeout_seconds, kTimeoutRange, "SECONDS",
            "End an entry that takes longer (300)");
  AddNumber(command, "--threads", options.threads, kThreadRange, "N",
            "Threads of kernels; else as many as were recorded");
  command.add_flag("--resume", options.resume, "Leave out what the results' file has already");
  command
      .add_option("--results", options.results,
                  "Write a line for each entry here (DIR/verify.jsonl)")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "Print JSON");
  command.callback([arguments, &action] { action = [arguments] { Verify(*arguments); }; });
}

}  // namespace frugal::cli
