#include "builders/setup/network_outputs.h"

#include <algorithm>
#include <span>

#include "sdk/core/error.h"
#include "sdk/core/utf8.h"

namespace frugal {
namespace {

[[noreturn]] void Refuse(std::string required, std::string given, std::string advice) {
  throw ConfigError({.where = "model",
                     .required = std::move(required),
                     .given = std::move(given),
                     .advice = std::move(advice)});
}

std::string NamesOf(const std::vector<NamedTargets>& all) {
  std::string names;
  for (const NamedTargets& targets : all) {
    names += (names.empty() ? "" : ", ") + QuotedName(targets.name);
  }
  return names;
}

// Returns the number of classes of what the output is compared with; 0 where it is values.
std::int64_t ClassesFor(const NetworkOutput& output, const DataLayout& layout) {
  const std::string& target = output.options.target;
  if (target.empty()) return layout.classes;
  const auto found = std::ranges::find(layout.more_targets, target, &NamedTargets::name);
  if (found != layout.more_targets.end()) return found->classes;
  Refuse("output " + QuotedName(output.name) + " is compared with targets that the data have",
         "target = " + QuotedName(target) + ", and they have " +
             (layout.more_targets.empty() ? "one kind of targets, without a name"
                                          : NamesOf(layout.more_targets) + " beside the first"),
         "leave target out to compare with the first ones, or bring data with "
         "DataLayout::more_targets");
}

void CheckLoss(const NetworkOutput& output, std::int64_t classes) {
  const LossOptions& loss = output.options.loss;
  const auto weights = static_cast<std::int64_t>(loss.class_weights.size());
  if (weights > 0 && weights != classes) {
    Refuse("class_weights of output " + QuotedName(output.name) + " has one for each of the " +
               std::to_string(classes) + " classes",
           std::to_string(weights) + " were given", "list them in the order of the classes");
  }
  if (loss.function || TakesLabels(loss.kind) == (classes > 0)) return;
  Refuse("the loss of output " + QuotedName(output.name) + " takes its targets, which are " +
             (classes > 0 ? "class labels" : "values"),
         "loss.kind = \"" + std::string(NameOf(loss.kind)) + "\"",
         classes > 0 ? "use cross_entropy, or values as targets"
                     : "use mse, l1 or huber, or labels as targets");
}

// A label that one of them leaves out would be no class to the other.
void CheckSharedLabels(const NetworkOutput& output, const LossOptions& first,
                       std::span<const NetworkOutput> before) {
  const std::string& target = output.options.target;
  const auto other = std::ranges::find_if(
      before, [&](const NetworkOutput& one) { return one.options.target == target; });
  if (!target.empty() && other == before.end()) return;
  const std::int64_t left_out = (target.empty() ? first : other->options.loss).ignore_index;
  if (output.options.loss.ignore_index == left_out) return;
  Refuse("outputs that are compared with the same labels leave out the same one",
         "output " + QuotedName(output.name) +
             " has loss.ignore_index = " + std::to_string(output.options.loss.ignore_index) +
             ", and another has " + std::to_string(left_out),
         "give both the same ignore_index");
}

}  // namespace

NetworkOutputs ResolveOutputs(const Sequential& network, const DataLayout& layout,
                              const LossOptions& loss, const DiffusionProcess* diffusion) {
  const NetworkOutputs& outputs = network.outputs();
  if (diffusion != nullptr && !outputs.empty()) {
    Refuse("in diffusion the network has one output",
           "it has " + QuotedName(outputs[0].name) + " too", "leave that out");
  }
  for (auto at = outputs.begin(); at != outputs.end(); ++at) {
    if (at->name == "main" || std::ranges::count(outputs, at->name, &NetworkOutput::name) > 1) {
      Refuse("outputs have different names, and the first one is called main",
             "another one is called " + QuotedName(at->name), "rename one of them");
    }
    CheckLoss(*at, ClassesFor(*at, layout));
    CheckSharedLabels(*at, loss, std::span(outputs.begin(), at));
  }
  for (const NamedTargets& targets : layout.more_targets) {
    const bool is_used = std::ranges::any_of(outputs, [&](const NetworkOutput& output) {
      return output.options.target == targets.name;
    });
    if (is_used) continue;
    Refuse("an output is compared with each of the data's targets",
           "none is with " + QuotedName(targets.name),
           "add { type = \"output\", target = " + QuotedName(targets.name) +
               " }, or leave it out of DataLayout::more_targets");
  }
  return outputs;
}

}  // namespace frugal
