#pragma once

#include <vector>

#include "sdk/autograd/context.h"
#include "sdk/tensor/tensor_pager.h"

namespace frugal {

// Loops of at most so many turns are recorded, and run dry, turn by turn. Longer ones take as long
// to plan as three turns.
inline constexpr std::int64_t kShortLoop = 4;

// While it lives, one turn stands for `times` of them: in a recording, and, dry, in what is
// counted.
class ManyTurns {
 public:
  ManyTurns(Context& context, std::int64_t times);
  ManyTurns(const ManyTurns&) = delete;
  ManyTurns& operator=(const ManyTurns&) = delete;
  ~ManyTurns();

  // Returns true where the other turns are left out.
  static bool IsDry(const Context& context) { return context.parts_.dry; }

 private:
  Context& context_;
  std::int64_t times_;
  RepeatedTurn turn_;
  std::vector<std::int64_t> contributions_;  // of parameters, before the turn
  double flops_;
  double recomputed_flops_;
  std::int64_t launches_;
  PagingTraffic paged_;
};

// Pauses recording while it lives; what is taken meanwhile is given back before its end.
class PausedRecording {
 public:
  explicit PausedRecording(Context& context) : ledger_(context.ledger()), trace_(ledger_.Pause()) {}
  PausedRecording(const PausedRecording&) = delete;
  PausedRecording& operator=(const PausedRecording&) = delete;
  ~PausedRecording() { ledger_.Resume(trace_); }

 private:
  MemoryLedger& ledger_;
  MemoryTrace* trace_;
};

// Runs `turn(i)` for i in [0, count). All turns between the first and the last must take and give
// back the same memory in the same order, and leave nothing behind. So many turns take no more time
// and memory to plan than a few do: a long loop is recorded as its first turn, its second, which
// stands for all up to the last, and its last; dry, only these run.
template <class Turn>
void Repeat(Context& context, std::int64_t count, const Turn& turn) {
  if (count <= kShortLoop) {
    for (std::int64_t i = 0; i < count; ++i) turn(i);
    return;
  }
  turn(0);
  {
    const ManyTurns many(context, count - 2);
    turn(1);
  }
  for (std::int64_t i = 2; i < count - 1 && !ManyTurns::IsDry(context); ++i) {
    const PausedRecording paused(context);
    turn(i);
  }
  turn(count - 1);
}

}  // namespace frugal
