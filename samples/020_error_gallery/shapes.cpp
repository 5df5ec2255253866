#include "samples/020_error_gallery/case.h"

namespace frugal::gallery {
namespace {

// One layer on images [28, 28, 1], in TOML.
Case Layer(const std::string& title, const std::string& keys) {
  return FromToml(title, "[[model.layers]]\n" + keys);
}

std::vector<Case> OfWindows() {
  return {
      Layer("A kernel larger than the image", "type = \"conv2d\"\nfilters = 8\nkernel = 29\n"),
      Layer("A pooling window larger than the image", "type = \"max_pool2d\"\nkernel = 32\n"),
      Layer("Padding that fills a whole pooling window",
            "type = \"max_pool2d\"\nkernel = 2\npadding = 2\n"),
      Layer("A dilated kernel larger than the image",
            "type = \"conv2d\"\nfilters = 8\nkernel = 5\ndilation = 8\n"),
      Layer("Padding that makes more than any memory holds",
            "type = \"conv2d\"\nfilters = 8\nkernel = 3\npadding = 1000000000\n"),
      Layer("Convolution groups that do not divide the channels",
            "type = \"conv2d\"\nfilters = 8\nkernel = 3\ngroups = 2\n"),
      FromToml("Norm groups that do not divide the channels",
               "[[model.layers]]\ntype = \"conv2d\"\nfilters = 12\nkernel = 3\n\n"
               "[[model.layers]]\ntype = \"group_norm\"\ngroups = 8\n"),
      FromToml("A convolution behind flatten",
               "[[model.layers]]\ntype = \"flatten\"\n\n"
               "[[model.layers]]\ntype = \"conv2d\"\nfilters = 8\nkernel = 3\n"),
      FromToml("Pooling behind flatten",
               "[[model.layers]]\ntype = \"flatten\"\n\n"
               "[[model.layers]]\ntype = \"adaptive_avg_pool2d\"\n"),
  };
}

std::vector<Case> OfModels() {
  return {
      FromToml("A residual whose body changes the shape",
               "[[model.layers]]\ntype = \"residual\"\n\n  [[model.layers.layers]]\n"
               "  type = \"conv2d\"\n  filters = 8\n  kernel = 3\n"),
      FromToml("A shortcut that ends in another shape",
               "[[model.layers]]\ntype = \"residual\"\n\n  [[model.layers.layers]]\n"
               "  type = \"conv2d\"\n  filters = 8\n  kernel = 3\n  stride = 2\n  padding = 1\n\n"
               "  [[model.layers.shortcut]]\n  type = \"conv2d\"\n  filters = 8\n  kernel = 1\n"),
      Layer("A residual without a body", "type = \"residual\"\n"),
      FromToml("A mistake two levels down",
               "[[model.layers]]\ntype = \"sequential\"\n\n  [[model.layers.layers]]\n"
               "  type = \"sequential\"\n\n    [[model.layers.layers.layers]]\n"
               "    type = \"conv2d\"\n    filters = 8\n    kernel = 40\n"),
      FromToml("Two layers of one name",
               "[[model.layers]]\ntype = \"dense\"\nunits = 8\nname = \"head\"\n\n"
               "[[model.layers]]\ntype = \"dense\"\nunits = 8\nname = \"head\"\n"),
      FromWholeToml("Outputs that are not one per class",
                    "[[model.layers]]\ntype = \"flatten\"\n\n"
                    "[[model.layers]]\ntype = \"dense\"\nunits = 7\n"),
      FromWholeToml("Outputs that are still images",
                    "[[model.layers]]\ntype = \"conv2d\"\nfilters = 10\nkernel = 3\n"),
  };
}

// Layers over images, in TOML, that name values of the list or outputs.
Case List(const std::string& title, const std::string& layers) {
  return FromWholeToml(title, "[model]\nlayers = [\n" + layers +
                                  "  { type = \"flatten\" },\n"
                                  "  { type = \"dense\", units = 10 },\n]\n");
}

std::vector<Case> OfNames() {
  return {
      List("A join with what nobody saved", "  { type = \"join\", with = \"stem\" },\n"),
      List("A saved value that nobody reads", "  { type = \"save\", as = \"stem\" },\n"),
      List("A take of what is not there", "  { type = \"take\", value = \"left\" },\n"),
      List("A layer again that is not there",
           "  { type = \"flatten\", name = \"flat\" },\n"
           "  { type = \"again\", layer = \"flap\" },\n"),
      List("An output without a name", "  { type = \"output\" },\n"),
      List("An output inside another layer",
           "  { type = \"sequential\", layers = [{ type = \"output\", name = \"early\" }] },\n"),
      FromWholeToml("An output whose targets the data do not have",
                    "[[model.layers]]\ntype = \"flatten\"\n\n"
                    "[[model.layers]]\ntype = \"output\"\nname = \"age\"\ntarget = \"age\"\n\n"
                    "[[model.layers]]\ntype = \"dense\"\nunits = 10\n"),
      FromWholeToml("An output whose loss takes values where the data have labels",
                    "[[model.layers]]\ntype = \"flatten\"\n\n"
                    "[[model.layers]]\ntype = \"output\"\nname = \"early\"\n"
                    "loss = { kind = \"mse\" }\n\n"
                    "[[model.layers]]\ntype = \"dense\"\nunits = 10\n"),
  };
}

}  // namespace

Chapter ShapesThatDoNotChain() {
  Chapter chapter{"Models: shapes that do not chain", OfWindows()};
  for (Case& next : OfModels()) chapter.cases.push_back(std::move(next));
  for (Case& next : OfNames()) chapter.cases.push_back(std::move(next));
  return chapter;
}

}  // namespace frugal::gallery
