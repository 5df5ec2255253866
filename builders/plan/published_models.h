#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "builders/plan/planned_training.h"

namespace frugal {

// Names of the published models (presets/models), in alphabetical order.
std::vector<std::string> NamedModels();

// Says what that model is and where it is published, and of a cascade which networks follow: the
// first line of its file. Empty for a name that there is not.
std::string PublishedAs(std::string_view name);

// A training of a published model as it is planned where there are no data: its loss is cross
// entropy where the network ends in logits, else the mean squared error, its optimizer AdamW; then
// the overrides ("section.key=value") on top. Throws ConfigError for a name that there is not, with
// the nearest, for everything that is wrong in the overrides, and for those of [data] that such a
// plan does not read: all but sequence_length, of models over tokens.
RunConfig NamedModelConfig(const std::string& name, const std::vector<std::string>& overrides = {});

// Describes what data of that configuration's network would look like. Inputs are as large as those
// that the network was published for; the targets have the shape of its output, which a dry run
// finds, or are labels. Two batches of them: the second step finds the optimizer's state in place.
DataLayout LayoutWithoutData(const RunConfig& config);

// Plans that training, touching no weight; NotesOn says what was assumed.
PlannedTraining PlanNamedModel(const std::string& name,
                               const std::vector<std::string>& overrides = {},
                               PlanPurpose purpose = PlanPurpose::kRun);

// A published model as lists show it.
struct ModelListing {
  std::string name;
  std::string family;
  std::int64_t parameters = 0;
  std::int64_t held_bytes = 0;   // parameters and buffers in f32
  std::int64_t train_bytes = 0;  // the planned peak of training on one sample (PlanNamedModel)
  std::string published;         // what it is and where: the first line of its file
};

// All of them in alphabetical order, planned under that memory preset. Throws ConfigError where
// there is no such preset.
std::vector<ModelListing> ListModels(const std::string& memory_preset);

}  // namespace frugal
