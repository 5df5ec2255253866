#include "builders/execute/checkpoint_keys.h"

#include "tests/io/temp_dir.h"
#include "tests/io/weight_fixtures.h"

namespace frugal::testing {
namespace {

std::unique_ptr<WeightSource> FileWith(const TempDir& directory,
                                       const std::vector<std::string>& names) {
  std::vector<NamedBytes> weights;
  for (const std::string& name : names) weights.push_back(F32(name, {1}, {0}));
  WriteWeights(directory.File("w"), WeightsFileFormat::kSafetensors, weights);
  return OpenWeights(directory.File("w"));
}

// The name of the tensor that is found; "none" where there is none.
std::string Found(const std::vector<std::string>& names, const std::string& path,
                  const std::vector<std::string>& aliases = {}) {
  const TempDir directory;
  const auto file = FileWith(directory, names);
  const Parameter parameter{
      .name = "w", .path = path, .aliases = aliases, .shape = {1}, .initializer = {}};
  const StoredTensor* stored = FindCheckpointKey(*file, parameter);
  return stored == nullptr ? "none" : stored->name;
}

TEST_CASE("a parameter is found under its path") {
  CHECK(Found({"a.b", "b", "m.a.b"}, "a.b") == "a.b");
  CHECK(Found({"w"}, "w") == "w");
  CHECK(Found({}, "a.b") == "none");
  CHECK(Found({"a.c", "ab", "a"}, "a.b") == "none");
}

TEST_CASE("the base model's name may be left out of a file") {
  CHECK(Found({"h.0.ln_1.weight", "wte.weight"}, "transformer.h.0.ln_1.weight") ==
        "h.0.ln_1.weight");
  CHECK(Found({"0.ln_1.weight"}, "transformer.h.0.ln_1.weight") == "none");  // two are too many
}

TEST_CASE("the base model's name may be put in front in a file") {
  CHECK(Found({"bert.encoder.layer.0.weight", "cls.bias"}, "encoder.layer.0.weight") ==
        "bert.encoder.layer.0.weight");
  CHECK(Found({"a.bert.encoder.weight"}, "encoder.weight") == "none");
}

TEST_CASE("numbers of a list are no base model's name") {
  CHECK(Found({"0.weight", "1.weight"}, "2.0.weight") == "none");
  CHECK(Found({"1.0.weight"}, "0.weight") == "none");
}

TEST_CASE("a tied parameter is found under any of its paths, its own first") {
  CHECK(Found({"lm_head.weight", "transformer.wte.weight"}, "transformer.wte.weight",
              {"lm_head.weight"}) == "transformer.wte.weight");
  CHECK(Found({"lm_head.weight", "wte.weight"}, "transformer.wte.weight", {"lm_head.weight"}) ==
        "wte.weight");
  CHECK(Found({"lm_head.weight"}, "transformer.wte.weight", {"lm_head.weight"}) ==
        "lm_head.weight");
  CHECK(Found({"x.weight"}, "transformer.wte.weight", {"y.weight", "x.weight"}) == "x.weight");
}

TEST_CASE("tensors that nothing is learned in are known") {
  const auto learned = [](const std::string& name, const Shape& shape) {
    return !HoldsNothingLearned({name, shape, StoredDType::kF32});
  };
  CHECK_FALSE(learned("layer1.0.bn1.num_batches_tracked", {}));
  CHECK_FALSE(learned("embeddings.position_ids", {1, 512}));
  CHECK_FALSE(learned("model.layers.0.self_attn.rotary_emb.inv_freq", {64}));
  CHECK_FALSE(learned("h.0.attn.masked_bias", {}));
  CHECK_FALSE(learned("h.0.attn.bias", {1, 1, 1024, 1024}));
  CHECK(learned("h.0.attn.bias", {768}));
  CHECK(learned("h.0.attn.c_attn.bias", {2304}));
  CHECK(learned("embeddings.position_embeddings.weight", {512, 768}));
}

}  // namespace
}  // namespace frugal::testing
