#include "builders/config/types/own_options_field.h"

#include <algorithm>

#include "presets/config/value.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

bool IsOfBareKey(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
}

}  // namespace

void RequireTableName(const std::string& name, const std::vector<Field>& keys,
                      const OwnTablePlace& place) {
  const auto refuse = [&](const std::string& required, const std::string& given) {
    throw UsageError({.where = place.where,
                      .required = required,
                      .given = QuoteToml(name) + given,
                      .advice = "give it another name"});
  };
  const bool is_key = std::ranges::find(keys, name, &Field::name) != keys.end();
  if (is_key) {
    refuse("options of its own stand in a table beside the keys of [" + place.section + "]",
           " is one of these keys");
  }
  if (!std::ranges::all_of(name, IsOfBareKey)) {
    refuse("a name with options of its own is made of letters, digits, - and _", " has others");
  }
}

}  // namespace frugal
