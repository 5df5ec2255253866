#include "builders/config/run_config_reader.h"
#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"

namespace frugal::gallery {
namespace {

Case Override(const std::string& title, const std::string& assignment) {
  return {title, "--set '" + assignment + "'", [assignment] {
            ReadRunConfigText("[[model.layers]]\ntype = \"flatten\"\n", "run.toml", {assignment});
          }};
}

Case File(const std::string& title, const std::string& path) {
  return {title, "frugal plan " + path, [path] { ReadRunConfig(path); }};
}

// The file of a preset, team.toml, which a configuration names.
Case TeamPreset(const std::string& title, const std::string& team) {
  return {title, "preset = \"team.toml\"; team.toml:\n" + team, [team] {
            WriteFile("team.toml", team);
            ReadRunConfigText("[memory]\npreset = \"team.toml\"\n", "run.toml");
          }};
}

std::vector<Case> PresetFiles() {
  return {
      FromToml("A preset's file that is not there", "[memory]\npreset = \"presets/mine.toml\"\n"),
      FromToml("A configuration that extends a preset", "[memory]\nextend = \"ForConvNets\"\n"),
      FromToml("A planning of segments that there is not",
               "[memory]\ncheckpoint_planning = \"Fast\"\n"),
      TeamPreset("A key with a typo in a preset's file",
                 "[memory]\nextend = \"ForConvNets\"\nmax_pool_memory = 64\n"),
      TeamPreset("A wrong value in a preset's file", "[memory]\nnum_devices = \"two\"\n"),
      TeamPreset("A preset's file that extends an unknown preset",
                 "[memory]\nextend = \"ForTransformer\"\n"),
      TeamPreset("A preset's file that extends itself", "[memory]\nextend = \"team.toml\"\n"),
      TeamPreset("A preset's file with more than [memory]", "[training]\nepochs = 3\n"),
      TeamPreset("A preset's file without its section", "use_gradient_checkpointing = true\n"),
      TeamPreset("A preset's file that names a preset as configurations do",
                 "[memory]\npreset = \"ForConvNets\"\n"),
  };
}

std::vector<Case> Names() {
  return {
      FromToml("A section with a typo", "[trainig]\nepochs = 3\n"),
      FromToml("A section in capitals", "[Training]\nepochs = 3\n"),
      FromToml("A key with a typo", "[training]\nepocs = 3\n"),
      FromToml("A key of another program", "[training]\nearly_stopping = true\n"),
      FromToml("A key in a table inside a section",
               "[memory.tensor_pool_options]\nmax_items_per_buckt = 3\n"),
      FromToml("A key in an inline table", "[memory]\ntensor_pool_options = { enabeld = true }\n"),
      FromToml("A type of layer with a typo", "[[model.layers]]\ntype = \"dens\"\nunits = 64\n"),
      FromToml("A key of a layer with a typo", "[[model.layers]]\ntype = \"dense\"\nunit = 64\n"),
      FromToml("A key of a layer inside a residual",
               "[[model.layers]]\ntype = \"residual\"\n\n  [[model.layers.layers]]\n"
               "  type = \"conv2d\"\n  filters = 1\n  kernel = 3\n  pading = 1\n"),
      FromToml("A value in a table of a layer of a layer",
               "[[model.layers]]\ntype = \"sequential\"\n\n  [[model.layers.layers]]\n"
               "  type = \"dense\"\n  units = 64\n  initializer = { kind = \"he_norml\" }\n"),
      FromToml("A layer's key of an earlier version",
               "[[model.layers]]\ntype = \"lstm\"\nhidden = 64\n"),
      FromToml("A preset with a typo", "[memory]\npreset = \"ForConvNet\"\n"),
      FromToml("An optimizer with a typo", "[optimizer]\nkind = \"adamm\"\n"),
      FromToml("An activation with a typo",
               "[[model.layers]]\ntype = \"dense\"\nunits = 64\nactivation = \"rellu\"\n"),
      FromToml("A data set that is not built in", "[data]\ndataset = \"imagenet\"\n"),
      FromToml("Several mistakes are reported at once",
               "[memory]\npreset = \"ForConvNets\"\nnum_device = 1\n\n[training]\n"
               "batch_size = \"big\"\nepochs = 0\n"),
  };
}

std::vector<Case> Form() {
  return {
      FromToml("Text without quotes", "[memory]\npreset = ForConvNets\n"),
      FromToml("A string that does not end", "[model]\nname = \"first\n"),
      FromToml("A key that is there twice", "[training]\nepochs = 1\nepochs = 2\n"),
      FromToml("A section that is there twice", "[loss]\n\n[loss]\n"),
      FromToml("A section where a value stands", "training = 3\n"),
      FromWholeToml("Layers as one table", "[model.layers]\ntype = \"dense\"\nunits = 10\n"),
      FromToml("A layer without a type", "[[model.layers]]\nunits = 64\n"),
      FromWholeToml("No layers at all", "[training]\nepochs = 1\n"),
      FromWholeToml("A list of numbers as layers", "[model]\nlayers = [64, 10]\n"),
      File("A file that is not there", "misisng.toml"),
      File("A directory", "."),
      Override("An override without a value", "training.epochs"),
      Override("An override with a typo", "training.epocs=2"),
      Override("An override of a layer that is not there", "model.layers.7.units=64"),
      Override("An override with the wrong type", "training.epochs=many"),
  };
}

}  // namespace

Chapter TomlTypos() {
  Chapter chapter{"Configuration files: names and form", Names()};
  for (Case& next : PresetFiles()) chapter.cases.push_back(std::move(next));
  for (Case& next : Form()) chapter.cases.push_back(std::move(next));
  return chapter;
}

}  // namespace frugal::gallery
