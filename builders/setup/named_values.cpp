#include "builders/setup/named_values.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sdk/core/error.h"
#include "sdk/core/utf8.h"

namespace frugal {
namespace {

// True where the layer reads the named value.
bool Reads(const LayerSpec& spec, const std::string& name) {
  if (const auto* join = spec.options.As<JoinOptions>()) return join->with == name;
  const auto* take = spec.options.As<TakeOptions>();
  return take != nullptr && take->value == name;
}

std::size_t ReadersIn(std::span<const LayerSpec> specs, const std::string& name) {
  return static_cast<std::size_t>(
      std::ranges::count_if(specs, [&](const LayerSpec& spec) { return Reads(spec, name); }));
}

}  // namespace

void NamedValues::AddInput(std::string name, LayerInput value) {
  unread_.push_back(name);
  values_.push_back({.name = std::move(name), .value = std::move(value), .is_input = true});
}

std::unique_ptr<Layer> NamedValues::Save(const SaveOptions& options,
                                         std::span<const LayerSpec> behind, const LayerInput& value,
                                         const std::string& here) {
  const bool is_taken = std::ranges::find(values_, options.as, &Value::name) != values_.end();
  const std::size_t readers = ReadersIn(behind, options.as);
  if (is_taken || readers == 0) {
    throw ConfigError(
        {.where = here,
         .required = "a saved value has a name of its own, and a join or a take behind it reads it",
         .given = is_taken ? "as = " + QuotedName(options.as) + " is there already"
                           : "no layer of this list reads " + QuotedName(options.as),
         .advice = is_taken ? "rename one of them"
                            : "add { type = \"join\", with = " + QuotedName(options.as) +
                                  " }, or leave the save out"});
  }
  values_.insert(values_.end(), readers, Value{.name = options.as, .value = value});
  return std::make_unique<SaveLayer>(options, readers);
}

NamedValues::Read NamedValues::Take(const std::string& name, std::span<const LayerSpec> behind,
                                    const std::string& here) {
  // The last of equal ones: those before it pass the layer as they are.
  const auto found = std::ranges::find(values_.rbegin(), values_.rend(), name, &Value::name);
  if (found == values_.rend()) {
    throw ConfigError(
        {.where = here,
         .required = "a value of this name that the list has saved before, or that the data have "
                     "beside their first input (DataLayout::conditions)",
         .given = QuotedName(name) + ", and " + Names() + " there",
         .advice = "add { type = \"save\", as = " + QuotedName(name) + " } before it"});
  }
  std::erase(unread_, name);
  Read read = {.place = {.from_end = static_cast<std::size_t>(found - values_.rbegin()) + 1,
                         .stays = found->is_input && ReadersIn(behind, name) > 0},
               .value = found->value};
  if (!read.place.stays) values_.erase(std::next(found).base());
  return read;
}

void NamedValues::RequireInputsRead() const {
  if (unread_.empty()) return;
  const std::string& name = unread_.front();
  throw ConfigError({.where = "model.layers",
                     .required = "a layer reads each input that the data have",
                     .given = "none reads " + QuotedName(name),
                     .advice = "add { type = \"join\", with = " + QuotedName(name) +
                               " } or a take of it, or leave it out of DataLayout::conditions"});
}

std::vector<LayerInput> NamedValues::All() const {
  std::vector<LayerInput> all;
  for (const Value& value : values_) all.push_back(value.value);
  return all;
}

std::string NamedValues::Names() const {
  std::string names;
  for (const Value& value : values_) {
    if (!value.name.empty()) names += (names.empty() ? "" : ", ") + QuotedName(value.name);
  }
  return names.empty() ? "nothing is" : names + (values_.size() == 1 ? " is" : " are");
}

}  // namespace frugal
