#include "builders/config/types/layer_families.h"
#include "builders/config/types/shared_fields.h"

namespace frugal {
namespace {

Choices<Combine> CombineChoices() {
  Choices<Combine> choices;
  for (const Combine combine : {Combine::kAdd, Combine::kMultiply, Combine::kConcat}) {
    choices.emplace_back(NameOf(combine), combine);
  }
  return choices;
}

}  // namespace

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
           .nested = {"layers"}},
          {.name = "save",
           .defaults = SaveOptions(),
           .fields = MakeFieldTable<SaveOptions>(
               "save", {MakeField("as", &SaveOptions::as,
                                  "A name for the value here, for a join further on in the list.",
                                  {.required = true})}),
           .make = {}},
          {.name = "join",
           .defaults = JoinOptions(),
           .fields = MakeFieldTable<JoinOptions>(
               "join", {MakeField("with", &JoinOptions::with, "The name of a saved value.",
                                  {.required = true}),
                        MakeChoice("combine", &JoinOptions::combine,
                                   "How the two are put together.", CombineChoices())}),
           .make = {}}};
}

}  // namespace frugal
