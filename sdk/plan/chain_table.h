#pragma once

#include <map>
#include <vector>

#include "sdk/plan/chain.h"
#include "sdk/plan/chain_steps.h"

namespace frugal {

class ChainSolver;

// Describes what a table counts as one: a stage, or a run of stages [begin, end) merged into one,
// whose inside is solved by itself.
struct ChainUnit {
  std::size_t begin = 0;
  std::size_t end = 0;
  ChainStage stage;
  ChainSolver* inside = nullptr;  // null for a single stage
};

// When the gradient of a carried value comes, the value is free, unless it is still there as the
// input of the stage behind its maker: where the maker is kept, or ends a segment. A table cannot
// tell for both when they come and go, and counts too little for some, or too much.
enum class SkipGradients : std::uint8_t {
  // Only where it is there from the start, since the value is taken behind the run: too little
  // where the maker is kept.
  kInPlace,
  // Always there from the start: too much.
  kBeside,
  // In the backward passes between, as it is; what a segment hands on to a stage behind the next
  // one is left out instead: too little where that is made in a segment.
  kBetween,
};

// Says which schedules a table is of, by the part of a run that a carried value's maker is in where
// the run is first cut between maker and taker.
enum class SkipMaker : std::uint8_t {
  kAny,
  kHeld,    // it is kept, or ends a segment: then kBetween counts what there is
  kInside,  // it is inside a segment: then kInPlace does
};

// Holds a carried value, and how a table counts its gradient.
struct CountedSkip {
  SkipConnection skip;
  SkipGradients gradients = SkipGradients::kInPlace;
  SkipMaker maker = SkipMaker::kAny;
};

// The fastest schedules of a chain for every memory limit up to one, by dynamic programming
// (Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, "Optimal checkpointing for heterogeneous
// chains: how to train deep neural networks with limited memory", arXiv:1911.13214, section 4):
// cost(s, t, m) of training stages s .. t within m bytes is the least of
// - keeping all that backward needs of s (their forward step "all"): f + b + cost(s + 1, t, m -
//   kept), where f of s = t is its ending_seconds;
// - for each s' in s + 1 .. t, running s .. s' - 1 with only the input kept ("ck" and "none"), and
//   again later: sum of f + cost(s', t, m - output of s' - 1) + cost(s, s' - 1, m).
// An output of s that is rematerialized comes and goes for what reads it: the first stage or
// segment of s + 1 .. t has so much less beside it, the others have not. How it is rematerialized
// is a part of what cost(s + 1, t, m) is of (see RematState); behind a segment it is kept. What the
// stages of a run carry past its end counts as its output, and its gradient as SkipGradients says.
// The paper has a row of slots of memory for each run; this has the steps in which its time falls,
// which are exact, and few. Rows of more steps than Precision says are thinned (see StepRounding).
// A schedule fits in what a row says where nothing is carried; else Simulate tells what it takes.
class ChainTable {
 public:
  // Says how exact a table is: its rows, as many as there are kinds of runs, have about as many
  // steps at most as this together, and each no more than that.
  struct Precision {
    std::size_t most_steps = 0;
    std::size_t most_of_row = 0;
    StepRounding rounding = StepRounding::kUp;
  };

  // Carried values count units; what waits is that of Chain.
  ChainTable(std::vector<ChainUnit> units, const std::vector<CountedSkip>& carried,
             std::int64_t limit_bytes, Precision precision, std::int64_t waiting_bytes = 0);

  ChainTable(const ChainTable&) = delete;  // runs share rows of its own
  ChainTable(ChainTable&&) = default;
  ChainTable& operator=(const ChainTable&) = delete;
  ChainTable& operator=(ChainTable&&) = default;
  ~ChainTable() = default;

  // Returns the least seconds by bytes, up to the limit.
  const ChainSteps& steps() const {
    return units_.empty() ? rows_.front() : At({0, units_.size() - 1});
  }
  // The schedule that takes the seconds of these steps within so many bytes. Only where there are
  // such.
  CheckpointSegments Schedule(std::int64_t bytes) const;
  // Counts the steps of all rows, which say how much memory they take, and how much time took.
  std::size_t step_count() const;
  std::size_t row_count() const { return rows_.size(); }

 private:
  // Holds units first .. last, and how their input is held: where it is rematerialized, the unit
  // before was kept, and its output counts.
  struct Run {
    std::size_t first = 0;
    std::size_t last = 0;
    RematState input = 0;
  };
  // Bytes of the input that count in a forward pass, and where it is made again for a segment.
  std::int64_t InputBytes(const Run& run) const {
    return run.input > 0 ? inputs_[run.first].at(run.input).rematerialized : 0;
  }
  std::int64_t InputBytesAgain(const Run& run) const {
    return run.input > 0 ? inputs_[run.first].at(run.input).row : 0;
  }
  TapedBytes FirstOf(const Run& run) const {
    return TapedBytesOf(units_[run.first].stage, run.input);
  }
  // Holds bytes of an output that is rematerialized, and of its row.
  struct Input {
    std::int64_t rematerialized = 0;
    std::int64_t row = 0;
  };
  // Finds in which states the input of each unit can be, and what is there of it.
  void FindInputs();

  // Holds what keeping the first unit of a run takes.
  struct Needs {
    std::int64_t kept = 0;   // less than none where it frees more of its input than it keeps
    std::int64_t least = 0;  // for the forward and the backward pass of the unit itself
  };
  Needs KeepNeeds(const Run& run) const;
  // Numbers runs of units so that those of equal needs and times have one number: their rows are
  // the same. Of a network of equal blocks, they are few.
  struct EqualRuns {
    std::vector<std::size_t> numbers;  // of units s .. t at s * count + t
    std::size_t count = 0;
  };
  EqualRuns FindEqualRuns() const;
  // Gives each run the number of its row; returns the first run of each, those inside it before it.
  std::vector<Run> NumberRows();
  // Finds what runs carry, and how it counts.
  void CountSkips(const std::vector<CountedSkip>& carried);
  // Returns true where schedules that cut units s .. t before `next` are not among those that this
  // is of.
  bool IsLeftOut(std::size_t s, std::size_t next, std::size_t t) const;
  // Returns what units s .. t carry past t beside its output: values, and gradients once they are
  // taken. Those whose gradients count between are left out.
  std::int64_t Beside(std::size_t s, std::size_t t) const { return beside_[s * units_.size() + t]; }
  // Returns that of it whose gradients count in place.
  std::int64_t InPlace(std::size_t s, std::size_t t) const {
    return in_place_[s * units_.size() + t];
  }
  // Bytes of the gradients of what a unit carries that count beside it, in a run that ends at
  // `last`: at least of what it carries past the run, which is there from the start.
  std::int64_t GradientsBeside(std::size_t unit, std::size_t last) const;
  // Returns what a segment of units s .. last keeps. What it carries past the run around it counts
  // once, although it is rematerialized beside its gradient.
  std::int64_t SegmentNeeds(std::size_t s, std::size_t last) const {
    return units_[last].stage.output_bytes + Beside(s, last) + made_[last];
  }
  // The output of t and what s .. t carry past it: their gradients are what is given to such a run.
  std::int64_t Given(std::size_t s, std::size_t t) const {
    return units_[t].stage.output_bytes + Beside(s, t) + between_[t];
  }
  // The output of t and the values that a forward pass of s .. t has to hand on.
  std::int64_t HandedOn(std::size_t s, std::size_t t) const {
    return units_[t].stage.output_bytes + values_[s * units_.size() + t];
  }

  // A run of units passed without a tape: grows to the right.
  struct Passed {
    double seconds = 0;
    std::int64_t bytes = 0;
  };
  // Returns what waits for the last unit in a forward pass of other ones before it.
  std::int64_t Waiting(const Run& run) const {
    return run.last + 1 == units_.size() && run.first < run.last ? waiting_bytes_ : 0;
  }
  // Adds a unit, with so many bytes of its input that count.
  void Extend(Passed& passed, std::size_t unit, std::int64_t input) const;

  // Return the rest of a run whose first unit is kept.
  Run BehindKept(const Run& run) const {
    return {run.first + 1, run.last, OutputState(FirstOf(run))};
  }

  const ChainSteps& At(const Run& run) const {
    return rows_[row_of_[run.input][run.first * units_.size() + run.last]];
  }

  // Holds a way to train a run: its first units kept or a segment, then the others.
  struct Way {
    enum class Kind : std::uint8_t { kKept, kSegment, kInside, kAsOneSegment };
    Kind kind = Kind::kKept;
    std::size_t next = 0;  // behind what comes first
    double seconds = 0;
    std::int64_t least_bytes = 0;
    ChainPart rest{};
    ChainPart again{};  // of a segment
  };
  // Calls `body` with each way, the one that keeps the first unit first.
  template <class Body>
  void ForEachWay(const Run& run, const Body& body) const;
  // Calls it with the ways whose first segment ends before the run does.
  template <class Body>
  void ForEachSegment(const Run& run, const Body& body) const;
  static double SecondsOf(const Way& way, std::int64_t bytes);
  // A run may be one segment although it would be kept else: sums in a row begin anew in it.
  bool MayBeOneSegment(const Run& run) const {
    return run.input > 0 && !units_[run.first].stage.by_input_state.empty();
  }
  Passed PassedAsOne(const Run& run) const;
  void Extract(Run run, std::int64_t bytes, CheckpointSegments& into) const;

  std::vector<ChainUnit> units_;
  std::int64_t limit_bytes_;
  std::int64_t waiting_bytes_;
  std::vector<std::int64_t> values_;    // that units s .. t carry past t, at s * count + t
  std::vector<std::int64_t> beside_;    // those of them that count beside the output of a run
  std::vector<std::int64_t> in_place_;  // those of these that are kInPlace
  std::vector<std::int64_t> made_;      // by a unit; kBeside
  std::vector<std::int64_t> between_;   // gradients in the backward pass of a unit; kBetween
  std::vector<CountedSkip> by_maker_;   // those of a SkipMaker
  std::vector<std::map<RematState, Input>> inputs_;  // of each unit
  std::vector<ChainSteps> rows_;                     // one for equal runs
  // Say which row is that of a run: by RematState, then of units s .. t at s * count + t.
  std::vector<std::vector<std::size_t>> row_of_;
};

}  // namespace frugal
