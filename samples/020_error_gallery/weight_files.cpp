#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"
#include "sdk/io/weights/open_weights.h"

namespace frugal::gallery {
namespace {

// A safetensors file: the length of the header, the header, and `data_bytes` zeros.
std::string Safetensors(const std::string& header, std::size_t data_bytes) {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8) {
    file += static_cast<char>((std::uint64_t{header.size()} >> shift) & 0xFF);
  }
  return file + header + std::string(data_bytes, '\0');
}

constexpr const char* kGoodHeader =
    R"({"head.weight":{"dtype":"F32","shape":[3,16],"data_offsets":[0,192]},)"
    R"("head.bias":{"dtype":"F32","shape":[3],"data_offsets":[192,204]}})";

// A file of this content, opened as weights.
Case Content(const std::string& title, const std::string& name, const std::string& input,
             const std::string& content) {
  return {title, name + ": " + input, [name, content] {
            WriteFile(name, content);
            OpenWeights(name);
          }};
}

Case Header(const std::string& title, const std::string& header, std::size_t data_bytes) {
  return Content(title, "model.safetensors",
                 "header " + header + ", " + std::to_string(data_bytes) + " bytes of data",
                 Safetensors(header, data_bytes));
}

// A model that takes its weights from model.safetensors.
Case Load(const std::string& title, const std::string& header, std::size_t data_bytes) {
  return {title, "a model with head.weight [3, 16] and head.bias [3]; model.safetensors: " + header,
          [header, data_bytes] {
            WriteFile("model.safetensors", Safetensors(header, data_bytes));
            AiModelBuilder builder = TinyTraining();
            builder.Memory(TrainingMemoryConfig::ForTransferLearning("model.safetensors"));
            builder.Build();
          }};
}

std::vector<Case> DamagedSafetensors() {
  const std::string good = Safetensors(kGoodHeader, 204);
  const std::string zero_tensor = R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  return {
      Content("A file cut short in its header", "model.safetensors", "the first 40 bytes of one",
              good.substr(0, 40)),
      Content("A file cut short in its data", "model.safetensors", "all but the last 10 bytes",
              good.substr(0, good.size() - 10)),
      Content("Bytes behind the last tensor", "model.safetensors", "16 bytes too many",
              good + std::string(16, 'x')),
      Header("A header that is not JSON", R"({"a":{"dtype":"F32",)", 0),
      Header("Tensors that overlap",
             R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
             12),
      Header("A gap between tensors",
             R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]}})",
             20),
      Header("A tensor outside of the file",
             R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[96,104]}})", 8),
      Header("A shape that disagrees with its bytes",
             R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
      Header("A negative extent", R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8),
      Header("A dtype that nobody knows",
             R"({"a":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}})", 8),
      Header("A tensor that is there twice",
             "{\"a\":" + zero_tensor + ",\"a\":" + zero_tensor + "}", 8),
      Header("A tensor without a shape", R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", 8),
  };
}

std::vector<Case> OtherForms() {
  return {
      {"A file that is not there", "OpenWeights(\"modle.safetensors\")",
       [] { OpenWeights("modle.safetensors"); }},
      Content("An empty file", "empty.safetensors", "0 bytes", ""),
      Content("A PyTorch checkpoint", "model.pt", "a ZIP archive", "PK\x03\x04 archive/data.pkl"),
      Content("JSON with nested lists", "model.json",
              R"({"a": {"shape": [1, 2], "data": [[1, 2]]}})",
              R"({"a": {"shape": [1, 2], "data": [[1, 2]]}})"),
      Content("JSON with too few numbers", "model.json", R"({"a": {"shape": [3], "data": [1, 2]}})",
              R"({"a": {"shape": [3], "data": [1, 2]}})"),
      Content("The binary form, cut short", "model.bin", "FRUGALWT and nothing else", "FRUGALWT"),
      {"Another form than the one that was asked for",
       "OpenWeights(\"model.safetensors\", WeightsFileFormat::kJson)",
       [] {
         WriteFile("model.safetensors", Safetensors(kGoodHeader, 204));
         OpenWeights("model.safetensors", WeightsFileFormat::kJson);
       }},
      Load("A tensor of another shape",
           R"({"head.weight":{"dtype":"F32","shape":[16,3],"data_offsets":[0,192]},)"
           R"("head.bias":{"dtype":"F32","shape":[3],"data_offsets":[192,204]}})",
           204),
      Load("Whole numbers under a weight's name",
           R"({"head.weight":{"dtype":"I32","shape":[3,16],"data_offsets":[0,192]},)"
           R"("head.bias":{"dtype":"F32","shape":[3],"data_offsets":[192,204]}})",
           204),
      Load("Missing and unexpected tensors",
           R"({"fc.weight":{"dtype":"F32","shape":[3,16],"data_offsets":[0,192]}})", 192),
      {"Weights under the name of another form", "model.SaveWeights(\"model.pt\")",
       [] { TinyTraining().Build().SaveWeights("model.pt"); }},
      {"Weights for a directory that is not there",
       "model.SaveWeights(\"results/model.safetensors\")",
       [] { TinyTraining().Build().SaveWeights("results/model.safetensors"); }},
  };
}

}  // namespace

Chapter WeightFiles() {
  Chapter chapter{"Weight files", DamagedSafetensors()};
  for (Case& next : OtherForms()) chapter.cases.push_back(std::move(next));
  return chapter;
}

}  // namespace frugal::gallery
