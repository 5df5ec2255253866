#include "builders/config/types/loss_fields.h"

#include "builders/config/types/kind_field.h"
#include "builders/config/types/own_options_field.h"
#include "presets/config/field_limits.h"
#include "presets/config/make_field.h"
#include "sdk/train/loss_registry.h"

namespace frugal {
namespace {

// Sums of them stay far from the largest f32.
constexpr double kMostClassWeight = 1e6;

FieldTable MakeLossFields() {
  return MakeFieldTable<LossOptions>(
      "loss",
      {KindField<LossOptions>("What is minimized.", Losses(), kLossKindCount),
       MakeField("label_smoothing", &LossOptions::label_smoothing,
                 "Cross entropy: share of the target spread over all classes.",
                 {.min = 0, .max = 1, .max_exclusive = true}),
       MakeField("ignore_index", &LossOptions::ignore_index,
                 "Cross entropy, focal: rows with this label do not count. CTC: pads a "
                 "sample's labels."),
       MakeField("delta", &LossOptions::delta, "Huber: where the square turns into a line.",
                 {.min = 0, .min_exclusive = true}),
       MakeField("class_weights", &LossOptions::class_weights,
                 "Cross entropy, focal: a weight for each class; the mean divides by those "
                 "of the labels.",
                 {.min = 0, .max = kMostClassWeight}),
       MakeField("gamma", &LossOptions::gamma,
                 "Focal: rows count (1 - p)^gamma, p the probability of their label.",
                 {.min = 0, .max = 100}),
       MakeField("alpha", &LossOptions::alpha, "Focal: a factor of the loss.",
                 {.min = 0, .min_exclusive = true}),
       MakeField("margin", &LossOptions::margin,
                 "Hinge: by how much the label's output is to lead. Triplet: by how much "
                 "the like is to be nearer.",
                 {.min = 0, .min_exclusive = true}),
       MakeField("blank", &LossOptions::blank, "CTC: the class that says nothing.",
                 {.min = 0, .max = kMostPerAxis}),
       MakeField("zero_infinity", &LossOptions::zero_infinity,
                 "CTC: samples of more labels than steps count 0; else they are refused.")});
}

}  // namespace

const FieldTable& LossFields() {
  static GrowingFields fields(MakeLossFields);
  return fields.At(Losses().Rows().size());
}

}  // namespace frugal
