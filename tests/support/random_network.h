#pragma once

#include <memory>
#include <random>

#include "builders/frugal.h"
#include "tests/benchmarks/random_samples.h"

namespace frugal::testing {

// Dense layers of random widths, some with a norm or dropout between, some in residual blocks.
inline AiModelBuilder RandomNetwork(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  const int layers = draw(2, 24), batch = draw(1, 64), width = draw(8, 96);
  const DataLayout layout = {.sample_shape = {draw(4, 64)},
                             .classes = 5,
                             .target_shape = {},
                             .train_count = 3 * batch + draw(0, batch - 1),
                             .test_count = draw(1, 40)};
  AiModelBuilder builder;
  builder
      .Data(layout, {std::make_shared<RandomSamples>(layout, layout.train_count),
                     std::make_shared<RandomSamples>(layout, layout.test_count)})
      .Layers([&](LayerList& list) {
        list.Dense({.units = width});
        for (int i = 0; i < layers; ++i) {
          switch (draw(0, 4)) {
            case 0:
              list.Dense({.units = width, .activation = Activation::kGelu});
              break;
            case 1:
              list.Dense({.units = draw(8, 400), .activation = Activation::kRelu});
              list.Dense({.units = width});
              break;
            case 2:
              list.LayerNorm({});
              break;
            case 3:
              list.Dropout(0.1);
              break;
            default:
              list.Residual({}, [units = draw(8, 400), width](LayerList& body) {
                body.Dense({.units = units, .activation = Activation::kGelu});
                body.Dense({.units = width});
              });
          }
        }
        list.Dense({.units = 5});
      });
  return builder.Training(
      {.epochs = draw(1, 2), .batch_size = batch, .evaluation_batch_size = draw(1, 40)});
}

}  // namespace frugal::testing
