#include "builders/config/types/loss_fields.h"

#include "presets/config/make_field.h"
#include "sdk/train/loss.h"

namespace frugal {
namespace {

template <class E>
Choices<E> ChoicesOf(std::initializer_list<E> values) {
  Choices<E> choices;
  for (const E value : values) choices.emplace_back(std::string(NameOf(value)), value);
  return choices;
}

}  // namespace

const FieldTable& LossFields() {
  static const FieldTable table = MakeFieldTable<LossOptions>(
      "loss", {MakeChoice("kind", &LossOptions::kind, "What is minimized.",
                          ChoicesOf({LossKind::kCrossEntropy, LossKind::kMse, LossKind::kL1,
                                     LossKind::kHuber, LossKind::kBceWithLogits})),
               MakeField("label_smoothing", &LossOptions::label_smoothing,
                         "Cross entropy: share of the target spread over all classes.",
                         {.min = 0, .max = 1, .max_exclusive = true}),
               MakeField("ignore_index", &LossOptions::ignore_index,
                         "Cross entropy: rows with this label do not count."),
               MakeField("delta", &LossOptions::delta, "Huber: where the square turns into a line.",
                         {.min = 0, .min_exclusive = true})});
  return table;
}

}  // namespace frugal
