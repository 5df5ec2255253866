#include "sdk/data/image_decode.h"

#include <cmath>
#include <limits>

#include "sdk/core/error.h"
#include "tests/catch.h"

namespace frugal::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Indices = std::vector<std::int64_t>;

TEST_CASE("samples are scaled, normalized by channel and put in the order asked for", "[data]") {
  const Bytes samples = {0, 51, 255, 102, /**/ 10, 20, 30, 40};  // two of [1, 2, 2]
  const Normalization normalization = {.mean = {0.5, 0.2}, .std = {0.25, 2}};
  const ImageDecoder<double> decoder({1, 2, 2}, normalization);
  std::vector<double> batch(12);
  decoder.Decode(samples, Indices{1, 0, 1}, batch);
  const std::vector<double> first = {-2, 0, 2, 0.1};
  for (std::size_t at = 0; at < 4; ++at) {
    CHECK(batch[4 + at] == Approx(first[at]).margin(1e-15));
    CHECK(batch[at] == batch[8 + at]);
  }
  CHECK(batch[0] == Approx((10 / 255.0 - 0.5) / 0.25));
  CHECK(batch[3] == Approx((40 / 255.0 - 0.2) / 2));
}

TEST_CASE("floats are the rounded doubles", "[data]") {
  Bytes levels(256);
  for (std::size_t level = 0; level < 256; ++level) {
    levels[level] = static_cast<std::uint8_t>(level);
  }
  const Normalization normalization = {.mean = {0.286}, .std = {0.353}};
  std::vector<float> batch(256);
  ImageDecoder<float>({16, 16, 1}, normalization).Decode(levels, Indices{0}, batch);
  int wrong = 0;
  for (std::size_t level = 0; level < 256; ++level) {
    const double exact = (static_cast<double>(level) / 255.0 - 0.286) / 0.353;
    wrong += batch[level] != static_cast<float>(exact);
  }
  CHECK(wrong == 0);
}

TEST_CASE("one mean and deviation are for all channels", "[data]") {
  const Bytes samples = {0, 51, 102, 153, 204, 255};
  std::vector<double> one(6), each(6);
  const Normalization for_each = {.mean = {0.5, 0.5, 0.5}, .std = {0.25, 0.25, 0.25}};
  ImageDecoder<double>({1, 2, 3}, {.mean = {0.5}, .std = {0.25}}).Decode(samples, Indices{0}, one);
  ImageDecoder<double>({1, 2, 3}, for_each).Decode(samples, Indices{0}, each);
  CHECK(one == each);
}

TEST_CASE("decoders that cannot work are refused", "[data]") {
  using Decoder = ImageDecoder<float>;
  const Normalization plain = {.mean = {0}, .std = {1}};
  CHECK_THROWS_WITH(
      Decoder({2, 2}, plain),
      "[images] the shape of a sample is [height, width, channels]; [2, 2] was given");
  CHECK_THROWS_AS(Decoder({0, 2, 1}, plain), ConfigError);
  CHECK_THROWS_WITH(
      Decoder({2, 2, 3}, {.mean = {0, 0}, .std = {1, 1}}),
      "[normalization of images] there is a mean and a standard deviation for each of "
      "3 channels, or one for all; 2 and 2 were given");
  CHECK_THROWS_AS(Decoder({2, 2, 3}, {.mean = {0, 0, 0}, .std = {1}}), ConfigError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Normalization& wrong : {Normalization{{0}, {0}}, Normalization{{0}, {-1}},
                                     Normalization{{nan}, {1}}, Normalization{{0}, {nan}}}) {
    CHECK_THROWS_AS(Decoder({2, 2, 1}, wrong), ConfigError);
  }
}

TEST_CASE("indices outside and destinations of another size are refused", "[data]") {
  const ImageDecoder<float> decoder({1, 2, 1}, {.mean = {0}, .std = {1}});
  const Bytes samples = {1, 2, 3, 4};
  std::vector<float> batch(2);
  CHECK_THROWS_WITH(decoder.Decode(samples, Indices{2}, batch),
                    "[decoding a batch] an index is below 2; 2 was given");
  CHECK_THROWS_AS(decoder.Decode(samples, Indices{-1}, batch), UsageError);
  CHECK_THROWS_WITH(decoder.Decode(samples, Indices{0, 1}, batch),
                    "[decoding a batch] the destination has 4 elements; 2 was given");
  CHECK_NOTHROW(decoder.Decode(samples, Indices{}, std::span<float>{}));
}

TEST_CASE("labels are widened, and checked once against the classes", "[data]") {
  const Bytes labels = {3, 0, 9};
  std::vector<std::int64_t> batch(2);
  DecodeLabels(labels, Indices{2, 0}, batch);
  CHECK(batch == Indices{9, 3});
  CHECK_THROWS_AS(DecodeLabels(labels, Indices{3, 0}, batch), UsageError);
  CHECK_THROWS_AS(DecodeLabels(labels, Indices{0}, batch), UsageError);
  CHECK_NOTHROW(CheckLabels("labels.gz", labels, 10));
  CHECK_THROWS_WITH(CheckLabels("labels.gz", labels, 9),
                    "[labels.gz] labels are below the number of classes, 9; label 2 is 9; correct "
                    "the number of classes, or name the right file");
}

}  // namespace
}  // namespace frugal::testing
