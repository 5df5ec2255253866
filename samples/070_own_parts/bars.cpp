#include "samples/070_own_parts/bars.h"

#include <frugal/data.h>

#include <random>

using namespace frugal;

namespace {

constexpr std::int64_t kSide = 12;

class Bars final : public DataSource {
 public:
  Bars(const BarsOptions& options, std::uint64_t first) : options_(options), first_(first) {}
  std::int64_t count() const override { return options_.count; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& labels) const override {
    const std::span<float> pixels = inputs.values<float>();
    std::uniform_real_distribution<float> noise(0, static_cast<float>(options_.noise));
    std::size_t next = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::mt19937_64 random(first_ + static_cast<std::uint64_t>(samples[i]));
      const std::int64_t label = samples[i] % 3, place = samples[i] % kSide;
      for (std::int64_t at = 0; at < kSide * kSide; ++at) {
        const bool across = label != 1 && at / kSide == place;
        const bool down = label != 0 && at % kSide == place;
        pixels[next++] = noise(random) + (across || down ? 0.5F : 0.0F);
      }
      labels.values<std::int64_t>()[i] = label;
    }
  }

 private:
  BarsOptions options_;
  std::uint64_t first_;  // of the numbers that samples are drawn by
};

}  // namespace

void RegisterBars() {
  RegisterDataset<BarsOptions>(
      {.name = "bars",
       .doc = "Noisy images of a horizontal bar, a vertical one or a cross.",
       .class_names = {"across", "down", "cross"},
       .fields = {MakeField("count", &BarsOptions::count, "Samples of each part.", {.min = 1}),
                  MakeField("noise", &BarsOptions::noise, "Its largest value.", {.min = 0})},
       .layout =
           [](const BarsOptions& options) {
             DataLayout layout;
             layout.sample_shape = {kSide, kSide, 1};
             layout.classes = 3;
             layout.train_count = layout.test_count = options.count;
             return layout;
           },
       .open =
           [](const BarsOptions& options, DatasetPart part) {
             return std::make_shared<Bars>(options, part == DatasetPart::kTrain ? 0 : 1 << 20);
           }});
}
