#include "builders/inference/sampling.h"
#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"

namespace frugal::gallery {
namespace {

constexpr const char* kSizes = "in_channels = 1\nhidden_size = 16\ndepth = 1\nnum_heads = 2\n";

// The [diffusion] section, then a small transformer with these sizes more.
Case Dit(const std::string& title, const std::string& diffusion, const std::string& sizes) {
  Case made = FromWholeToml(
      title, diffusion + "\n[model]\nfamily = \"dit\"\n\n[model.config]\n" + kSizes + sizes);
  made.input = diffusion + (diffusion.empty() ? "" : "\n") + "[model.config]\n" + sizes;
  return made;
}

// Makes a case of what is done to a transformer for the 4 x 4 images of 3 classes.
Case UseDiffusion(const std::string& title, const std::string& code,
                  const std::function<void(Model&)>& use) {
  return {title, code, [use] {
            WriteTinyData();
            DitConfig config;
            config.input_size = 4;
            config.patch_size = 2;
            config.in_channels = 1;
            config.hidden_size = 8;
            config.depth = 1;
            config.num_heads = 2;
            config.num_classes = 3;
            config.learn_sigma = false;
            Model model = TinyTraining()
                              .Architecture(config)
                              .Diffusion({.kind = DiffusionKind::kFlow, .sampler_steps = 2})
                              .Build();
            use(model);
          }};
}

std::vector<Case> OfFiles() {
  const std::string flow = "[diffusion]\nkind = \"flow\"\n";
  const std::string image = "input_size = 28\npatch_size = 4\n";
  const std::string ten = "num_classes = 10\nlearn_sigma = false\n";
  return {
      FromToml("A kind of diffusion with a typo", "[diffusion]\nkind = \"flows\"\n"),
      FromToml("A key of the other kind of diffusion",
               "[diffusion]\nkind = \"flow\"\nbetas = \"cosine\"\n"),
      FromToml("A sampler of the other kind of diffusion",
               "[diffusion]\nkind = \"noise\"\nsampler = \"euler_flow\"\n"),
      FromToml("A key of diffusion without a kind", "[diffusion]\nguidance = 2.0\n"),
      FromToml("Diffusion of a network that takes no time", flow),
      Dit("A predictor of noise without diffusion", "", image + ten),
      Dit("A variance that nothing is fitted to", flow, image + "num_classes = 10\n"),
      Dit("Fewer labels than classes", flow, image + "num_classes = 9\nlearn_sigma = false\n"),
      Dit("No label that stands for none", flow, image + ten + "class_dropout_prob = 0.0\n"),
      Dit("A patch that does not divide the image", flow,
          "input_size = 28\npatch_size = 5\n" + ten),
      Dit("Images of another size than the data's", flow,
          "input_size = 32\npatch_size = 4\n" + ten),
  };
}

std::vector<Case> OfDiffusionModels() {
  return {
      UseDiffusion("A label that the model does not know", "DrawSamples(model, {.labels = {0, 7}})",
                   [](Model& model) {
                     DrawSamples(model, {.labels = {0, 7}});
                   }),
      UseDiffusion("Samples without labels", "DrawSamples(model, {.count = 8})",
                   [](Model& model) { DrawSamples(model, {.count = 8}); }),
      UseDiffusion("One input of several", "model.Predict(images, 2)",
                   [](Model& model) { model.Predict(std::vector<float>(32), 2); }),
      UseDiffusion("Inputs that are missing", "model.PredictInputs({images, times}, 2)",
                   [](Model& model) {
                     const std::vector<float> images(32);
                     const std::vector<float> times(2);
                     model.PredictInputs(std::vector<InputValues>{images, times}, 2);
                   }),
      {"Samples of a model that was not trained by diffusion", "DrawSamples(model, {.count = 1})",
       [] {
         WriteTinyData();
         Model model = TinyTraining().Build();
         DrawSamples(model, {.count = 1});
       }},
  };
}

}  // namespace

Chapter Diffusion() {
  Chapter chapter{"Diffusion", OfFiles()};
  for (Case& next : OfDiffusionModels()) chapter.cases.push_back(std::move(next));
  return chapter;
}

}  // namespace frugal::gallery
