#include "layers/types/shared_fields.h"

#include "sdk/module/initializer.h"

namespace frugal {

FieldTable InitializerFields() {
  using Kind = Initializer::Kind;
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

FieldLimits PerAxisLimits(double least, std::size_t axes, bool required) {
  return {.min = least,
          .max = kMostPerAxis,
          .required = required,
          .min_items = 1,
          .max_items = axes,
          .single_ok = true};
}

FieldLimits Formerly(std::string name, FieldLimits limits) {
  limits.formerly = std::move(name);
  return limits;
}

FieldLimits SizeLimits(bool required) {
  return {.min = 1, .max = kMostPerAxis, .required = required};
}

}  // namespace frugal
