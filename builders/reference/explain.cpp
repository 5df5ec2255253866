#include "builders/reference/explain.h"

#include <algorithm>
#include <functional>
#include <set>

#include "builders/config/architecture_reader.h"
#include "builders/config/dataset_registry.h"
#include "builders/config/types/layer_registry.h"
#include "builders/config/types/optimizer_registry.h"
#include "builders/reference/kind_docs.h"
#include "builders/reference/reference.h"
#include "presets/config/nearest_name.h"
#include "presets/memory_presets.h"
#include "presets/model_presets.h"
#include "sdk/core/error.h"
#include "sdk/core/utf8.h"
#include "sdk/data/dataset_registry.h"
#include "sdk/metrics/metric_registry.h"

namespace frugal {
namespace {

// Something that has a name, and what is said of it.
struct Topic {
  std::string name;
  std::function<std::string()> text;
  bool is_key = false;  // so that its last part is enough
};
using Topics = std::vector<Topic>;

std::string Line(const std::string& what, const std::string& text) {
  if (text.empty()) return "";
  std::string line = "  " + what;
  line.append(what.size() < 10 ? 10 - what.size() : 1, ' ');
  return line + text + "\n";
}

// "[optimizer]" and "lr = 0.001" below each other, to be copied into a file.
std::string InFile(const std::string& section, const std::string& assignment) {
  return Line("in a file", "[" + section + "]") + Line("", assignment);
}

// "Optimizer" of "optimizer": the call of AiModelBuilder that takes the section.
std::string CallOf(const std::string& section) {
  std::string call = section;
  call.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(call.front())));
  return call == "Model" ? "Name, Layers, Architecture" : call;
}

std::string TypeLines(const ReferenceRow& row) {
  return Line("type", row.type) + Line(row.field.required ? "" : "default", row.value);
}

std::string KeyText(const std::string& section, const ReferenceRow& row) {
  const std::string path = section + "." + row.name;
  std::string text = path + ": a key of [" + section + "]\n  " + row.field.doc + "\n\n";
  text += TypeLines(row);
  if (row.field.kind == ValueKind::kTable) {
    return text + Line("in a file", "[" + path + "]");
  }
  const std::string example = ExampleValue(row);
  return text + InFile(section, row.name + " = " + example) +
         Line("on top", "--set " + path + "=" + example) +
         Line("in C++", "AiModelBuilder::" + CallOf(section));
}

// One line for each row, names first.
std::string RowLines(const std::vector<ReferenceRow>& rows) {
  std::size_t width = 0;
  for (const ReferenceRow& row : rows) width = std::max(width, row.name.size());
  std::string text;
  for (const ReferenceRow& row : rows) {
    text += "  " + row.name + std::string(width + 2 - row.name.size(), ' ') + row.type;
    if (row.field.required) text += "; required";
    if (!row.field.required && !row.value.empty()) text += "; default " + row.value;
    text += "\n  " + std::string(width + 2, ' ') + row.field.doc + "\n";
  }
  return text;
}

void AddSections(Topics& topics) {
  for (SectionReference& section : SectionReferences()) {
    for (const ReferenceRow& row : section.rows) {
      topics.push_back({section.name + "." + row.name,
                        [name = section.name, row] { return KeyText(name, row); }, true});
    }
    topics.push_back({section.name, [section] {
                        return "[" + section.name + "]: a section of configuration files\n  " +
                               section.doc + "\n\n" + RowLines(section.rows);
                      }});
  }
}

std::string OwnedKeyText(const std::string& owner, const ReferenceRow& row) {
  return owner + "." + row.name + ": a key of " + owner + "\n  " + row.field.doc + "\n\n" +
         TypeLines(row);
}

// The fields of a layer or family, each a topic below its name, or by its own name alone too.
void AddFieldsOf(const std::string& owner, const FieldTable& table, bool is_key, Topics& topics) {
  for (const ReferenceRow& row : ReferenceRows(table)) {
    topics.push_back(
        {owner + "." + row.name, [owner, row] { return OwnedKeyText(owner, row); }, is_key});
  }
}

std::string LayerText(const LayerType& type) {
  const std::vector<ReferenceRow> rows = ReferenceRows(type.fields);
  std::string example = "{ type = \"" + type.name + "\"";
  for (const ReferenceRow& row : rows) {
    const bool is_inner = row.name.find('.') != std::string::npos;
    if (row.field.required && !is_inner) example += ", " + row.name + " = " + ExampleValue(row);
  }
  for (const std::string& key : type.nested) {
    if (key == "layers") example += ", layers = [ ... ]";
  }
  std::string text = type.name + ": a type of layer\n" + Line("in a file", example + " }");
  for (const std::string& key : type.nested) text += Line("holds", "a list of layers, " + key);
  return text + "\n" + RowLines(rows);
}

void AddLayers(Topics& topics) {
  for (const LayerType* type : LayerTypes().Rows()) {
    topics.push_back({type->name, [type] { return LayerText(*type); }});
    AddFieldsOf(type->name, type->fields, true, topics);
  }
}

void AddFamilies(Topics& topics) {
  for (const ArchitectureFamily* family : ArchitectureFamilies().Rows()) {
    topics.push_back({family->name, [family] {
                        return family->name + ": a family of networks\n" +
                               InFile("model", "family = \"" + family->name + "\"") +
                               Line("sizes", "[model.config]") +
                               Line("published", JoinWithCommas(PresetsOf(*family))) + "\n" +
                               RowLines(ReferenceRows(family->fields));
                      }});
    AddFieldsOf(family->name, family->fields, false, topics);
  }
  for (const ModelPreset& preset : ModelPresets()) {
    const std::string name(preset.name);
    topics.push_back({name, [name] {
                        return name + ": a published model of the family " +
                               FamilyOf(ArchitectureNamed(name)).name + "\n" +
                               InFile("model", "preset = \"" + name + "\"") +
                               Line("its plan", "frugal plan " + name);
                      }});
  }
}

std::string PresetText(const std::string& name) {
  std::string text = name + ": a memory preset\n  " + PresetDoc(name) + "\n\n" +
                     InFile("memory", "preset = \"" + name + "\"");
  for (const PresetSetting& setting : PresetSettings(name)) {
    text += Line("sets", setting.field + " = " + ToString(setting.value));
  }
  return text;
}

void AddPresetsAndMetrics(Topics& topics) {
  for (const std::string& name : PresetNames()) {
    topics.push_back({name, [name] { return PresetText(name); }});
  }
  for (const MetricRow* row : Metrics().Rows()) {
    topics.push_back({row->name, [row] {
                        return row->name + ": a metric\n  " + row->doc + "\n\n" +
                               Line("of", row->of_labels ? "labels" : "targets") +
                               Line("better",
                                    row->larger_is_better ? "the larger" : "the smaller") +
                               InFile("training", "metrics = [\"" + row->name + "\"]");
                      }});
  }
}

// The options that a registered row has for itself, as a section's table has them.
std::string OwnRowLines(const Registry<OwnFields>& rows, const std::string& name) {
  const OwnFields* own = rows.Find(name);
  if (own == nullptr) return "";
  std::vector<ReferenceRow> lines = ReferenceRows(own->fields);
  for (ReferenceRow& line : lines) line.name.insert(0, name + ".");
  return "\n" + RowLines(lines);
}

void AddDatasets(Topics& topics) {
  for (const DatasetRow* row : Datasets().Rows()) {
    topics.push_back({row->name, [row] {
                        return row->name + ": a data set\n  " + row->doc + "\n\n" +
                               InFile("data", "dataset = " + QuoteToml(row->name)) +
                               OwnRowLines(DatasetOptionFields(), row->name);
                      }});
  }
}

std::string KindText(const std::string& section, const std::string& kind) {
  return kind + ": a kind of [" + section + "]\n  " + std::string(DocOfKind(section, kind)) +
         "\n\n" + InFile(section, "kind = \"" + kind + "\"") +
         (section == "optimizer" ? OwnRowLines(OptimizerOptionFields(), kind) : "");
}

void AddKinds(Topics& topics) {
  for (const SectionReference& section : SectionReferences()) {
    for (const ReferenceRow& row : section.rows) {
      if (row.name != "kind") continue;
      for (const std::string& kind : row.field.choices) {
        topics.push_back({kind, [name = section.name, kind] { return KindText(name, kind); }});
      }
    }
  }
}

Topics AllTopics() {
  Topics topics;
  AddSections(topics);
  AddLayers(topics);
  AddFamilies(topics);
  AddPresetsAndMetrics(topics);
  AddKinds(topics);
  AddDatasets(topics);
  return topics;
}

}  // namespace

std::string ExampleValue(const ReferenceRow& row) {
  const Field& field = row.field;
  if (!field.required && !row.value.empty() && row.value != "none") return row.value;
  const auto least = static_cast<std::int64_t>(std::max(1.0, field.range.min.value_or(1)));
  switch (field.kind) {
    case ValueKind::kBool:
      return "true";
    case ValueKind::kInt:
    case ValueKind::kAmount:
      return std::to_string(least);
    case ValueKind::kReal:
      return ToString(Value{field.range.max_exclusive ? 0.5 : static_cast<double>(least)});
    case ValueKind::kText:
    case ValueKind::kChoice:
      return QuoteToml(field.choices.empty() ? "name" : field.choices.front());
    case ValueKind::kIntList:
      if (field.single_ok) return std::to_string(least);
      return ToString(
          Value{std::vector<std::int64_t>(std::max<std::size_t>(1, field.min_items), least)});
    case ValueKind::kTextList:
      return ToString(
          Value{std::vector<std::string>{field.choices.empty() ? "name" : field.choices.front()}});
    default:
      return "{}";
  }
}

std::vector<std::string> ExplainableNames() {
  std::set<std::string> names;
  for (const Topic& topic : AllTopics()) names.insert(topic.name);
  return {names.begin(), names.end()};
}

std::string ExplainText(const std::string& name) {
  std::string text;
  const Topics topics = AllTopics();
  const auto add_where = [&](const std::function<bool(const Topic&)>& is_meant) {
    for (const Topic& topic : topics) {
      if (is_meant(topic)) text += (text.empty() ? "" : "\n") + topic.text();
    }
  };
  add_where([&](const Topic& topic) { return topic.name == name; });
  if (!text.empty()) return text;
  add_where([&](const Topic& topic) { return topic.is_key && topic.name.ends_with("." + name); });
  if (!text.empty()) return text;
  const std::string nearest = SuggestName(name, ExplainableNames());
  throw ConfigError({.where = "explain",
                     .required = "the name of a key, a section, a layer, a network, a preset, a "
                                 "metric, a data set, or a kind of loss, optimizer or schedule",
                     .given = QuotedName(name) + " was given",
                     .advice = nearest.empty() ? "`frugal reference` lists all" : nearest});
}

}  // namespace frugal
