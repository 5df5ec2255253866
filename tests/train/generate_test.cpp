#include "sdk/train/generate.h"

#include <cmath>

#include "layers/architectures/gpt2.h"
#include "layers/architectures/llama.h"
#include "layers/dense.h"
#include "layers/embedding.h"
#include "layers/recurrent.h"
#include "sdk/core/error.h"
#include "sdk/core/random.h"
#include "sdk/module/key_value_cache.h"
#include "tests/catch.h"
#include "tests/support/layer_cases.h"
#include "tests/support/passes.h"

namespace frugal::testing {
namespace {

using Text = std::vector<std::int64_t>;

TEST_CASE("tokens are drawn by their probabilities", "[train][generate]") {
  const std::vector<float> logits = {0, std::log(2.0F), std::log(5.0F)};  // 1/8, 2/8 and 5/8
  const auto draw = [&](double uniform) { return DrawToken(logits, {}, uniform); };
  CHECK(draw(0) == 2);
  CHECK(draw(0.62) == 2);
  CHECK(draw(0.63) == 1);
  CHECK(draw(0.87) == 1);
  CHECK(draw(0.88) == 0);
  CHECK(draw(0.9999999) == 0);
}

TEST_CASE("temperature 0 and top_k 1 take the likeliest, the first of equals",
          "[train][generate]") {
  const std::vector<float> logits = {1, 4, 4, -2};
  for (const double uniform : {0.0, 0.5, 0.9999999}) {
    CHECK(DrawToken(logits, {.temperature = 0}, uniform) == 1);
    CHECK(DrawToken(logits, {.temperature = -1}, uniform) == 1);
    CHECK(DrawToken(logits, {.top_k = 1}, uniform) == 1);
    CHECK(DrawToken(std::vector<float>{-3}, {}, uniform) == 0);
    const double small = 1e-300;
    CHECK(DrawToken(std::vector<float>{1, 4, 3}, {.temperature = small}, uniform) == 1);
  }
  CHECK(DrawToken(logits, {.top_k = 2}, 0.49) == 1);
  CHECK(DrawToken(logits, {.top_k = 2}, 0.51) == 2);
}

TEST_CASE("top_k leaves the others out, and as many as there are is all", "[train][generate]") {
  const std::vector<float> logits = {0, 1, 2, 3};
  for (int i = 0; i < 100; ++i) {
    const double uniform = i / 100.0;
    CHECK(DrawToken(logits, {.top_k = 2}, uniform) >= 2);
    const std::int64_t all = DrawToken(logits, {}, uniform);
    for (const std::int64_t k : {0, 4, 5, 1000}) {
      CHECK(DrawToken(logits, {.top_k = k}, uniform) == all);
    }
    // Hot, everything is equally likely.
    CHECK(DrawToken(logits, {.temperature = 1e30}, uniform) == 3 - i / 25);
  }
}

TEST_CASE("logits far out are drawn from all the same", "[train][generate]") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const double uniform : {0.0, 0.5, 0.9999999}) {
    CHECK(DrawToken(std::vector<float>{-infinity, 3e38F, -3e38F}, {}, uniform) == 1);
    CHECK(DrawToken(std::vector<float>{-infinity, -1e30F, -infinity}, {}, uniform) == 1);
  }
}

struct Tiny {
  std::string name;
  std::unique_ptr<Layer> network;
};

// Untrained, but with weights large enough that what was read before tells.
std::vector<Tiny> TinyNetworks() {
  std::vector<Tiny> all;
  all.push_back({"gpt2", MakeGpt2({.vocab_size = 17,
                                   .n_positions = 8,
                                   .n_embd = 12,
                                   .n_layer = 2,
                                   .n_head = 2,
                                   .embd_pdrop = 0.3})});
  all.push_back({"llama", MakeLlama({.vocab_size = 17,
                                     .hidden_size = 16,
                                     .intermediate_size = 20,
                                     .num_hidden_layers = 2,
                                     .num_attention_heads = 4,
                                     .num_key_value_heads = 2,
                                     .max_position_embeddings = 8})});
  for (Tiny& tiny : all) {
    tiny.network->AssignPaths("");
    for (Parameter* parameter : NumberParameters(*tiny.network)) {
      if (parameter->initializer.kind == Initializer::Kind::kNormal) parameter->initializer.b = 0.4;
    }
  }
  return all;
}

std::vector<float> LastRow(const Tensor& logits) {
  const std::vector<double> values = Values(logits);
  return {values.end() - logits.shape().back(), values.end()};
}

// The logits behind a text, from the whole network at once.
std::vector<float> LogitsOf(TestEnvironment& environment, Layer& network,
                            std::span<const std::int64_t> text) {
  environment.context().set_training(false);
  const auto count = static_cast<std::int64_t>(text.size());
  const Tensor tokens = MakeTensor({1, count}, Text(text.begin(), text.end()), DType::kI64);
  return LastRow(network(environment.context(), {tokens}).value);
}

// Returns what Generate promises, without a cache.
Text Written(TestEnvironment& environment, Layer& network, Text text,
             const GenerateOptions& options) {
  const std::size_t prompt = text.size();
  const auto window = static_cast<std::size_t>(options.window);
  std::size_t start = prompt > window ? prompt - window / 2 : 0;
  const std::uint64_t key = StreamKey(options.sampling.seed, "generate", 0);
  for (std::int64_t i = 0; i < options.count; ++i) {
    if (text.size() - start > window) start = text.size() - window / 2;
    const std::vector<float> logits =
        LogitsOf(environment, network, std::span(text).subspan(start));
    text.push_back(
        DrawToken(logits, options.sampling, UniformAt(key, static_cast<std::uint64_t>(i))));
  }
  return {text.begin() + static_cast<std::ptrdiff_t>(prompt), text.end()};
}

TEST_CASE("with a cache, each position has the logits of the whole text", "[train][generate]") {
  for (const Tiny& tiny : TinyNetworks()) {
    for (const EnvironmentKind& kind : AllEnvironments()) {
      INFO(tiny.name << " on " << kind);
      TestEnvironment environment(kind);
      Context& context = environment.context();
      context.set_training(false);
      const Text text = {3, 16, 0, 7, 7, 1, 12, 5};
      KeyValueCache cache(8);
      std::size_t done = 0;
      for (const std::size_t count : {3u, 1u, 2u, 1u, 1u}) {
        const Tensor part =
            MakeTensor({1, static_cast<std::int64_t>(count)},
                       Text(text.begin() + static_cast<std::ptrdiff_t>(done),
                            text.begin() + static_cast<std::ptrdiff_t>(done + count)),
                       DType::kI64);
        context.set_cache(&cache);
        const std::vector<float> stepwise = LastRow((*tiny.network)(context, {part}).value);
        context.set_cache(nullptr);
        cache.Advance(static_cast<std::int64_t>(count));
        done += count;
        const std::vector<float> whole =
            LogitsOf(environment, *tiny.network, std::span(text).subspan(0, done));
        for (std::size_t i = 0; i < whole.size(); ++i) {
          CHECK(stepwise[i] == Approx(whole[i]).epsilon(1e-4).margin(1e-5));
        }
      }
    }
  }
}

TEST_CASE("generating with a cache writes what the whole network would", "[train][generate]") {
  for (const Tiny& tiny : TinyNetworks()) {
    for (const Text& prompt :
         {Text{3}, Text{1, 2, 3, 4, 5}, Text{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11}}) {
      for (const std::int64_t window : {2, 3, 7, 8}) {
        for (const TokenSampling& sampling :
             {TokenSampling{.temperature = 0}, TokenSampling{.top_k = 5, .seed = 4}}) {
          INFO(tiny.name << ", window " << window << ", prompt of " << prompt.size());
          TestEnvironment environment(kReferenceF64);
          Text seen;
          GenerateOptions options{.count = 20, .sampling = sampling, .window = window};
          options.on_token = [&](std::int64_t token) { seen.push_back(token); };
          const Text written = Generate(environment.context(), *tiny.network, prompt, options);
          CHECK(written.size() == 20);
          CHECK(seen == written);
          CHECK(written == Written(environment, *tiny.network, prompt, options));
          CHECK(environment.context().cache() == nullptr);
          CHECK(environment.ledger().live()[MemoryTag::kActivation] == 0);
        }
      }
    }
  }
}

TEST_CASE("a network that does not work by position reads the window again for each token",
          "[train][generate]") {
  Sequential network;
  network.Append("0", std::make_unique<TokenEmbedding>(
                          EmbeddingOptions{.vocabulary = 17, .units = 6, .init_std = 1}));
  network.Append(
      "1", std::make_unique<RecurrentLayer>(RecurrentKind::kLstm, 6, RecurrentOptions{.units = 9}));
  network.Append("2", std::make_unique<Dense>(9, DenseOptions{.units = 17}));
  network.AssignPaths("");
  NumberParameters(network);
  CHECK_FALSE(network.WorksByPosition());
  CHECK(TinyNetworks().front().network->WorksByPosition());
  TestEnvironment environment(kReferenceF64);
  const GenerateOptions options{.count = 15, .sampling = {.seed = 3}, .window = 4};
  Text text = {5, 2};
  const Text written = Generate(environment.context(), network, text, options);
  const std::uint64_t key = StreamKey(3, "generate", 0);
  for (std::uint64_t i = 0; i < 15; ++i) {
    const std::span<const std::int64_t> all(text);
    const auto logits =
        LogitsOf(environment, network, all.last(std::min<std::size_t>(4, all.size())));
    text.push_back(DrawToken(logits, options.sampling, UniformAt(key, i)));
  }
  CHECK(written == Text(text.begin() + 2, text.end()));
}

TEST_CASE("logits that are no numbers are refused", "[train][generate][errors]") {
  CHECK_THROWS_AS(DrawToken(std::vector<float>{1, std::nanf(""), 2}, {}, 0.5), DataError);
}

TEST_CASE("another seed writes another text, the same seed the same", "[train][generate]") {
  const Tiny tiny = std::move(TinyNetworks().front());
  TestEnvironment environment(kReferenceF64);
  const auto write = [&](std::uint64_t seed) {
    return Generate(environment.context(), *tiny.network, Text{1},
                    {.count = 30, .sampling = {.seed = seed}, .window = 8});
  };
  CHECK(write(1) == write(1));
  CHECK(write(1) != write(2));
}

TEST_CASE("generating needs a prompt, a window and positions", "[train][generate][errors]") {
  const Tiny tiny = std::move(TinyNetworks().front());
  TestEnvironment environment(kReferenceF64);
  const auto write = [&](const Text& prompt, const GenerateOptions& options) {
    return Generate(environment.context(), *tiny.network, prompt, options);
  };
  CHECK(write({1}, {.count = 0, .window = 8}).empty());
  CHECK_THROWS_WITH(write({}, {.window = 8}),
                    "[Generate] a prompt of at least one token and a window of at least two; 0 "
                    "tokens and a window of 8; begin with a line break, if with nothing else");
  CHECK_THROWS_AS(write({1}, {.window = 1}), UsageError);
  CHECK_THROWS_AS(write({1}, {.window = -5}), UsageError);
  CHECK_THROWS_AS(write({17}, {.window = 8}), DataError);
  CHECK_THROWS_AS(write({1}, {.count = 20, .window = 9}), ShapeError);  // 8 positions
  CHECK(environment.context().cache() == nullptr);
  CHECK(write({1}, {.count = 3, .window = 8}).size() == 3);
}

}  // namespace
}  // namespace frugal::testing
