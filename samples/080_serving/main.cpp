// Trains a little, writes the weights, and serves predictions of that file alone from four threads,
// which share the weights.
#include <algorithm>
#include <atomic>
#include <iostream>
#include <thread>

#include "builders/frugal.h"

using namespace frugal;

namespace {

// Images of 8 x 8 with a bright quarter, which is their class; no file is read.
struct Quarters final : DataSource {
  std::int64_t count() const override { return 512; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& labels) const override {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      labels.values<std::int64_t>()[i] = samples[i] % 4;
      Draw(samples[i], inputs.values<float>().subspan(64 * i, 64));
    }
  }
  static void Draw(std::int64_t sample, std::span<float> pixels) {
    for (std::int64_t at = 0; at < 64; ++at) {
      const std::int64_t quarter = at / 32 * 2 + at % 8 / 4;
      const auto noise = static_cast<float>((sample * 31 + at * 17) % 23) / 23;
      pixels[static_cast<std::size_t>(at)] = noise + (quarter == sample % 4 ? 1.0F : 0.0F);
    }
  }
};

void TrainAndSave(const std::string& path) {
  DataLayout layout;
  layout.sample_shape = {8, 8, 1};
  layout.classes = 4;
  layout.train_count = 512;
  AiModelBuilder builder;
  builder.Data(layout, {std::make_shared<Quarters>(), nullptr});
  builder.Layers([](LayerList& layers) {
    layers.Conv2d({.filters = 8, .kernel = {3}, .padding = {1}, .activation = Activation::kRelu});
    layers.MaxPool2d({.kernel = {2}}).Flatten().Dense({.units = 4});
  });
  builder.Optimizer({.kind = OptimizerKind::kAdam, .lr = 0.01});
  builder.Training({.epochs = 3, .batch_size = 32, .evaluate = false});
  Model model = builder.Build();
  model.Train();
  model.SaveWeights(path);
}

// Returns how many of the images that fall to this thread are told right, one call for each.
int Serve(const Predictor& predictor, int thread) {
  int right = 0;
  std::vector<float> image(64);
  for (std::int64_t sample = 1000 + thread; sample < 1400; sample += 4) {
    Quarters::Draw(sample, image);
    const std::vector<float> logits = predictor.Predict(image, 1);
    const auto best = std::ranges::max_element(logits) - logits.begin();
    right += best == sample % 4 ? 1 : 0;
  }
  return right;
}

void Run() {
  TrainAndSave("quarters.safetensors");
  const Predictor predictor = Predictor::FromFile("quarters.safetensors", {.slots = 4, .batch = 1});
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] { right += Serve(predictor, thread); });
    }
  }
  const PredictorPlan &planned = predictor.plan(), measured = predictor.Measured();
  std::cout << right << " of 400 images are told right by 4 threads\n"
            << "weights          " << FormatCount(measured.weight_bytes) << " bytes, once\n"
            << "each of 4 slots  " << FormatCount(measured.slot_bytes) << " bytes\n"
            << "all together     " << FormatCount(planned.peak_bytes) << " planned, "
            << FormatCount(measured.peak_bytes) << " measured" << std::endl;
  if (right < 380 || planned.peak_bytes != measured.peak_bytes) {
    throw Error({.where = "serving",
                 .required = "most images are told right, in the memory that was planned",
                 .given = "they are not",
                 .advice = "report this"});
  }
}

}  // namespace

int main() { return RunProgram(Run); }
