#include <filesystem>

#include "samples/020_error_gallery/case.h"
#include "samples/020_error_gallery/tiny_training.h"

namespace frugal::gallery {
namespace {

// A training on 4 x 4 images where one file is not as announced.
Case Training(const std::string& title, const std::string& file, const std::string& input,
              const std::string& content) {
  return {title, file + ": " + input, [file, content] {
            WriteTinyData(file, content);
            TinyTraining().Build().Train();
          }};
}

void PlanText(const std::string& path) {
  AiModelBuilder builder = TinyTraining();
  builder.Data({.dataset = "text", .text_file = path}).Plan();
}

}  // namespace

Chapter Data() {
  const std::string images = IdxFile({8, 4, 4}, 128);
  return {
      "Data",
      {
          {"A file that is not there", "train_images.idx does not exist",
           [] {
             WriteTinyData();
             std::filesystem::remove("train_images.idx");
             TinyTraining().Build().Train();
           }},
          Training("An empty file", "train_images.idx", "0 bytes", ""),
          Training("A file cut short", "train_images.idx", "8 images of 4 x 4, 100 bytes of them",
                   images.substr(0, 116)),
          Training("A file with bytes behind its end", "train_images.idx", "5 bytes too many",
                   images + "extra"),
          Training("Something other than IDX", "train_images.idx", "a PNG image",
                   "\x89PNG\r\n\x1a\n and so on"),
          Training("Images of another size", "train_images.idx", "8 images of 5 x 5",
                   IdxFile({8, 5, 5}, 200)),
          Training("Fewer images than announced", "train_images.idx", "6 images of 4 x 4",
                   IdxFile({6, 4, 4}, 96)),
          Training("Labels in place of images", "train_images.idx", "8 labels", IdxFile({8}, 8)),
          Training("Fewer labels than images", "train_labels.idx", "7 labels", IdxFile({7}, 7)),
          Training("A label above the number of classes", "train_labels.idx", "the last of 8 is 9",
                   IdxFile({8}, 7) + '\x09'),
          Training("Elements of another type", "train_labels.idx", "32-bit integers",
                   std::string("\0\0\x0c\1\0\0\0\x08", 8) + std::string(32, '\0')),
          Training("A damaged gzip file", "train_images.idx", "a gzip header, then noise",
                   std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + "no deflate stream"),
          {"A text that is not there", "builder.Data({.text_file = \"missing.txt\"})",
           [] { PlanText("missing.txt"); }},
          {"A directory as text", "builder.Data({.text_file = \".\"})", [] { PlanText("."); }},
          {"A text too short for two samples", "sequence_length = 128, 200 bytes",
           [] {
             WriteFile("short.txt", std::string(200, 'a'));
             PlanText("short.txt");
           }},
          {"A gzipped text cut short", "half of text.gz",
           [] {
             WriteFile("text.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c", 12));
             PlanText("text.gz");
           }},
          Training("An announcement that no memory could hold", "train_images.idx",
                   "2,000,000,000 images of 2,000 x 2,000",
                   IdxFile({2'000'000'000, 2000, 2000}, 16)),
      }};
}

}  // namespace frugal::gallery
