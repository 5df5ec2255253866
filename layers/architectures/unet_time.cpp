#include "layers/architectures/unet_time.h"

#include <array>

#include "sdk/ops/boxes.h"
#include "sdk/ops/check.h"
#include "sdk/ops/elementwise.h"

namespace frugal::architectures {

UNetTime::UNetTime(const UNetTimeOptions& options)
    : options_(options),
      times_({.features = options.features,
              .sinusoid = {.features = options.sinusoids,
                           .cosine_first = options.cosine_first,
                           .frequency_shift = options.frequency_shift}}) {
  AddChild("time_embedding", times_);
  if (options.classes > 0) {
    classes_ = &AddParameter("class_embedding.weight", {options.classes, options.features},
                             Initializer::Normal(0, 1));
  }
  if (options.added_inputs == 0) return;
  const DenseOptions first{.units = options.features, .activation = Activation::kSilu};
  AddChild("add_embedding.linear_1", added_first_.emplace(options.added_inputs, first));
  AddChild("add_embedding.linear_2",
           added_second_.emplace(options.features, DenseOptions{.units = options.features}));
}

Var UNetTime::Added(Context& context, const Conditions& conditions) {
  Var x = TimestepFeatures(context, conditions.time_ids,
                           {.features = options_.added_sinusoids,
                            .cosine_first = options_.cosine_first,
                            .frequency_shift = options_.frequency_shift});
  x = Reshape(context, x, {x.shape()[0], x.shape()[1] * x.shape()[2]});
  if (conditions.text_embeds.value) {
    const std::array<Var, 2> parts = {conditions.text_embeds, x};
    x = Concat(context, parts, 1);
  }
  if (x.shape()[1] != options_.added_inputs) {
    ThrowShape(context,
               "the features of text_embeds and " + std::to_string(options_.added_sinusoids) +
                   " of each of time_ids are " + std::to_string(options_.added_inputs) +
                   " together",
               x.shape(), "give as many time_ids as the model was made for");
  }
  return (*added_second_)(context, (*added_first_)(context, x));
}

Var UNetTime::operator()(Context& context, const Conditions& conditions) {
  Var c = times_(context, conditions.t);
  if (classes_ != nullptr) {
    c = Add(context, c, Embedding(context, conditions.labels.value, *classes_));
  }
  if (added_first_) c = Add(context, c, Added(context, conditions));
  return Activate(context, c, Activation::kSilu);
}

}  // namespace frugal::architectures
