#pragma once

// A configuration section as builders write them, with every kind of member that a field table can
// describe.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "presets/config/make_field.h"

namespace frugal {

enum class ExampleActivation : std::uint8_t { kNone, kRelu, kGelu };

struct ExampleInner {
  std::int64_t depth = 1;
  std::optional<double> scale = 0.5;
  bool operator==(const ExampleInner&) const = default;
};

struct ExampleOptions {
  std::int64_t units = 0;
  int small = 7;
  bool bias = true;
  double rate = 0.1;
  float momentum = 0.9F;
  std::string name = "dense";
  std::optional<std::string> file;
  std::optional<std::int64_t> seed = 3;
  std::vector<std::int64_t> kernel = {3, 3};
  std::optional<std::vector<std::int64_t>> pads;
  std::vector<std::string> tags;
  ExampleActivation activation = ExampleActivation::kNone;
  std::optional<ExampleActivation> last;
  ExampleInner inner;
  std::optional<ExampleInner> extra;
  bool operator==(const ExampleOptions&) const = default;
};

inline FieldTable ExampleFields() {
  using Options = ExampleOptions;
  const Choices<ExampleActivation> activations = {{"none", ExampleActivation::kNone},
                                                  {"relu", ExampleActivation::kRelu},
                                                  {"gelu", ExampleActivation::kGelu}};
  const FieldTable inner = MakeFieldTable<ExampleInner>(
      "inner", {MakeField("depth", &ExampleInner::depth, "Depth.", {.min = 1, .max = 9}),
                MakeField("scale", &ExampleInner::scale, "Scale.")});
  return MakeFieldTable<Options>(
      "sample",
      {MakeField("units", &Options::units, "Features.", {.min = 1, .required = true}),
       MakeField("small", &Options::small, "An int."),
       MakeField("bias", &Options::bias, "Adds a bias."),
       MakeField("rate", &Options::rate, "A rate.",
                 {.min = 0, .max = 1, .min_exclusive = true, .max_exclusive = true}),
       MakeField("momentum", &Options::momentum, "A float."),
       MakeField("name", &Options::name, "A | name."), MakeField("file", &Options::file, "A file."),
       MakeField("seed", &Options::seed, "A seed.", {.unit = "beans"}),
       MakeField("kernel", &Options::kernel, "Extents.",
                 {.min = 1, .min_items = 1, .max_items = 2, .single_ok = true}),
       MakeField("pads", &Options::pads, "Pads.", {.min = 0}),
       MakeField("tags", &Options::tags, "Tags.", {.choices = {"red", "green"}}),
       MakeChoice("activation", &Options::activation, "Activation.", activations),
       MakeChoice("last", &Options::last, "Last activation.", activations),
       MakeTable("inner", &Options::inner, "A table.", inner),
       MakeTable("extra", &Options::extra, "A table that may be absent.", inner)});
}

}  // namespace frugal
