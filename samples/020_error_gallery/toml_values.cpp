#include "samples/020_error_gallery/case.h"

namespace frugal::gallery {

Chapter TomlValues() {
  return {
      "Configuration files: types and ranges",
      {
          FromToml("Text where a number belongs", "[training]\nepochs = \"three\"\n"),
          FromToml("A fraction where a whole number belongs", "[training]\nepochs = 2.5\n"),
          FromToml("A word for a boolean", "[memory]\nuse_gradient_checkpointing = \"yes\"\n"),
          FromToml("A date", "[training]\nseed = 2024-01-31\n"),
          FromToml("A list where one number belongs", "[training]\nbatch_size = [64, 128]\n"),
          FromToml("One number where a list belongs", "[data]\nsample_shape = 784\n"),
          FromToml("A number too large for 64 bits", "[training]\nseed = 9223372036854775808\n"),
          FromToml("A batch of no samples", "[training]\nbatch_size = 0\n"),
          FromToml("A negative seed", "[training]\nseed = -1\n"),
          FromToml("A negative learning rate", "[optimizer]\nlr = -0.1\n"),
          FromToml("A learning rate that is no number", "[optimizer]\nlr = nan\n"),
          FromToml("A mean without an end", "[data]\nmean = -inf\n"),
          FromToml("A path with a NUL", "[output]\nweights = \"w\\u0000.safetensors\"\n"),
          FromToml("A threshold above 1", "[memory]\nmemory_warning_threshold = 1.5\n"),
          FromToml("Segments of no layers",
                   "[memory]\nuse_gradient_checkpointing = true\ncheckpoint_every_n_layers = 0\n"),
          FromToml("A pool of negative size", "[memory]\nmax_pool_memory_mb = -1\n"),
          FromToml("A budget of nothing", "[memory]\nmemory_budget_mb = \"0%\"\n"),
          FromToml("A budget above what there is", "[memory]\nmemory_budget_mb = \"130%\"\n"),
          FromToml("A budget below zero", "[memory]\nmemory_budget_mb = -5\n"),
          FromToml("A budget that is no amount", "[memory]\nmemory_budget_mb = \"abc\"\n"),
          FromToml("A deviation of zero", "[data]\nstd = 0\n"),
          FromToml("A dropout that drops everything",
                   "[[model.layers]]\ntype = \"dropout\"\nrate = 1.0\n"),
          FromToml("A kernel of three extents",
                   "[[model.layers]]\ntype = \"conv2d\"\nfilters = 8\nkernel = [3, 3, 3]\n"),
          FromToml("A list with a wrong item",
                   "[[model.layers]]\ntype = \"conv2d\"\nfilters = 8\nkernel = [3, \"3\"]\n"),
          FromToml("A layer without its size", "[[model.layers]]\ntype = \"dense\"\n"),
          FromToml("A layer's name with a dot",
                   "[[model.layers]]\ntype = \"flatten\"\nname = \"block.1\"\n"),
      }};
}

}  // namespace frugal::gallery
