// Data sources that lie get one sentence.
#include "sdk/data/checked_source.h"

#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"
#include "tests/support/synthetic.h"

namespace frugal::testing {
namespace {

// Data of a program that do something wrong behind it.
struct Liar final : DataSource {
  std::shared_ptr<const DataSource> inner;
  std::function<void(std::span<const std::int64_t>, const Tensor&, const Tensor&)> lie;
  std::int64_t announced = 0;
  std::int64_t count() const override { return announced; }
  void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
            const Tensor& targets) const override {
    inner->Fill(samples, inputs, targets);
    if (lie) lie(samples, inputs, targets);
  }
};

struct Lie {
  explicit Lie(const std::string& network = "mlp") : layout(LayoutFor(network)) {
    source->inner = SyntheticSources(layout).train;
    source->announced = layout.train_count;
    SmallRun run;
    run.network = network;
    builder = BuilderFor(run);
    builder.Data(layout, {source, SyntheticSources(layout).test});
  }
  std::string Message() {
    Model model = builder.Build();
    const std::vector<std::int64_t> samples = {4, 7, 2};
    return MessageOf<DataError>([&] { model.TrainStep(samples); });
  }

  DataLayout layout;
  std::shared_ptr<Liar> source = std::make_shared<Liar>();
  AiModelBuilder builder;
};

TEST_CASE("labels and tokens out of range name the sample") {
  Lie label;
  label.source->lie = [](auto, const Tensor&, const Tensor& targets) {
    targets.values<std::int64_t>()[1] = 5;
  };
  CheckContains(label.Message(),
                "[data, sample 7] labels lie in [0, 5); 5 was filled in; correct the source");
  Lie negative;
  negative.source->lie = [](auto, const Tensor&, const Tensor& targets) {
    targets.values<std::int64_t>()[2] = -1;
  };
  CheckContains(negative.Message(), "[data, sample 2] labels lie in [0, 5); -1 was filled in");
  Lie ignored;
  ignored.source->lie = [](auto, const Tensor&, const Tensor& targets) {
    targets.values<std::int64_t>()[2] = -100;
  };
  CHECK(ignored.Message() == "no error");
  Lie token("gpt2");
  token.source->lie = [&](auto, const Tensor& inputs, const Tensor&) {
    inputs.values<std::int64_t>()[0] = token.layout.vocabulary;
  };
  CheckContains(token.Message(), "[data, sample 4] tokens lie in [0, ");
}

TEST_CASE("values that the first batch leaves unwritten name the sample") {
  struct Half final : DataSource {
    explicit Half(std::int64_t samples) : samples_(samples) {}
    std::int64_t count() const override { return samples_; }
    void Fill(std::span<const std::int64_t> samples, const Tensor& inputs,
              const Tensor& targets) const override {
      std::ranges::fill(inputs.values<float>(), 0.0F);
      for (std::size_t i = 0; i + 1 < samples.size(); ++i) targets.values<std::int64_t>()[i] = 1;
    }
    std::int64_t samples_;
  };
  Lie lie;
  lie.builder.Data(lie.layout, {std::make_shared<Half>(64), nullptr});
  lie.builder.Override({"training.evaluate=false"});
  CheckContains(lie.Message(),
                "[data, sample 2] Fill writes all labels of a sample, 1 by the layout; it left "
                "number 0 unwritten; correct Fill, or the layout");
}

TEST_CASE("a source that shrinks names the first sample that is gone") {
  Lie lie;
  Model model = lie.builder.Build();
  lie.source->announced = 6;
  CheckContains(MessageOf<Error>([&] { model.TrainStep(std::vector<std::int64_t>{4, 7}); }), "6");
}

TEST_CASE("a missing part of own data is asked for by its name") {
  Lie lie;
  lie.layout.test_count = 0;
  lie.builder.Data(lie.layout, {});
  lie.builder.Override({"training.evaluate=false"});
  Model model = lie.builder.Build();
  CheckContains(MessageOf<UsageError>([&] { model.Train(); }),
                "the data have the part that is asked for; they have no training part; give a "
                "training source to AiModelBuilder::Data");
  CheckContains(MessageOf<UsageError>([&] { model.Evaluate(); }),
                "they have no test part; give a test part");
}

TEST_CASE("sources are looked at once, however often they are handed on") {
  const DataLayout layout = LayoutFor("mlp");
  const auto once = Checked(SyntheticSources(layout).train, layout);
  CHECK(Checked(once, layout) == once);
  CHECK(Checked(nullptr, layout) == nullptr);
}

}  // namespace
}  // namespace frugal::testing
