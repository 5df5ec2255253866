#include "builders/config/types/list_words.h"

#include "builders/config/types/loss_fields.h"
#include "layers/joins/again.h"
#include "layers/joins/branches.h"
#include "layers/joins/saved_values.h"
#include "layers/residual.h"
#include "layers/sequential.h"
#include "layers/types/shared_fields.h"
#include "sdk/train/network_output.h"

namespace frugal {
namespace {

Choices<Combine> CombineChoices() {
  Choices<Combine> choices;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Combine::kCount); ++i) {
    choices.emplace_back(NameOf(static_cast<Combine>(i)), static_cast<Combine>(i));
  }
  return choices;
}

std::vector<LayerType> ContainerTypes() {
  return {{.name = "residual",
           .defaults = ResidualOptions(),
           .fields = MakeFieldTable<ResidualOptions>(
               "residual",
               {ActivationField("activation", &ResidualOptions::activation, "Behind the sum.")}),
           .make = {},
           .nested = {"layers", "shortcut"}},
          {.name = "sequential",
           .defaults = SequentialOptions(),
           .fields = MakeFieldTable<SequentialOptions>("sequential", {}),
           .make = {},
           .nested = {"layers"}},
          {.name = "branches",
           .defaults = BranchesOptions(),
           .fields = MakeFieldTable<BranchesOptions>(
               "branches", {MakeChoice("combine", &BranchesOptions::combine,
                                       "How what its layers make of one input is put together.",
                                       CombineChoices())}),
           .make = {},
           .nested = {"layers"}}};
}

std::vector<LayerType> NamedValueTypes() {
  return {
      {.name = "save",
       .defaults = SaveOptions(),
       .fields = MakeFieldTable<SaveOptions>(
           "save",
           {MakeField("as", &SaveOptions::as,
                      "A name for the value here, for a join or a take further on in the list.",
                      {.required = true})}),
       .make = {}},
      {.name = "join",
       .defaults = JoinOptions(),
       .fields = MakeFieldTable<JoinOptions>(
           "join", {MakeField("with", &JoinOptions::with,
                              "The name of a saved value, or of an input.", {.required = true}),
                    MakeChoice("combine", &JoinOptions::combine, "How the two are put together.",
                               CombineChoices())}),
       .make = {}},
      {.name = "take",
       .defaults = TakeOptions(),
       .fields = MakeFieldTable<TakeOptions>(
           "take", {MakeField("value", &TakeOptions::value,
                              "The saved value, or the input, to go on with in place of this one.",
                              {.required = true})}),
       .make = {}},
      {.name = "again",
       .defaults = AgainOptions(),
       .fields = MakeFieldTable<AgainOptions>(
           "again", {MakeField("layer", &AgainOptions::layer,
                               "The name of a layer before it, to run again with its weights.",
                               {.required = true})}),
       .make = {}},
      {.name = "output",
       .defaults = NetworkOutputOptions(),
       .fields = MakeFieldTable<NetworkOutputOptions>(
           "output", {MakeField("target", &NetworkOutputOptions::target,
                                "Targets of the data by name; empty: those that all data have."),
                      MakeTable("loss", &NetworkOutputOptions::loss, "As [loss], of this output.",
                                LossFields()),
                      MakeField("weight", &NetworkOutputOptions::weight, "Of its loss in the sum.",
                                {.min = 0, .min_exclusive = true})}),
       .make = {},
       .nested = {"layers"}}};
}

}  // namespace

std::vector<LayerType> ListWords() {
  std::vector<LayerType> words = ContainerTypes();
  for (LayerType& word : NamedValueTypes()) words.push_back(std::move(word));
  return words;
}

}  // namespace frugal
