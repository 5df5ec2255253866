#include "builders/layer_fields.h"

#include <algorithm>

#include "builders/field_limits.h"
#include "presets/make_field.h"

namespace frugal {
namespace {

using Kind = Initializer::Kind;

template <class T>
Field ActivationField(std::string name, ActivationFunction T::*member, std::string doc) {
  Field field;
  field.name = std::move(name);
  field.doc = std::move(doc);
  field.kind = ValueKind::kChoice;
  for (std::size_t i = 0; i < kActivationCount; ++i) {
    field.choices.emplace_back(NameOf(static_cast<Activation>(i)));
  }
  field.get = [member](const void* object) {
    return Value{std::string(NameOf((static_cast<const T*>(object)->*member).kind))};
  };
  field.set = [member, names = field.choices](void* object, const Value& value) {
    const auto at = std::ranges::find(names, std::get<std::string>(value)) - names.begin();
    static_cast<T*>(object)->*member = ActivationFunction(static_cast<Activation>(at));
  };
  return field;
}

FieldTable InitializerFields() {
  Choices<Kind> kinds;
  for (int i = 0; i <= static_cast<int>(Kind::kOrthogonal); ++i) {
    kinds.emplace_back(std::string(NameOf(static_cast<Kind>(i))), static_cast<Kind>(i));
  }
  return MakeFieldTable<Initializer>(
      "initializer",
      {MakeChoice("kind", &Initializer::kind, "By the published formulas.", kinds, true),
       MakeField("a", &Initializer::a,
                 "constant: the value; uniform: low; normal: mean; orthogonal: gain."),
       MakeField("b", &Initializer::b, "uniform: high; normal: standard deviation.")});
}

Field PerAxisField(std::string name, PerAxis Conv2dOptions::*member, std::string doc, double least,
                   bool required = false) {
  return MakeField(std::move(name), member, std::move(doc),
                   {.min = least,
                    .max = kMostPerAxis,
                    .required = required,
                    .min_items = 1,
                    .max_items = 2,
                    .single_ok = true});
}

FieldTable DenseTable() {
  return MakeFieldTable<DenseOptions>(
      "dense", {MakeField("units", &DenseOptions::units, "Output features.",
                          {.min = 1, .max = kMostPerAxis, .required = true}),
                ActivationField("activation", &DenseOptions::activation, "Behind the product."),
                MakeField("bias", &DenseOptions::bias, "Whether a bias is added."),
                MakeTable("initializer", &DenseOptions::initializer,
                          "Of the weight; none: by the activation.", InitializerFields())});
}

FieldTable Conv2dTable() {
  return MakeFieldTable<Conv2dOptions>(
      "conv2d",
      {MakeField("filters", &Conv2dOptions::filters, "Output channels.",
                 {.min = 1, .max = kMostPerAxis, .required = true}),
       PerAxisField("kernel", &Conv2dOptions::kernel, "Height and width, or one for both.", 1,
                    true),
       PerAxisField("stride", &Conv2dOptions::stride, "Step of the kernel.", 1),
       PerAxisField("padding", &Conv2dOptions::padding, "Zeros on each side.", 0),
       PerAxisField("dilation", &Conv2dOptions::dilation, "Distance of kernel elements.", 1),
       MakeField("groups", &Conv2dOptions::groups, "Channels are split into so many groups.",
                 {.min = 1, .max = kMostPerAxis}),
       ActivationField("activation", &Conv2dOptions::activation, "Behind the convolution."),
       MakeField("bias", &Conv2dOptions::bias, "Whether a bias is added."),
       MakeTable("initializer", &Conv2dOptions::initializer,
                 "Of the weight; none: by the activation.", InitializerFields())});
}

FieldTable PoolTable(const std::string& name, bool average) {
  // No items: the kernel.
  const FieldLimits stride = {
      .min = 1, .max = kMostPerAxis, .min_items = 0, .max_items = 2, .single_ok = true};
  FieldLimits kernel = stride;
  kernel.required = true;
  kernel.min_items = 1;
  FieldLimits padding = stride;
  padding.min = 0;
  padding.min_items = 1;
  std::vector<Field> fields = {
      MakeField("kernel", &Pool2dOptions::kernel, "Height and width, or one for both.", kernel),
      MakeField("stride", &Pool2dOptions::stride, "Step of the window; not given: the kernel.",
                stride),
      MakeField("padding", &Pool2dOptions::padding, "On each side.", padding)};
  if (average) {
    fields.push_back(MakeField("count_padding", &Pool2dOptions::count_padding,
                               "Whether padded zeros count in the mean."));
    return MakeFieldTable<AveragePool2dOptions>(name, fields);
  }
  return MakeFieldTable<MaxPool2dOptions>(name, fields);
}

FieldTable AdaptiveTable() {
  return MakeFieldTable<AdaptivePool2dOptions>(
      "adaptive_avg_pool2d",
      {MakeField(
          "output", &AdaptivePool2dOptions::output, "Height and width of the result.",
          {.min = 1, .max = kMostPerAxis, .min_items = 1, .max_items = 2, .single_ok = true})});
}

template <class T>
Field EpsilonField() {
  return MakeField("epsilon", &T::epsilon, "Added to the variance.",
                   {.min = 0, .min_exclusive = true});
}

FieldTable BatchNormTable() {
  return MakeFieldTable<BatchNormOptions>(
      "batch_norm",
      {EpsilonField<BatchNormOptions>(),
       MakeField("momentum", &BatchNormOptions::momentum,
                 "Weight of the newest batch in the running statistics.", {.min = 0, .max = 1}),
       MakeField("affine", &BatchNormOptions::affine, "Whether it learns a scale and a shift."),
       MakeField("relu", &BatchNormOptions::relu, "A ReLU in the same pass.")});
}

FieldTable LayerNormTable() {
  return MakeFieldTable<LayerNormOptions>(
      "layer_norm",
      {EpsilonField<LayerNormOptions>(),
       MakeField("affine", &LayerNormOptions::affine, "Whether it learns a scale and a shift.")});
}

FieldTable GroupNormTable() {
  return MakeFieldTable<GroupNormOptions>(
      "group_norm",
      {MakeField("groups", &GroupNormOptions::groups, "Channels are split into so many groups.",
                 {.min = 1, .max = kMostPerAxis}),
       EpsilonField<GroupNormOptions>(),
       MakeField("affine", &GroupNormOptions::affine, "Whether it learns a scale and a shift.")});
}

FieldTable DropoutTable() {
  return MakeFieldTable<DropoutOptions>(
      "dropout", {MakeField("rate", &DropoutOptions::rate, "Probability that a value is dropped.",
                            {.min = 0, .max = 1, .max_exclusive = true})});
}

std::vector<LayerType> AllTypes() {
  return {
      {DenseOptions(), DenseTable(), {}},
      {Conv2dOptions(), Conv2dTable(), {}},
      {MaxPool2dOptions(), PoolTable("max_pool2d", false), {}},
      {AveragePool2dOptions(), PoolTable("avg_pool2d", true), {}},
      {AdaptivePool2dOptions(), AdaptiveTable(), {}},
      {BatchNormOptions(), BatchNormTable(), {}},
      {LayerNormOptions(), LayerNormTable(), {}},
      {GroupNormOptions(), GroupNormTable(), {}},
      {ActivationOptions(),
       MakeFieldTable<ActivationOptions>(
           "activation",
           {ActivationField("function", &ActivationOptions::function, "Which function.")}),
       {}},
      {DropoutOptions(), DropoutTable(), {}},
      {FlattenOptions(), MakeFieldTable<FlattenOptions>("flatten", {}), {}},
      {ResidualOptions(),
       MakeFieldTable<ResidualOptions>(
           "residual",
           {ActivationField("activation", &ResidualOptions::activation, "Behind the sum.")}),
       {"layers", "shortcut"}},
      {SequentialOptions(), MakeFieldTable<SequentialOptions>("sequential", {}), {"layers"}},
  };
}

}  // namespace

const std::vector<LayerType>& LayerTypes() {
  static const std::vector<LayerType> types = AllTypes();
  return types;
}

const LayerType* FindLayerType(std::string_view name) {
  const auto found = std::ranges::find(
      LayerTypes(), name, [](const LayerType& type) { return TypeNameOf(type.defaults); });
  return found == LayerTypes().end() ? nullptr : &*found;
}

void* StructIn(LayerOptions& options) {
  return std::visit([](auto& inner) -> void* { return &inner; }, options);
}

}  // namespace frugal
