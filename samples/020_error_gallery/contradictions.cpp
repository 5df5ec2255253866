#include "samples/020_error_gallery/case.h"

namespace frugal::gallery {
namespace {

std::vector<Case> OfMemory() {
  return {
      FromToml("Weights from no file",
               "[memory]\ndefault_initialization_strategy = \"FromFile\"\n"),
      FromToml("A weight file that nothing reads",
               "[memory]\nweights_file_path = \"body.safetensors\"\n"),
      FromToml("Transfer learning from no file", "[memory]\npreset = \"ForTransferLearning\"\n"),
      FromToml("Missing tensors allowed, but no weight file", "[model]\nallow_missing = true\n"),
      FromToml("Custom sharding without assignments", "[memory]\nsharding_strategy = \"Custom\"\n"),
      FromToml("Assignments to a device that is not there",
               "[memory]\nsharding_strategy = \"Custom\"\ncustom_device_assignments = [0, 1]\n"),
      FromToml("More than one device", "[memory]\npreset = \"MultiGpu\"\nnum_devices = 4\n"),
      FromToml("Options for a pool that is off",
               "[memory]\nuse_tensor_pooling = false\n"
               "tensor_pool_options = { max_pool_size_mb = 64 }\n"),
      // The reference on one thread: other kernels' workspace depends on the machine.
      FromToml("A limit below what the plan needs",
               "[memory]\nmax_memory_per_device_mb = 8\n\n"
               "[training]\nbackend = \"eigen\"\nthreads = 1\n"),
      FromToml("A budget that nothing fits",
               "[memory]\nmemory_budget_mb = 8\noptimizer_in_backward = false\n\n"
               "[optimizer]\nkind = \"adamw\"\n\n"
               "[training]\nbackend = \"eigen\"\nthreads = 1\n"),
  };
}

std::vector<Case> OfTraining() {
  return {
      FromToml("Momentum for adamw", "[optimizer]\nkind = \"adamw\"\nmomentum = 0.9\n"),
      FromToml("Nesterov without momentum", "[optimizer]\nkind = \"sgd\"\nnesterov = true\n"),
      FromToml("A moment's decay for sgd", "[optimizer]\nkind = \"sgd\"\nbeta1 = 0.8\n"),
      FromToml("Narrow state for a rule without kernels for it",
               "[optimizer]\nkind = \"rmsprop\"\nstate = \"bf16\"\n"),
      FromToml("The format of a state that there is not",
               "[optimizer]\nkind = \"sgd\"\nstate = \"8bit\"\n"),
      FromToml("Narrow state in double precision",
               "[optimizer]\nstate = \"8bit\"\n[training]\nprecision = \"f64\"\nbackend = "
               "\"eigen\"\n"),
      FromToml("Drops of the rate in a cosine",
               "[schedule]\nkind = \"cosine\"\nstep_every = 100\n"),
      FromToml("A loss for numbers on data with labels", "[loss]\nkind = \"mse\"\n"),
      FromToml("A key of another loss", "[loss]\nkind = \"cross_entropy\"\ndelta = 0.5\n"),
      FromToml("Weights of fewer classes than there are",
               "[loss]\nclass_weights = [1.0, 2.0, 0.5]\n"),
      FromToml("Weights of classes that are all zero",
               "[loss]\nclass_weights = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n"),
      FromToml("Weights of classes in a batch in parts",
               "[loss]\nclass_weights = [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]\n\n"
               "[training]\ngradient_accumulation_steps = 2\n"),
      FromToml("The exponent of a focal loss for another", "[loss]\ngamma = 3.0\n"),
      FromToml("A focal loss of nothing", "[loss]\nkind = \"focal\"\nalpha = 0.0\n"),
      FromToml("A margin for a loss without one",
               "[loss]\nkind = \"cross_entropy\"\nmargin = 0.5\n"),
      FromToml("A loss of triplets beside labels", "[loss]\nkind = \"triplet\"\n"),
      FromToml("A loss of sequences on images", "[loss]\nkind = \"ctc\"\n"),
      FromToml("A blank that is no class", "[loss]\nkind = \"ctc\"\nblank = 10\n"),
      FromToml("Sequences too long for a loss without steps",
               "[loss]\nkind = \"hinge\"\nzero_infinity = true\n"),
      FromToml("Double precision on the fast backend",
               "[training]\nprecision = \"f64\"\nbackend = \"onednn\"\n"),
      FromToml("Products split in three on the reference backend",
               "[training]\nprecision = \"f32x3\"\nbackend = \"eigen\"\n"),
      FromToml("A batch larger than an epoch",
               "[training]\nbatch_size = 128\n\n[data]\ntrain_limit = 100\n"),
      FromToml("Images' fields beside a text",
               "[data]\ntext_file = \"words.txt\"\nmean = 0.3\nclasses = 10\n"),
      FromToml("A text's fields without one", "[data]\nsequence_length = 64\n"),
      FromToml("Another number of samples than built-in data have", "[data]\ntrain_count = 100\n"),
      FromToml("A misspelt data set beside another mistake",
               "[data]\ndataset = \"fashion-mnits\"\n\n[training]\nepochs = 0\n"),
      FromToml("Snapshots at times, but nowhere", "[snapshots]\nevery_n_steps = 10\n"),
      FromToml("A monitor that chooses nothing",
               "[snapshots]\ndirectory = \"runs\"\nmonitor = \"accuracy\"\n"),
      FromToml("A monitor that is not measured",
               "[snapshots]\ndirectory = \"runs\"\nkeep_best = 1\nmonitor = \"f1\"\n"),
      FromToml("A policy for a thread that there is not",
               "[snapshots]\ndirectory = \"runs\"\nbackground = false\nwhen_busy = \"skip\"\n"),
      FromToml("The best of no evaluations",
               "[snapshots]\ndirectory = \"runs\"\nkeep_best = 1\n\n"
               "[training]\nevaluate = false\n"),
      FromWholeToml("A network with nothing to train", "[[model.layers]]\ntype = \"flatten\"\n"),
      FromToml("A data set described in part",
               "[data]\ndataset = \"shapes\"\ntrain_images = \"shapes.idx\"\nclasses = 3\n"),
  };
}

}  // namespace

Chapter Contradictions() {
  Chapter chapter{"Configuration files: settings that contradict each other", OfMemory()};
  for (Case& next : OfTraining()) chapter.cases.push_back(std::move(next));
  return chapter;
}

}  // namespace frugal::gallery
