#include "presets/preset_names.h"

#include <algorithm>

#include "presets/config/nearest_name.h"
#include "presets/config/value.h"
#include "presets/memory_preset_files.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

// "ForConvNets" -> "for_conv_nets", the name of its file.
std::string StemOf(std::string_view name) {
  std::string stem;
  for (const char letter : name) {
    const bool is_capital = letter >= 'A' && letter <= 'Z';
    if (is_capital && !stem.empty()) stem += '_';
    stem += is_capital ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return stem;
}

}  // namespace

std::string PresetText(std::string_view name) {
  const std::string stem = StemOf(name);
  const auto& files = MemoryPresetFiles();
  const auto found = std::ranges::find(files, stem, &MemoryPresetFile::stem);
  const std::vector<std::string> names = PresetNames();
  if (found == files.end() || std::ranges::find(names, name) == names.end()) {
    throw ConfigError({"memory", "'preset' must be one of " + JoinWithCommas(names),
                       Shorten(QuoteToml(name)) + " was given", SuggestName(name, names)});
  }
  return std::string(found->toml);
}

std::vector<std::string> PresetNames() {
  return {"Default",          "MemoryEfficient", "SpeedOptimized",      "MultiGpu",
          "ForTransformers",  "ForConvNets",     "ForTransferLearning", "FastConstruction",
          "AggressivePooling"};
}

std::string PresetDoc(std::string_view name) {
  const std::string text = PresetText(name);
  constexpr std::size_t kBegin = 2;  // behind "# "
  return text.substr(kBegin, text.find('\n') - kBegin);
}

Field PresetField() {
  Field field;
  field.name = "preset";
  field.doc =
      "Named settings, or the path of a preset's file, to begin with; the other keys of the table "
      "change them.";
  field.kind = ValueKind::kChoice;
  field.choices = PresetNames();
  field.other_texts = "\\.toml$|/";
  return field;
}

Field ExtendField() {
  Field field = PresetField();
  field.name = "extend";
  field.doc = "In a preset's file: the preset that it begins with.";
  return field;
}

}  // namespace frugal
