#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

#include "builders/cli/commands.h"
#include "builders/cli/snapshot_text.h"
#include "builders/cli/tensor_statistics.h"
#include "builders/report/text/text_table.h"
#include "builders/snapshot/find_snapshot.h"
#include "sdk/core/byte_size.h"
#include "sdk/core/number_text.h"
#include "sdk/io/weights/open_weights.h"

namespace frugal::cli {
namespace {

struct InspectArguments {
  std::string file;
  bool values = false;
};

std::string Number(double value) { return CompactText(value, 6); }

void AddStatistics(const WeightSource& file, const StoredTensor& tensor,
                   std::vector<std::string>& row) {
  const TensorStatistics statistics = StatisticsOf(file, tensor);
  if (statistics.count == 0) {
    row.insert(row.end(), 4, "-");
  } else {
    for (const double value : {statistics.min, statistics.max, statistics.mean, statistics.std}) {
      row.push_back(Number(value));
    }
  }
  row.push_back(FormatCount(statistics.nan_count));
}

TextTable TableOf(const WeightSource& file, bool values) {
  TextTable table;
  table.width = 160;
  table.columns = {{"tensor"}, {"dtype"}, {"shape"}, {"bytes", true}};
  if (values) {
    for (const char* title : {"min", "max", "mean", "std", "nan"}) {
      table.columns.push_back({title, true});
    }
  }
  for (const StoredTensor& tensor : file.Entries()) {
    std::vector<std::string> row = {Printable(tensor.name), std::string(NameOf(tensor.dtype)),
                                    ToString(tensor.shape), FormatCount(ByteCount(tensor))};
    if (values) AddStatistics(file, tensor, row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void PrintTotals(const WeightSource& file) {
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  for (const StoredTensor& tensor : file.Entries()) {
    elements += tensor.shape.ElementCount();
    bytes += ByteCount(tensor);
  }
  std::cout << FormatCount(std::ssize(file.Entries())) << " tensors, " << FormatCount(elements)
            << " elements, " << FormatCount(bytes) << " bytes (" << FormatBytes(bytes) << ")\n";
}

// A text of several lines stands below its key.
void PrintEntry(const std::string& key, const std::string& text) {
  std::cout << "  " << Printable(key) << " = ";
  if (text.find('\n') == std::string::npos) {
    std::cout << Printable(text) << "\n";
    return;
  }
  std::istringstream lines(text);
  std::cout << "\n";
  for (std::string line; std::getline(lines, line);) {
    std::cout << (line.empty() ? "" : "    ") << Printable(line) << "\n";
  }
}

void Inspect(const InspectArguments& arguments) {
  std::error_code ignored;
  if (std::filesystem::is_directory(arguments.file, ignored)) {
    const Snapshot snapshot = OpenSnapshot(SnapshotAt(arguments.file));
    std::cout << SnapshotText(snapshot);
    for (const auto& file : snapshot.state->files()) {
      if (arguments.values) std::cout << "\n" << ToText(TableOf(*file, true));
    }
    return;
  }
  const std::unique_ptr<WeightSource> file = OpenWeights(arguments.file);
  std::cout << ToText(TableOf(*file, arguments.values));
  PrintTotals(*file);
  if (file->Metadata().empty()) return;
  std::cout << "metadata\n";
  for (const auto& [key, text] : file->Metadata()) {
    PrintEntry(key, text);
  }
}

}  // namespace

void AddInspectCommand(CLI::App& app, Action& action) {
  CLI::App& command =
      *app.add_subcommand("inspect", "List the tensors of a weight file, or what a snapshot holds");
  const auto arguments = std::make_shared<InspectArguments>();
  command
      .add_option("FILE", arguments->file,
                  "Weight file: safetensors, JSON or binary; or the directory of a snapshot")
      ->type_name(" ")
      ->required();
  command.add_flag("--values", arguments->values,
                   "Read the values too: range, mean, standard deviation, number of NaN");
  command.callback([arguments, &action] { action = [arguments] { Inspect(*arguments); }; });
}

}  // namespace frugal::cli
