// char_gpt.toml in C++: the same model, bit for bit. Takes --set section.key=value ...
#include "builders/frugal.h"
#include "samples/030_char_gpt/write_sample.h"
#include "samples/arguments.h"

using namespace frugal;

int main(int count, char** arguments) {
  return RunProgram([&] {
    AiModelBuilder builder;
    builder.Name("char-gpt")
        .Architecture(Gpt2Config{
            .vocab_size = 256, .n_positions = 128, .n_embd = 256, .n_layer = 4, .n_head = 4})
        .Memory(TrainingMemoryConfig::SpeedOptimized())
        .Data({.text_file = "build/char_gpt/bible.txt",
               .sequence_length = 128,
               .test_fraction = 0.05})
        .Optimizer({.kind = OptimizerKind::kAdamW, .lr = 0.003, .beta2 = 0.95, .weight_decay = 0.1})
        .Schedule({.kind = ScheduleKind::kCosine, .warmup_steps = 100, .final_fraction = 0.1})
        .Training({.epochs = 2,
                   .batch_size = 32,
                   .evaluation_batch_size = 64,
                   .max_steps = 1400,
                   .seed = 1,
                   .clip_gradient_norm = 1.0})
        .Override(ReadArguments(count, arguments, "").overrides);
    WriteSample(RunTraining(builder.Plan()).model, "build/char_gpt/generated_twin.txt");
  });
}
