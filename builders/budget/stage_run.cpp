#include "builders/budget/stage_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sdk/autograd/checkpoint.h"
#include "sdk/autograd/remat.h"
#include "sdk/memory/recording.h"

namespace frugal {
namespace {

using std::int64_t;

// Returns what the step's memory held after each event of a trace.
std::vector<int64_t> LiveInArena(const MemoryTrace& trace) {
  std::vector<int64_t> live(static_cast<std::size_t>(trace.event_count()), 0);
  for (const Lifetime& life : trace.lifetimes()) {
    if (!life.in_arena) continue;
    live[static_cast<std::size_t>(life.begin)] += life.bytes;
    if (life.end != kStillLive) live[static_cast<std::size_t>(life.end)] -= life.bytes;
  }
  for (std::size_t i = 1; i < live.size(); ++i) live[i] += live[i - 1];
  return live;
}

// Bytes written in events [begin, end): each block once, and read again once.
double Touched(const MemoryTrace& trace, int64_t begin, int64_t end) {
  double bytes = 0;
  for (const Lifetime& life : trace.lifetimes()) {
    if (life.begin < begin || life.begin >= end) continue;
    bytes += 2 * static_cast<double>(life.times) * static_cast<double>(life.bytes);
  }
  return bytes;
}

int64_t Most(const std::vector<int64_t>& live, int64_t begin, int64_t end) {
  int64_t most = 0;
  for (int64_t i = begin; i < end; ++i) most = std::max(most, live[static_cast<std::size_t>(i)]);
  return most;
}

// A pass on a tape of its own that is recorded, and whose work is counted from here on.
struct TapedPass {
  explicit TapedPass(Context& context) : recording(context.ledger(), trace), scope(context, &tape) {
    context.profile() = {};
  }
  MemoryTrace trace;
  RecordingScope recording;
  Tape tape;
  TapeScope scope;
};

// The backward pass begins with event `back`; of what is live, so much counts with the stage
// before.
int64_t BackwardWorkspace(const std::vector<int64_t>& live, int64_t back, int64_t counted_before,
                          const ChainStage& chain) {
  const int64_t most = Most(live, back, std::ssize(live)) - counted_before;
  const int64_t kept = chain.saved_bytes - chain.rematerialized_bytes;
  return std::max<int64_t>(0, most) - kept - chain.output_bytes;
}

}  // namespace

StageRun::StageRun(const TrainingSetup& setup, TupleSegment run, const Stage& stage,
                   std::span<const int64_t> final_after)
    : environment_(*setup.backend, setup.dtype(), {.step_gradients = !final_after.empty()}),
      run_(std::move(run)),
      parameters_(setup.parameters),
      final_after_(final_after) {
  environment_.context().set_training(true);
  for (const StageInput& input : stage.inputs) {
    inputs_.push_back({.value = environment_.context().Allocate(input.shape, input.dtype),
                       .is_skip = input.is_skip});
  }
  first_ = inputs_.front().value.raw();
}

void StageRun::Plain(ChainStage& chain) {
  MemoryTrace trace;
  {
    const RecordingScope recording(environment_.ledger(), trace);
    VarTuple vars = inputs_;
    run_(environment_.context(), vars);
    chain.output_bytes = NewBytes(vars);
  }
  // Less than none where the output is the input, which is counted already.
  chain.plain_workspace = Most(LiveInArena(trace), 0, trace.event_count()) - chain.output_bytes;
}

void StageRun::Ending(Stage& stage, const Row& row) {
  TapedPass pass(environment_.context());
  VarTuple vars = OnTape(pass.tape, stage, row);
  const int64_t begin = pass.trace.event_count();
  {
    const RecomputeScope again(environment_.context());
    run_(environment_.context(), vars);
  }
  const int64_t end = pass.trace.event_count();
  stage.ending = {environment_.context().profile().flops,
                  InputBytes() + Touched(pass.trace, begin, end)};
  SeedNew(environment_.context(), pass.tape, std::move(vars));
  const int64_t back = pass.trace.event_count();
  RunBackward(pass.tape);
  const std::vector<int64_t> live = LiveInArena(pass.trace);
  const FreeableInput input = FreeableInputOf(stage, row);
  stage.chain.ending_workspace = Most(live, 0, end) - input.bytes - stage.chain.saved_bytes;
  stage.chain.ending_backward_workspace =
      BackwardWorkspace(live, back, input.counted_before, stage.chain);
}

std::vector<StageInput> StageRun::Taped(Stage& stage, std::size_t place, const Row& row,
                                        bool is_output_read) {
  Context& context = environment_.context();
  TapedPass pass(context);
  VarTuple vars = OnTape(pass.tape, stage, row);
  const int64_t begin = pass.trace.event_count();
  run_(context, vars);
  const int64_t turn = pass.trace.event_count();
  const FreeableInput input = FreeableInputOf(stage, row);
  stage.hands_on = IsInput(vars.front());
  const int64_t handed_on = stage.hands_on ? input.bytes : 0;
  stage.forward = {context.profile().flops, InputBytes() + Touched(pass.trace, begin, turn)};
  std::vector<StageInput> next = NextInputs(stage, place, vars);
  stage.taken = Taken(stage, place, vars);
  stage.chain.rematerialized_bytes = RematerializedBytes(vars);
  const bool is_made_behind = is_output_read && stage.chain.rematerialized_bytes > 0;
  auto output = is_made_behind ? vars.front().remat : nullptr;
  if (output) output->AddKeeper();
  const bool is_free = SeedNew(context, pass.tape, std::move(vars));
  next.front().is_last_held = !stage.hands_on && is_free;
  const double given = Touched(pass.trace, turn, pass.trace.event_count());
  reads_first_ = false;
  const int64_t unmade = environment_.ledger().live_total();
  stage.chain.row_bytes = output ? MakeRow(*output) : 0;
  if (output) {
    RowBefore& behind = *next.front().row;
    behind.bytes = stage.chain.row_bytes - stage.chain.rematerialized_bytes;
    behind.is_read_by_maker = environment_.ledger().live_total() == unmade + stage.chain.row_bytes;
  }
  output = nullptr;  // what it is made from is free when its own operations have had it
  const int64_t back = pass.trace.event_count();
  const double flops = context.profile().flops;
  RunBackward(pass.tape);
  stage.reads_input = reads_first_;
  const double read = Touched(pass.trace, back, pass.trace.event_count());
  const std::vector<int64_t> live = LiveInArena(pass.trace);
  const int64_t held = turn > 0 ? live[static_cast<std::size_t>(turn) - 1] : 0;
  stage.chain.saved_bytes = held - std::max(handed_on, input.counted_before);
  stage.chain.forward_workspace = Most(live, 0, turn) - input.bytes - stage.chain.saved_bytes;
  stage.chain.backward_workspace = BackwardWorkspace(live, back, input.counted_before, stage.chain);
  stage.backward = {context.profile().flops - flops,
                    given + read + static_cast<double>(stage.chain.saved_bytes)};
  return next;
}

void StageRun::RunBackward(Tape& tape) {
  Context& context = environment_.context();
  context.set_after_backward([this](Context& ctx) {
    for (const std::size_t index : ctx.parameters().TakeFinal(final_after_)) {
      // A device that holds some of the parameters has them in their order too.
      const auto found = std::ranges::lower_bound(parameters_, index, {}, &Parameter::index);
      ctx.parameters().FreeGradient(**found);
    }
  });
  tape.Backward(context);
  context.set_after_backward({});
  context.parameters().FreeGradients();
  context.parameters().ClearGradients();  // the next pass counts its own
  held_.clear();
}

std::vector<StageInput> StageRun::NextInputs(const Stage& stage, std::size_t place,
                                             const VarTuple& vars) const {
  std::vector<StageInput> next;
  for (const Var& one : vars) {
    const auto input = InputOf(one);
    const std::size_t maker = input ? stage.inputs[*input].maker : place;
    const Row row = one.remat ? Row(RowBefore{one.remat->sums()}) : std::nullopt;
    next.push_back({one.shape(), one.dtype(), one.needs_gradient(), one.is_skip, maker, row});
  }
  return next;
}

int64_t StageRun::MakeRow(Remat& output) {
  const int64_t before = environment_.ledger().live_total();
  const Tensor made = output.Get(environment_.context());
  return environment_.ledger().live_total() - before;
}

Tensor StageRun::MadeAgain(Context& context, const StageInput& input, const RowBefore& row) {
  if (row.bytes > 0) held_.push_back(context.Allocate({row.bytes}, DType::kU8));
  const Tensor branch = row.sums > 0 ? context.Allocate(input.shape, input.dtype) : Tensor();
  Tensor made = context.Allocate(input.shape, input.dtype);
  if (row.is_read_by_maker) held_.push_back(made);
  return made;
}

VarTuple StageRun::OnTape(Tape& tape, const Stage& stage, const Row& first) {
  VarTuple vars = inputs_;
  if (FreeableInputOf(stage, first).bytes > 0) {
    vars[0].value = environment_.context().Allocate(vars[0].shape(), vars[0].dtype());
  }
  first_ = vars[0].value.raw();
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const StageInput& input = stage.inputs[i];
    if (input.needs_gradient) vars[i].slot = tape.NewSlot();
    const Row row = i == 0 ? first : input.row;
    if (!row) continue;
    vars[i].remat = std::make_shared<Remat>(
        [this, input, row, i](Context& context) {
          reads_first_ |= i == 0;
          return MadeAgain(context, input, *row);
        },
        row->sums);
  }
  return vars;
}

int64_t StageRun::RematerializedBytes(const VarTuple& vars) const {
  const Var& first = vars.front();
  if (!first.remat || IsInput(first)) return 0;
  const bool is_held = std::ranges::any_of(
      vars, [&](const Var& one) { return one.is_skip && one.value.raw() == first.value.raw(); });
  return is_held ? 0 : first.value.bytes();
}

StageRun::FreeableInput StageRun::FreeableInputOf(const Stage& stage, const Row& row) const {
  const int64_t bytes = inputs_.front().value.bytes();
  if (row) return {bytes, 0};
  return stage.inputs.front().is_last_held ? FreeableInput{bytes, bytes} : FreeableInput();
}

double StageRun::InputBytes() const {
  double bytes = 0;
  for (const Var& one : inputs_) bytes += static_cast<double>(one.value.bytes());
  return bytes;
}

std::optional<std::size_t> StageRun::InputOf(const Var& one) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (one.value.raw() == (i == 0 ? first_ : inputs_[i].value.raw())) return i;
  }
  return std::nullopt;
}

std::vector<SkipConnection> StageRun::Taken(const Stage& stage, std::size_t place,
                                            const VarTuple& vars) const {
  std::vector<SkipConnection> taken;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const std::size_t maker = stage.inputs[i].maker;
    const bool stays =
        std::ranges::any_of(vars, [&](const Var& one) { return one.is_skip && InputOf(one) == i; });
    if (!inputs_[i].is_skip || stays || maker + 2 > place) continue;
    taken.push_back({maker, place, inputs_[i].value.bytes()});
  }
  return taken;
}

int64_t StageRun::NewBytes(const VarTuple& vars) const {
  std::map<const void*, int64_t> made;
  for (const Var& one : vars) {
    if (!IsInput(one) || &one == &vars.front()) made[one.value.raw()] = one.value.bytes();
  }
  int64_t bytes = 0;
  for (const auto& [raw, count] : made) bytes += count;
  return bytes;
}

bool StageRun::SeedNew(Context& context, Tape& tape, VarTuple vars) {
  std::map<int, std::pair<Shape, DType>> seeds;
  for (const Var& one : vars) {
    if (one.needs_gradient() && !IsInput(one)) seeds[one.slot] = {one.shape(), one.dtype()};
  }
  std::vector<std::pair<int, Tensor>> gradients;
  gradients.reserve(seeds.size());
  for (const auto& [slot, kind] : seeds) {
    gradients.emplace_back(slot, context.Allocate(kind.first, kind.second));
  }
  const int64_t before = environment_.ledger().live_total();
  const int64_t bytes = std::exchange(vars.front().value, Tensor()).bytes();
  const bool is_free = environment_.ledger().live_total() == before - bytes;
  vars.clear();
  for (auto& [slot, gradient] : gradients) tape.Accumulate(context, slot, std::move(gradient));
  return is_free;
}

}  // namespace frugal
