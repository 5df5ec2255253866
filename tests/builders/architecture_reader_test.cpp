#include "builders/config/architecture_reader.h"

#include "builders/architectures.h"
#include "builders/config/run_config_reader.h"
#include "presets/model_presets.h"
#include "sdk/core/error.h"
#include "tests/io/temp_dir.h"

namespace frugal::testing {
namespace {

RunConfig Read(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  return ReadRunConfigText(toml, "run.toml", overrides);
}

std::string ReadRefusal(const std::string& toml) {
  return MessageOf<ConfigError>([&] { Read(toml); });
}

const std::string kBlockLayers = "[[model.layers]]\ntype = \"flatten\"\n";

TEST_CASE("a family has its default sizes, and those of the file") {
  REQUIRE(ArchitectureFamilies().Rows().size() >= 21);
  for (const ArchitectureFamily* family : ArchitectureFamilies().Rows()) {
    INFO(family->name);
    const RunConfig config = Read("[model]\nfamily = \"" + family->name + "\"\n");
    REQUIRE(config.model.architecture);
    CHECK(config.model.architecture->type() == family->defaults.type());
    CHECK(&FamilyOf(*config.model.architecture) == family);
    CHECK(FindFamily(family->name) == family);
    CHECK(config.model.layers.empty());
  }
  const RunConfig config = Read(
      "[model]\nfamily = \"gpt2\"\n[model.config]\nn_layer = 3\ntie_word_embeddings = false\n");
  const auto& gpt2 = *config.model.architecture->As<Gpt2Config>();
  CHECK(gpt2.n_layer == 3);
  CHECK_FALSE(gpt2.tie_word_embeddings);
  CHECK(gpt2.n_embd == 768);
  CHECK(ToString(config.origins.Of("model.config.n_layer")) == "run.toml:4:1");
  CHECK(ToString(config.origins.Of("model.config.n_embd")) == "default");
}

TEST_CASE("a preset is a family with sizes, which the file may change") {
  const RunConfig config =
      Read("[model]\npreset = \"gpt2-xl\"\nconfig = { n_layer = 2 }\n", {"model.config.n_head=5"});
  const auto& gpt2 = *config.model.architecture->As<Gpt2Config>();
  CHECK(gpt2.n_layer == 2);
  CHECK(gpt2.n_head == 5);
  CHECK(gpt2.n_embd == 1600);
  const auto origin = [&](const std::string& key) {
    return ToString(config.origins.Of("model.config." + key));
  };
  CHECK(origin("n_layer") == "run.toml:3:12");
  CHECK(origin("n_head").starts_with("--set"));
  CHECK(origin("n_embd") == "preset gpt2-xl");
  const RunConfig both = Read("[model]\npreset = \"gpt2-xl\"\nfamily = \"gpt2\"\n");
  CHECK(both.model.architecture->As<Gpt2Config>()->n_layer == 48);
}

TEST_CASE("every published model is read and built from its name") {
  REQUIRE(ModelPresets().size() >= 7);
  for (const ModelPreset& preset : ModelPresets()) {
    INFO(preset.name);
    const ArchitectureConfig config = ArchitectureNamed(std::string(preset.name));
    CHECK(BuildArchitecture(config)->ParameterCount() > 10000000);
  }
}

TEST_CASE("unknown names are refused with the nearest") {
  const std::string family = ReadRefusal("[model]\nfamily = \"gtp2\"\n");
  CheckContains(family, "run.toml:2:10: [model] 'family' must be one of gpt2, llama, bert, ");
  CheckContains(family, "; \"gtp2\" was given; did you mean 'gpt2'?");
  CheckContains(ReadRefusal("[model]\npreset = \"gpt2-xxl\"\n"),
                "run.toml:2:10: [model] 'preset' must be one of ");
  CheckContains(ReadRefusal("[model]\npreset = \"gpt2-xxl\"\n"),
                "\"gpt2-xxl\" was given; did you mean 'gpt2-xl'?");
  CheckContains(ReadRefusal("[model]\nfamily = 2\n"), "'family' must be one of");
  const std::string named = MessageOf<ConfigError>([] { ArchitectureNamed("restnet-18"); });
  CheckContains(named, "[model.preset] one of ");
  CheckContains(named, "\"restnet-18\"; did you mean 'resnet-18'?");
  CheckContains(MessageOf<ConfigError>([] { ArchitectureNamed(""); }), "choose one of them");
  CheckContains(ReadRefusal("[model]\nfamily = \"gpt2\"\n[model.config]\nn_layers = 3\n"),
                "run.toml:4:1: [model.config] unknown key 'n_layers'");
  CheckContains(ReadRefusal("[model]\nfamily = \"gpt2\"\n[model.config]\nn_layer = -1\n"),
                "run.toml:4:11: [model.config] 'n_layer' must be");
}

TEST_CASE("counts of blocks are limited: each block is made before anything else is checked") {
  const std::vector<std::pair<std::string, std::string>> counts = {
      {"gpt2", "n_layer"},
      {"uvit", "depth"},
      {"unet", "layers_per_block"},
      {"vae_kl", "layers_per_block"},
      {"unet_condition", "layers_per_block"},
      {"unet_condition", "transformer_layers_per_block"},
      {"video_unet", "transformer_layers_per_block"},
      {"pixel_unet", "layers_per_block"},
      {"controlnet_union", "num_trans_layer"}};
  for (const auto& [family, key] : counts) {
    INFO(family << ", " << key);
    CheckContains(ReadRefusal("[model]\nfamily = \"" + family + "\"\nconfig = { " + key +
                              " = 2147483647 }\n"),
                  "[model.config] '" + key + "' must be ");
  }
}

TEST_CASE("sizes belong to a family") {
  CHECK(ReadRefusal("[model.config]\nn_layer = 3\n") ==
        "run.toml:1:1: [model.config] sizes belong to a family of architectures; [model] has "
        "neither 'family' nor 'preset'; e.g. family = \"gpt2\"");
  CheckContains(ReadRefusal("[model]\nfamily = \"gpt2\"\nconfig = 3\n"),
                "run.toml:3:10: [model.config] must be a table");
  CheckContains(ReadRefusal("[model]\nfamily = \"vit\"\npreset = \"gpt2\"\n"),
                "run.toml:2:10: [model] the preset is of family \"gpt2\"; family = \"vit\"; leave "
                "family out beside a preset");
}

TEST_CASE("a model is either layers or an architecture") {
  CheckContains(ReadRefusal("[model]\nfamily = \"resnet\"\n" + kBlockLayers),
                "[model] a model is a list of layers or a named architecture; there are both");
  CheckContains(ReadRefusal("[model]\npreset = \"gpt2\"\n" + kBlockLayers), "there are both");
  CheckContains(ReadRefusal("[training]\nepochs = 2\n"), "there is neither");
}

TEST_CASE("sizes that do not fit are refused when the network is built") {
  CheckContains(
      MessageOf<ConfigError>([] { BuildArchitecture(Gpt2Config{.n_embd = 10, .n_head = 3}); }),
      "[gpt2.n_head] heads divide the 10 features; 3");
  CheckContains(MessageOf<ConfigError>(
                    [] { BuildArchitecture(VitConfig{.image_size = 10, .patch_size = 3}); }),
                "[vit.patch_size] patches divide the image");
  CheckContains(MessageOf<ConfigError>([] { BuildArchitecture(ResNetConfig{.layers = {}}); }),
                "[resnet.layers] at least 1; 0");
  CheckContains(MessageOf<ConfigError>([] { BuildArchitecture(BertConfig{.vocab_size = 0}); }),
                "[bert.vocab_size] at least 1; 0");
}

}  // namespace
}  // namespace frugal::testing
