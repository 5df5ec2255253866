#include "layers/architectures/unet/unet_time.h"

#include <array>

#include "sdk/ops/elementwise.h"
#include "sdk/ops/embedding.h"
#include "sdk/ops/shape_ops.h"
#include "sdk/ops/support/check.h"

namespace frugal::architectures {

TwoProducts::TwoProducts(std::int64_t inputs, std::int64_t features)
    : first_(inputs, {.units = features, .activation = Activation::kSilu}),
      second_(features, {.units = features}) {
  AddChild("linear_1", first_);
  AddChild("linear_2", second_);
}

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
  if (options.added_inputs > 0) {
    AddChild("add_embedding", added_.emplace(options.added_inputs, options.features));
  }
  if (options.control_types > 0) {
    AddChild("control_add_embedding",
             control_.emplace(options.control_types * options.added_sinusoids, options.features));
  }
}

Var UNetTime::Sinusoids(Context& context, const Var& numbers) const {
  const Var x = TimestepFeatures(context, numbers,
                                 {.features = options_.added_sinusoids,
                                  .cosine_first = options_.cosine_first,
                                  .frequency_shift = options_.frequency_shift});
  return Reshape(context, x, {x.shape()[0], x.shape()[1] * x.shape()[2]});
}

Var UNetTime::Added(Context& context, const Conditions& conditions) {
  Var x = Sinusoids(context, conditions.time_ids);
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
  return (*added_)(context, x);
}

Var UNetTime::operator()(Context& context, const Conditions& conditions) {
  Var c = times_(context, conditions.t);
  if (classes_ != nullptr) {
    c = Add(context, c, Embedding(context, conditions.labels.value, *classes_));
  }
  if (control_) {
    c = Add(context, c, (*control_)(context, Sinusoids(context, conditions.control_type)));
  }
  if (added_) c = Add(context, c, Added(context, conditions));
  return Activate(context, c, Activation::kSilu);
}

}  // namespace frugal::architectures
