// The schema that the command prints, by a validator that knows nothing of us: it takes every
// configuration of this repository, and refuses what we refuse.
#include <nlohmann/json.hpp>

#include "builders/config/run_config_reader.h"
#include "sdk/core/error.h"
#include "tests/samples/run_program.h"
#include "tests/skip.h"

namespace frugal::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = FRUGAL_SOURCE_DIR;

bool HasValidator(const TempDir& directory) {
  return Run(directory, "python3 -c 'import jsonschema, tomllib; jsonschema.Draft202012Validator'")
             .exit_code == 0;
}

// All TOML files below a folder, in one order.
std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// Holds the listed files against the schema that `program` prints.
void CheckAgainstSchema(const TempDir& directory, const std::string& program,
                        const std::string& list) {
  directory.Write("list", list);
  REQUIRE(Run(directory, Program(program) + " schema > schema.json").exit_code == 0);
  const ProgramRun run = Run(directory, "python3 '" + std::string(FRUGAL_TEST_DATA) +
                                            "/samples/validate_toml.py' schema.json list");
  CHECK(run.output.empty());
  CHECK(run.errors.empty());
  CHECK(run.exit_code == 0);
}

TEST_CASE("the schema takes every configuration of this repository", "[needs-jsonschema]") {
  const TempDir directory;
  FRUGAL_SKIP_UNLESS(HasValidator(directory), "python3-jsonschema or tomllib is not there");
  std::string list, of_own_parts;
  int count = 0;
  for (const char* folder : {"presets", "samples"}) {
    for (const std::string& file : FilesIn(folder)) {
      const bool has_own_parts = file.find("own_parts") != std::string::npos;
      (has_own_parts ? of_own_parts : list) += "right " + file + "\n";
      ++count;
    }
  }
  for (const std::string& file : FilesIn("tests/oracles")) {
    if (fs::path(file).filename() == "case.toml") list += "sizes " + file + "\n";
  }
  CHECK(count > 45);
  CheckAgainstSchema(directory, "frugal", list);
  REQUIRE_FALSE(of_own_parts.empty());
  CheckAgainstSchema(directory, "sample_070_own_parts", of_own_parts);
}

const std::string kDense = "[[model.layers]]\ntype = \"dense\"\nunits = 64\n";

// Each is one that reading refuses as well.
const std::vector<std::string> kWrong = {
    "[trainig]\nepochs = 3\n",
    "[training]\nepocs = 3\n",
    "[training]\nepochs = 0\n",
    "[training]\nepochs = \"3\"\n",
    "[training]\nbatch_size = 2.5\n",
    "[training]\nthreads = 1e9\n",
    "[training]\nmetrics = \"f1\"\n",
    "[optimizer]\nkind = \"adamm\"\n",
    "[optimizer]\nlr = -1.0\n",
    "[optimizer]\nbeta1 = 1\n",
    "[optimizer]\nslow = [\"0\"]\n",
    "[memory]\npreset = 1\n",
    "[memory]\nmemory_budget_mb = \"0%\"\n",
    "[memory]\nmemory_budget_mb = 0\n",
    "[memory]\nuse_activation_pooling = \"yes\"\n",
    "[memory.tensor_pool_options]\nmax_items_per_buckt = 3\n",
    "[memory]\nmax_memory_per_device_mb = \"nothing\"\n",
    "[data]\nsample_shape = [28, 28]\n",
    "[data]\nsample_shape = [28, 28, \"1\"]\n",
    "[output]\nweights = 3\n",
    "loss = 3\n",
    "[model]\nlayers = 3\n",
    "[model]\nlayers = [64, 10]\n",
    "[[model.layers]]\nunits = 64\n",
    "[[model.layers]]\ntype = \"dens\"\nunits = 64\n",
    "[[model.layers]]\ntype = \"dense\"\n",
    "[[model.layers]]\ntype = \"dense\"\nunit = 64\n",
    "[[model.layers]]\ntype = \"lstm\"\nhidden = 64\n",
    "[[model.layers]]\ntype = \"conv2d\"\nfilters = 2\nkernel = [3, 3, 3]\n",
    "[[model.layers]]\ntype = \"conv2d\"\nfilters = 2\nkernel = 3\npadding = -1\n",
    kDense + "initializer = { kind = \"he_norml\" }\n",
    kDense + "layers = []\n",
    kDense + "name = 3\n",
    "[[model.layers]]\ntype = \"residual\"\n[[model.layers.layers]]\ntype = \"dense\"\n",
    "[model]\nfamily = \"gpt3\"\n",
    "[model]\npreset = \"gtp2\"\n",
    "[model]\nconfig = { n_layer = 2 }\n",
    "[model]\nfamily = \"gpt2\"\nconfig = { n_layers = 2 }\n",
    "[model]\nfamily = \"gpt2\"\nconfig = { attention_head_dim = 2 }\n",
    "[model]\npreset = \"gpt2\"\nconfig = { n_layer = \"two\" }\n",
    "[model]\nfamily = \"unet\"\nconfig = { attention_head_dim = [8, 8] }\n",
    "[model]\nfamily = \"flux\"\nconfig = { qk_norm = \"rms_norm\" }\n",
    "[model]\nfamily = \"gpt2\"\nconfig = 3\n",
};

TEST_CASE("the schema refuses what reading refuses", "[needs-jsonschema]") {
  const TempDir directory;
  FRUGAL_SKIP_UNLESS(HasValidator(directory), "python3-jsonschema or tomllib is not there");
  std::string list;
  for (std::size_t i = 0; i < kWrong.size(); ++i) {
    INFO(kWrong[i]);
    CHECK_THROWS_AS(ReadRunConfigText(kWrong[i], "run.toml", {}, true), ConfigError);
    list += "wrong " + directory.Write(std::to_string(i) + ".toml", kWrong[i]) + "\n";
  }
  CheckAgainstSchema(directory, "frugal", list);
}

TEST_CASE("the schema tells the sizes of each family apart") {
  const nlohmann::json schema = nlohmann::json::parse(RunConfigSchema());
  const auto field = [&](const std::string& family, const std::string& name) {
    return schema.at("$defs").at("model.config." + family).at("properties").at(name);
  };
  CHECK(field("unet", "attention_head_dim").at("anyOf").at(0).at("type") == "integer");
  CHECK(field("unet_condition", "attention_head_dim").at("anyOf").at(1).at("type") == "array");
  CHECK(field("flag_dit", "qk_norm").at("type") == "boolean");
  CHECK(schema.at("properties").at("model").at("dependentSchemas").contains("config"));
}

}  // namespace
}  // namespace frugal::testing
