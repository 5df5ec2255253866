#include "presets/presets_table.h"

#include <algorithm>
#include <vector>

#include "presets/memory_fields.h"
#include "presets/memory_presets.h"

namespace frugal {
namespace {

constexpr std::size_t kPresetsPerBlock = 4;

using Column = std::vector<std::string>;  // its header, then one cell for each row

std::string Plain(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? *text : ToString(value);
}

struct Row {
  std::string name;
  std::string text;
};

// One row for each field; those of a table inside follow it, with the values that hold without it.
std::vector<Row> RowsOf(const FieldTable& table, const void* object, const std::string& prefix) {
  std::vector<Row> rows;
  for (const Field& field : table.fields) {
    const std::string name = prefix + field.name;
    if (!field.sub) {
      rows.push_back({name, Plain(field.get(object))});
      continue;
    }
    const void* inner = field.sub->find(object);
    rows.push_back({name, inner ? "set" : "none"});
    const void* shown = inner ? inner : field.sub->table.defaults.get();
    for (Row& row : RowsOf(field.sub->table, shown, name + ".")) rows.push_back(std::move(row));
  }
  return rows;
}

// Returns the name by which the table shows what the user gives to a preset; empty for all else.
std::string ArgumentName(const std::string& preset, const std::string& field) {
  if (preset == "MultiGpu" && field == "num_devices") return "n";
  if (preset == "ForTransferLearning" && field == "weights_file_path") return "path";
  if (preset == "ForTransferLearning" && field == "weights_file_format") return "format (Auto)";
  if (preset != "AggressivePooling") return "";
  const bool is_mb =
      field == "max_pool_memory_mb" || field == "tensor_pool_options.max_pool_size_mb";
  return is_mb ? "mb (512)" : "";
}

Column ColumnOf(const std::string& preset) {
  const TrainingMemoryConfig config = PresetByName(preset);
  const std::vector<Row> defaults = RowsOf(MemoryFields(), MemoryFields().defaults.get(), "");
  const std::vector<Row> rows = RowsOf(MemoryFields(), &config, "");
  Column column = {preset};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string argument = ArgumentName(preset, rows[i].name);
    const bool same = argument.empty() && rows[i].text == defaults[i].text && preset != "Default";
    column.push_back(same ? "." : argument.empty() ? rows[i].text : argument);
  }
  return column;
}

// Fields of the table inside stand indented under it.
Column NameColumn() {
  Column column = {""};
  for (const Row& row : RowsOf(MemoryFields(), MemoryFields().defaults.get(), "")) {
    const std::size_t dot = row.name.find('.');
    column.push_back(dot == std::string::npos ? row.name : "  ." + row.name.substr(dot + 1));
  }
  return column;
}

std::string BlockText(const std::vector<Column>& columns) {
  std::vector<std::string> lines(columns.front().size());
  for (const Column& column : columns) {
    std::size_t width = 0;
    for (const std::string& cell : column) width = std::max(width, cell.size());
    for (std::size_t row = 0; row < lines.size(); ++row) {
      lines[row] += column[row] + std::string(width - column[row].size() + 2, ' ');
    }
  }
  std::string text;
  for (const std::string& line : lines)
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

}  // namespace

std::string PresetsTable() {
  const std::vector<std::string> presets = PresetNames();
  std::string text;
  for (std::size_t begin = 1; begin < presets.size(); begin += kPresetsPerBlock) {
    std::vector<Column> columns = {NameColumn(), ColumnOf("Default")};
    const std::size_t end = std::min(begin + kPresetsPerBlock, presets.size());
    for (std::size_t i = begin; i < end; ++i) columns.push_back(ColumnOf(presets[i]));
    text += BlockText(columns) + "\n";
  }
  text += "A dot is the default.\n";
  for (const std::string& preset : presets) text += "  " + preset + ": " + PresetDoc(preset) + "\n";
  return text;
}

}  // namespace frugal
