#pragma once

#include <string>
#include <vector>

#include "presets/config/reference_text.h"

namespace frugal {

// A section of configuration files with all its keys.
struct SectionReference {
  std::string name;  // "optimizer"
  std::string doc;
  std::vector<ReferenceRow> rows;
};

// All sections, [memory] first. Types of layers and sizes of families are beside them
// (LayerTypes, ArchitectureFamilies).
std::vector<SectionReference> SectionReferences();

// A page of Markdown with every key, type of layer, family, published model, memory preset, metric
// and kind of loss, optimizer and schedule: ours, and those that the program registered.
std::string ReferencePage();

}  // namespace frugal
