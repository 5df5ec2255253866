#include "builders/report/rows/data_units.h"

#include <cmath>

#include "tests/catch.h"

namespace frugal {
namespace {

DataLayout TextLayout() {
  return {.sample_shape = {64},
          .classes = 256,
          .target_shape = {},
          .vocabulary = 256,
          .label_shape = {64}};
}

bool TellsBits(const DataLayout& layout, const LossOptions& loss = {}) {
  return UnitsOf(layout, loss).bits_per_byte;
}

}  // namespace

TEST_CASE("Rates count images, tokens or samples") {
  const DataLayout images = {.sample_shape = {4, 4, 1}, .classes = 3, .target_shape = {}};
  CHECK(UnitsOf(images, {}).samples == "images");
  CHECK(RateText(UnitsOf(images, {}), 100) == "100 images/s");
  CHECK(UnitsOf(TextLayout(), {}).samples == "sequences");
  CHECK(RateText(UnitsOf(TextLayout(), {}), 100) == "6,400 tokens/s");
  const DataLayout vectors = {.sample_shape = {9}, .target_shape = {2}};
  CHECK(UnitsOf(vectors, {}).samples == "samples");
  CHECK(RateText(UnitsOf(vectors, {}), 100) == "100 samples/s");
}

TEST_CASE("The loss is told in bits per byte only where it is that") {
  CHECK(TellsBits(TextLayout()));
  CHECK(BitsText(std::log(256)) == "8.000 bits per byte");
  CHECK_FALSE(TellsBits({.sample_shape = {4, 4, 1}, .classes = 256, .target_shape = {}}));
  CHECK_FALSE(TellsBits(TextLayout(), {.label_smoothing = 0.1}));
  CHECK_FALSE(TellsBits(TextLayout(), {.kind = LossKind::kMse}));
  DataLayout one_label = TextLayout();  // what a text is about, not how it goes on
  one_label.label_shape = {};
  CHECK_FALSE(TellsBits(one_label));
  DataLayout words = TextLayout();
  words.vocabulary = words.classes = 50257;
  CHECK_FALSE(TellsBits(words));
}

}  // namespace frugal
