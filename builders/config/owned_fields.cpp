#include "builders/config/owned_fields.h"

#include <algorithm>

namespace frugal {
namespace {

std::string OwnersOf(const OwnedField& field, const SectionKind& of) {
  if (!of.quotes_owners) return of.owner + ListOf(field.owners);
  std::vector<std::string> quoted;
  for (const std::string& name : field.owners) quoted.push_back("\"" + name + "\"");
  return of.owner + ListOf(quoted, " or ");
}

}  // namespace

void CheckOwnedFields(const RunConfig& config, const SectionKind& of,
                      const std::vector<OwnedField>& fields, Diagnostics& diagnostics) {
  for (const OwnedField& field : fields) {
    if (std::ranges::find(field.owners, of.kind) != field.owners.end()) continue;
    if (!IsMeant(config, of.section, field.key, field.is_set, of.key)) continue;
    diagnostics.Add(config.origins.PlaceOf(of.section + "." + field.key),
                    {.where = of.section,
                     .required = field.key + " belongs to " + OwnersOf(field, of),
                     .given = of.given.empty() ? "kind = \"" + of.kind + "\"" : of.given,
                     .advice = of.advice});
  }
}

void CheckOwnOptions(const RunConfig& config, const OwnOptionsOfKind& of, const OwnOptions& options,
                     Diagnostics& diagnostics) {
  if (options.empty() || options.type() == of.defaults.type()) return;
  diagnostics.Add(config.origins.PlaceOf(of.section),
                  {.where = of.section,
                   .required = "options is the struct of " + of.owner,
                   .given = of.given + (of.defaults.empty() ? ", which has none"
                                                            : ", which has another struct"),
                   .advice = "give its own, or leave options out"});
}

bool IsMeant(const RunConfig& config, const std::string& section, const std::string& key,
             bool is_set, const std::string& by) {
  const OriginKind origin = config.origins.Of(section + "." + key).kind;
  const bool by_code = config.origins.Of(section + "." + by).kind == OriginKind::kCode;
  return is_set || origin == OriginKind::kCommandLine || (origin == OriginKind::kFile && !by_code);
}

std::string ListOf(const std::vector<std::string>& names, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 < names.size() ? ", " : last;
    text += names[i];
  }
  return text;
}

}  // namespace frugal
