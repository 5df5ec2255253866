#include "builders/reference/starting_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "builders/reference/reference.h"
#include "presets/config/nearest_name.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

struct Start {
  std::string_view kind;
  std::string_view doc;
  std::string_view toml;
};

constexpr std::string_view kImages = R"([model]
name = "images"
layers = [
  # For images [28, 28, 1]; sizes of what comes in are inferred. `frugal explain conv2d` lists keys.
  { type = "conv2d", filters = 32, kernel = 3, padding = 1, activation = "relu" },
  { type = "max_pool2d", kernel = 2 },
  { type = "conv2d", filters = 64, kernel = 3, padding = 1, activation = "relu" },
  { type = "max_pool2d", kernel = 2 },
  { type = "flatten" },
  { type = "dropout", rate = 0.2 },
  { type = "dense", units = 128, activation = "relu" },
  { type = "dense", units = 10 },  # as many as there are classes
]

[memory]
preset = "ForConvNets"

# Debian's dataset-fashion-mnist has these images. For your own, say where the IDX files are:
#   dataset = "mine"
#   train_images = "train-images-idx3-ubyte.gz"    # and train_labels, test_images, test_labels
#   sample_shape = [28, 28, 1]                     # and train_count, test_count, classes
[data]
dataset = "fashion-mnist"
mean = 0.2860
std = 0.3530

[loss]
kind = "cross_entropy"
label_smoothing = 0.05

[optimizer]
kind = "adamw"
lr = 0.001
weight_decay = 0.01

[schedule]
kind = "cosine"
warmup_steps = 200

[training]
epochs = 4
batch_size = 128
metrics = ["f1"]
seed = 1

[output]
weights = "images.safetensors"
report = "images.html"
log = "images.csv"
)";

constexpr std::string_view kText = R"([model]
name = "text"
family = "gpt2"

# The sizes of a small GPT over bytes; `frugal explain gpt2` lists all.
[model.config]
vocab_size = 256
n_positions = 128
n_embd = 128
n_layer = 4
n_head = 4

[memory]
preset = "ForTransformers"

# Any text will do; a few hundred kilobytes are the least that it learns from.
[data]
text_file = "text.txt"
sequence_length = 128
test_fraction = 0.05

[optimizer]
kind = "adamw"
lr = 0.003
beta2 = 0.95
weight_decay = 0.1
decay_vectors = false

[schedule]
kind = "cosine"
warmup_steps = 100
final_fraction = 0.1

[training]
epochs = 1
batch_size = 32
clip_gradient_norm = 1.0
metrics = ["perplexity"]
seed = 1

# Behind the training: frugal generate THIS_FILE --weights text.safetensors
[output]
weights = "text.safetensors"
report = "text.html"
log = "text.csv"
)";

constexpr std::string_view kDiffusion = R"([model]
name = "diffusion"
family = "dit"

# A small diffusion transformer for images [28, 28, 1]; `frugal explain dit` lists all sizes.
[model.config]
input_size = 28
patch_size = 4
in_channels = 1
hidden_size = 128
depth = 4
num_heads = 4
num_classes = 10
learn_sigma = false

[memory]
preset = "ForTransformers"

[data]
dataset = "fashion-mnist"
mean = 0.5
std = 0.5

[diffusion]
kind = "flow"
times = "logit_normal"
label_dropout = 0.1
sampler_steps = 40
guidance = 2.0

[optimizer]
kind = "adamw"
lr = 0.0006
ema_decay = 0.998

[schedule]
kind = "cosine"
warmup_steps = 200
final_fraction = 0.05

[training]
epochs = 2
batch_size = 64
clip_gradient_norm = 1.0
seed = 1

[output]
weights = "clothes.safetensors"
report = "clothes.html"
)";

constexpr std::string_view kTransfer = R"([model]
name = "transfer"
family = "resnet"
allow_missing = true

[model.config]
block = "basic"
layers = [2, 2, 2, 2]
num_classes = 10
in_channels = 1
small_stem = true

# The weights of a network of these sizes, trained before, whose head may have had other classes.
[memory]
preset = "ForTransferLearning"
weights_file_path = "trained.safetensors"

[data]
dataset = "fashion-mnist"
mean = 0.2860
std = 0.3530

[optimizer]
kind = "sgd"
lr = 0.05
momentum = 0.9
lr_multiplier_for = ["layer3", "layer4"]
lr_multiplier = 0.1

[schedule]
kind = "cosine"
warmup_steps = 20

[training]
epochs = 1
batch_size = 128
frozen = ["conv1", "bn1", "layer1", "layer2"]
seed = 1

[output]
weights = "transfer.safetensors"
report = "transfer.html"
)";

constexpr auto kStarts = std::to_array<Start>({
    {"images", "a convolutional network that tells images apart", kImages},
    {"text", "a language model of the bytes of a text", kText},
    {"diffusion", "a diffusion transformer that learns to draw images", kDiffusion},
    {"transfer", "a residual network that goes on from trained weights", kTransfer},
});

const Start& StartOf(const std::string& kind) {
  const auto found = std::ranges::find(kStarts, kind, &Start::kind);
  if (found != kStarts.end()) return *found;
  const std::string nearest = SuggestName(kind, StartingKinds());
  throw ConfigError({.where = "new",
                     .required = "one of " + JoinWithCommas(StartingKinds()),
                     .given = QuoteToml(kind),
                     .advice = nearest.empty() ? "choose one of them" : nearest});
}

// Documentation by "section.key".
std::map<std::string, std::string> Docs() {
  std::map<std::string, std::string> docs;
  for (const SectionReference& section : SectionReferences()) {
    for (const ReferenceRow& row : section.rows) {
      docs[section.name + "." + row.name] = row.field.doc;
    }
  }
  return docs;
}

constexpr std::size_t kDocColumn = 34;

// Puts documentation behind each key of a section.
std::string WithDocs(std::string_view toml) {
  const std::map<std::string, std::string> docs = Docs();
  std::istringstream lines{std::string(toml)};
  std::string text, line, section;
  while (std::getline(lines, line)) {
    if (line.starts_with('[')) section = line.substr(1, line.find(']') - 1);
    const auto doc = docs.find(section + "." + line.substr(0, line.find(' ')));
    if (doc != docs.end() && !line.ends_with('[')) {
      line.append(line.size() < kDocColumn ? kDocColumn - line.size() : 1, ' ');
      line += "# " + doc->second;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::vector<std::string> StartingKinds() {
  std::vector<std::string> kinds;
  kinds.reserve(kStarts.size());
  for (const Start& start : kStarts) kinds.emplace_back(start.kind);
  return kinds;
}

std::string DocOfStart(const std::string& kind) { return std::string(StartOf(kind).doc); }

std::string StartingFile(const std::string& kind) {
  const Start& start = StartOf(kind);
  return "# A start: " + std::string(start.doc) +
         ".\n# `frugal plan` says what it takes, `frugal train` trains it, `frugal explain NAME` "
         "tells of a key.\n\n" +
         WithDocs(start.toml);
}

}  // namespace frugal
