#pragma once

#include <string>
#include <vector>

#include "builders/config/run_config.h"
#include "presets/config/diagnostics.h"

namespace frugal {

// A field that only some kinds of its section read: set for another kind, it would be dead.
struct OwnedField {
  std::string key;
  bool is_set = false;              // to another value than its default
  std::vector<std::string> owners;  // kinds by name
};

// A section's kind, and the words of a message about fields that belong to others.
struct SectionKind {
  std::string section;       // "schedule"
  std::string kind;          // "step"
  std::string key = "kind";  // that says so
  std::string owner = {};    // before the names of owners: "the schedule "
  bool quotes_owners = true;
  std::string given = {};  // none: kind = "step"
  std::string advice = "leave it out, or change the kind";
};

// Complains about each field that is meant and belongs to other kinds.
void CheckOwnedFields(const RunConfig& config, const SectionKind& of,
                      const std::vector<OwnedField>& fields, Diagnostics& diagnostics);

// A section whose kind has options of its own, and the words of a message about them.
struct OwnOptionsOfKind {
  std::string section;  // "optimizer"
  std::string owner;    // "the rule that kind names"
  std::string given;    // kind = "sgd"
  OwnOptions defaults;  // the kind's; none where it has none
};

// Complains about options that were given in code and are a struct of another kind.
void CheckOwnOptions(const RunConfig& config, const OwnOptionsOfKind& of, const OwnOptions& options,
                     Diagnostics& diagnostics);

// Returns true where somebody meant the field of a section whose `by` decides if it is read: it
// has another value than its default, or a file or a command line names it. Where code replaced the
// section, what the file said of it no longer counts.
bool IsMeant(const RunConfig& config, const std::string& section, const std::string& key,
             bool is_set, const std::string& by = "kind");

template <class Kind>
std::vector<std::string> NamesOf(const std::vector<Kind>& kinds) {
  std::vector<std::string> names;
  for (const Kind kind : kinds) names.emplace_back(NameOf(kind));
  return names;
}

// "sgd, adam and adamw"
std::string ListOf(const std::vector<std::string>& names, const std::string& last = " and ");

}  // namespace frugal
