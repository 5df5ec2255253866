#include "builders/setup/nominal_layout.h"

#include "sdk/core/error.h"

namespace frugal {
namespace {

NominalLayout LayoutOf(const NominalSamples& samples, std::int64_t sequence_length) {
  NominalLayout natural;
  natural.has_labels = samples.classes > 0;
  natural.layout.sample_shape = samples.sample;
  natural.layout.classes = samples.classes;
  natural.layout.vocabulary = samples.vocabulary;
  if (samples.vocabulary == 0) return natural;
  if (sequence_length > 0) natural.layout.sample_shape = {sequence_length};
  if (natural.has_labels) natural.layout.label_shape = natural.layout.sample_shape;
  return natural;
}

}  // namespace

NominalLayout NominalLayoutOf(const ArchitectureConfig& config, const Sequential& network,
                              std::int64_t sequence_length) {
  const ArchitectureFamily& family = FamilyOf(config);
  if (family.samples) return LayoutOf(family.samples(config), sequence_length);
  const NetworkInputs& inputs = network.inputs();
  if (inputs.empty()) {
    throw ConfigError({.where = "model",
                       .required = "a plan without data needs to know what the network takes",
                       .given = "the family " + family.name + " does not say",
                       .advice = "describe data in [data] of a configuration file"});
  }
  NominalLayout natural;
  natural.layout.sample_shape = inputs.front().shape;
  natural.layout.conditions.assign(inputs.begin() + 1, inputs.end());
  return natural;
}

}  // namespace frugal
