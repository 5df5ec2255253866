#include <filesystem>

#include "builders/snapshot/find_snapshot.h"
#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"

namespace frugal::gallery {
namespace {

// A training that has its snapshot in `path`.
Model Saved(const std::string& path) {
  Model model = TinyTraining().Build();
  model.TrainStep(std::vector<std::int64_t>{0, 1});
  std::filesystem::remove_all(path);
  model.SaveSnapshot(path);
  return model;
}

void ResumeBroken(const std::string& file, std::string_view content) {
  Model model = Saved("broken");
  WriteFile("broken/" + file, content);
  model.Resume("broken");
}

}  // namespace

Chapter Snapshots() {
  return {"Snapshots",
          {{"A snapshot that is not there", "model.Resume(\"runs/a\")",
            [] { TinyTraining().Build().Resume("runs/a"); }},
           {"A directory that is no snapshot", "model.Resume(\"empty\")",
            [] {
              std::filesystem::create_directories("empty");
              TinyTraining().Build().Resume("empty");
            }},
           {"A snapshot that was cut short", "rank-0.safetensors of 3 bytes",
            [] { ResumeBroken("rank-0.safetensors", "abc"); }},
           {"A snapshot whose manifest was edited", "manifest.json: {}",
            [] { ResumeBroken("manifest.json", "{}"); }},
           {"A snapshot over another one", "model.SaveSnapshot(\"taken\"), twice",
            [] { Saved("taken").SaveSnapshot("taken"); }},
           {"Another learning rate than before", "builder.Optimizer({.lr = 0.5}); Resume()",
            [] {
              Saved("before");
              AiModelBuilder builder = TinyTraining();
              builder.Optimizer({.lr = 0.5}).Build().Resume("before");
            }},
           {"Another network than before", "layers.Dense({.units = 3}, \"tail\"); Resume()",
            [] {
              Saved("before");
              AiModelBuilder builder = TinyTraining();
              builder.Layers([](LayerList& l) { l.Flatten().Dense({.units = 3}, "tail"); });
              builder.Build().Resume("before");
            }},
           {"Snapshots of another training in the directory",
            "builder.Snapshots({.directory = \"used\"}); Train()",
            [] {
              std::filesystem::remove_all("used");
              TinyTraining().Snapshots({.directory = "used"}).Build().Train();
              TinyTraining().Snapshots({.directory = "used"}).Build().Train();
            }},
           {"To resume where nothing was saved", "frugal train run.toml --resume must",
            [] { SnapshotToResume("must", "nothing_here"); }},
           {"To resume without a directory", "frugal train run.toml --resume auto",
            [] { SnapshotToResume("auto", std::nullopt); }}}};
}

}  // namespace frugal::gallery
