// Captures a training step, computes its operations again on both backends without the training,
// and prints the ten that take most of the time, with what bounds each on this machine.
#include <frugal/capture.h>
#include <frugal/frugal.h>

#include <filesystem>
#include <iostream>

using namespace frugal;

namespace {

constexpr const char* kDirectory = "captured_step";

// Images of 16 x 16 with a bright half, which is their class; no file is read.
struct Halves final : DataSource {
  std::int64_t count() const override { return 256; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& labels) const override {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      labels.values<std::int64_t>()[i] = samples[i] % 2;
      for (std::size_t at = 0; at < 256; ++at) {
        const bool bright = (at < 128) == (samples[i] % 2 == 0);
        const auto noise = static_cast<float>((samples[i] * 31 + std::int64_t(at) * 17) % 23) / 23;
        inputs.values<float>()[256 * i + at] = noise + (bright ? 0.5F : 0.0F);
      }
    }
  }
};

AiModelBuilder Training(const DataSources& sources) {
  DataLayout layout;
  layout.sample_shape = {16, 16, 1};
  layout.classes = 2;
  layout.train_count = 256;
  AiModelBuilder builder;
  builder.Data(layout, sources).Layers([](LayerList& layers) {
    layers.Conv2d({.filters = 32, .kernel = {3}, .padding = {1}}).BatchNorm({.relu = true});
    layers.Conv2d({.filters = 64, .kernel = {3}, .stride = {2}, .padding = {1}});
    layers.MaxPool2d({.kernel = {2}}).Flatten();
    layers.Dense({.units = 128, .activation = Activation::kGelu}).Dense({.units = 2});
  });
  builder.Training({.epochs = 1, .batch_size = 64, .evaluate = false});
  return builder;
}

}  // namespace

int main() {
  return RunProgram([] {
    std::filesystem::remove_all(kDirectory);  // of the last run
    const DataSources sources = {std::make_shared<Halves>(), nullptr};
    const CapturedTraining captured = CaptureTraining(
        Training(sources).Plan(), {.directory = kDirectory, .steps = 1, .sources = sources});
    std::cout << captured.totals.entries << " operations, "
              << FormatBytes(captured.totals.tensor_bytes) << " of tensors in "
              << FormatBytes(captured.totals.file_bytes()) << " of files\n";

    const VerifyReport report = VerifyCapture(kDirectory);
    std::cout << report.Count(EntryStatus::kPassed) << " passed, "
              << report.Count(EntryStatus::kCannotTell) << " cannot be told from a wrong result\n";
    for (const EntryResult& result : report.results) {
      if (IsBad(result.status)) std::cout << result.operation << ": " << result.reason << "\n";
    }
    if (!report.passed()) {
      throw CaptureError({.where = kDirectory,
                          .required = "operations that compute what was recorded",
                          .given = "some do not",
                          .advice = ""});
    }
    const ProfileReport profile = ProfileCapture(kDirectory, {.timing = {.seconds = 0.02}});
    std::cout << "\n" << ProfileTableText(profile.times, 10);
  });
}
