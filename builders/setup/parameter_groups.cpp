#include "builders/setup/parameter_groups.h"

#include <algorithm>
#include <set>

#include "presets/config/nearest_name.h"
#include "presets/config/value.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

bool LiesUnder(const std::string& path, const std::string& name) {
  return path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '.');
}

std::vector<Parameter*> Under(const std::string& name, std::span<Parameter* const> parameters) {
  std::vector<Parameter*> found;
  for (Parameter* parameter : parameters) {
    const bool by_alias = std::ranges::any_of(
        parameter->aliases, [&](const std::string& alias) { return LiesUnder(alias, name); });
    if (by_alias || LiesUnder(parameter->path, name)) found.push_back(parameter);
  }
  return found;
}

// "layer1.0.conv1.weight" gives "layer1", "layer1.0", "layer1.0.conv1" and itself.
std::vector<std::string> NamesIn(std::span<Parameter* const> parameters) {
  std::set<std::string> names;
  for (const Parameter* parameter : parameters) {
    const std::string& path = parameter->path;
    for (std::size_t end = path.find('.'); end != std::string::npos;
         end = path.find('.', end + 1)) {
      names.insert(path.substr(0, end));
    }
    names.insert(path);
  }
  return {names.begin(), names.end()};
}

// One of the two fields that name parts of the network.
class PathList {
 public:
  PathList(const RunConfig& config, std::string key, std::span<Parameter* const> parameters)
      : config_(config), key_(std::move(key)), parameters_(parameters) {}

  [[noreturn]] void Refuse(Diagnostic diagnostic) const {
    diagnostic.where = key_;
    throw ConfigError(diagnostic, config_.origins.PlaceOf(key_));
  }

  std::vector<Parameter*> Under(const std::string& name) const {
    std::vector<Parameter*> found = frugal::Under(name, parameters_);
    if (!found.empty()) return found;
    Refuse({.where = {},
            .required = "each path leads to parameters of the network",
            .given = "nothing lies under " + Shorten(QuoteToml(name)),
            .advice = Advice(name)});
  }

 private:
  std::string Advice(const std::string& name) const {
    const std::vector<std::string> names = NamesIn(parameters_);
    if (names.empty()) return "leave it out: the network has no parameters";
    const std::string suggestion = SuggestName(name, names);
    return suggestion.empty() ? "paths go from " + names.front() + " to " + names.back()
                              : suggestion;
  }

  const RunConfig& config_;
  std::string key_;
  std::span<Parameter* const> parameters_;
};

bool IsTrainable(const Parameter* parameter) { return parameter->trainable; }

void RequireTrainable(const RunConfig& config, std::span<Parameter* const> parameters) {
  if (std::ranges::any_of(parameters, IsTrainable)) return;
  PathList(config, "model", parameters)
      .Refuse({.where = {},
               .required = "a network with parameters to train",
               .given = "none of its layers has any",
               .advice = "add one that has, such as dense"});
}

void Freeze(const RunConfig& config, std::span<Parameter* const> parameters) {
  const PathList list(config, "training.frozen", parameters);
  for (const std::string& name : config.training.frozen) {
    for (Parameter* parameter : list.Under(name)) {
      parameter->frozen = true;
      parameter->trainable = false;
    }
  }
  if (config.training.frozen.empty() || std::ranges::any_of(parameters, IsTrainable)) return;
  list.Refuse({.where = {},
               .required = "something is left to train",
               .given = "the paths freeze every parameter",
               .advice = "leave out the last layer's"});
}

void Slow(const RunConfig& config, std::span<Parameter* const> parameters) {
  const PathList list(config, "optimizer.lr_multiplier_for", parameters);
  for (const std::string& name : config.optimizer.lr_multiplier_for) {
    bool learns = false;
    for (Parameter* parameter : list.Under(name)) {
      parameter->rate_factor = config.optimizer.lr_multiplier;
      learns = learns || parameter->trainable;
    }
    if (learns) continue;
    list.Refuse({.where = {},
                 .required = "something under each path is trained",
                 .given = "all under " + Shorten(QuoteToml(name)) + " is frozen",
                 .advice = "name it in one of training.frozen and optimizer.lr_multiplier_for"});
  }
}

}  // namespace

void SetParameterGroups(const RunConfig& config, std::span<Parameter* const> parameters) {
  RequireTrainable(config, parameters);
  Freeze(config, parameters);
  Slow(config, parameters);
}

}  // namespace frugal
