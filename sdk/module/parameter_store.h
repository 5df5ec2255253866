#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sdk/backend/backend.h"
#include "sdk/memory/ledger.h"
#include "sdk/module/parameter.h"
#include "sdk/module/parameter_paging.h"
#include "sdk/module/parameter_shards.h"

namespace frugal {

// A kernel is to put a parameter's gradient there; `accumulate` says that something is there
// already.
struct GradientTarget {
  Tensor tensor;
  bool accumulate = false;
};

// Fills a freshly allocated value; false where it has nothing for this parameter, which then gets
// its own initializer.
using ValueSource = std::function<bool(const Parameter&, const Tensor&)>;

// Brings the value of a parameter from the replica that holds it to all, which call this together.
using GatherFunction =
    std::function<void(const Parameter&, const Tensor& value, std::int64_t holder)>;

// The values, gradients and optimizer state of a model's parameters, each taken from memory when
// it is first asked for. Threads: one uses a store at a time; any number may read values, and
// packed copies, that are there. Goes by Parameter::index: parameters that were never named, and
// two of one number, are refused with a UsageError.
class ParameterStore {
 public:
  static constexpr std::size_t kStateCount = 3;
  static constexpr std::size_t kAverage = 2;  // the state that is the value's moving average

  struct Options {
    DType dtype = DType::kF32;
    std::uint64_t seed = 0;
    bool dry = false;            // allocate, but fill nothing
    bool start_at_zero = false;  // all but buffers are zero instead of initialized
    // Memory of the step, for gradients and values that are used up within it.
    Allocator* step_memory = nullptr;
    bool step_gradients = false;  // all gradients are, else those that another replica holds
    const ParameterShards* shards = nullptr;  // null where this store holds everything
    ParameterPaging paging{};
  };
  ParameterStore(Allocator& memory, MemoryLedger& ledger, Options options)
      : memory_(memory), ledger_(ledger), options_(options) {}

  // Returns the value; it is materialized on the first call (lazy initialization is nothing more
  // than that). If replicas share the values and a GatherFunction is set, the one that holds it
  // sends it, into memory of the step that lives as long as the result. A paged one is read into
  // such memory too.
  Tensor Value(const Parameter& parameter);
  // Returns where a new value goes, whatever the old one was: a paged one is not read.
  Tensor ValueToReplace(const Parameter& parameter);
  // Whoever changed what Value or State returned says so; it is paged out, if it is paged.
  void KeepValue(const Parameter& parameter, const Tensor& value);
  void KeepState(const Parameter& parameter, std::size_t which, const Tensor& state);
  // Makes the value where this store is to hold it.
  void Materialize(const Parameter& parameter);
  bool HoldsValue(const Parameter& parameter) const {
    return options_.shards == nullptr || options_.shards->HoldsValue(parameter);
  }
  void set_gather(GatherFunction gather) { gather_ = std::move(gather); }
  bool IsMaterialized(const Parameter& parameter) const;

  // The gradient's place for one contribution in this step. Allocated once and kept.
  GradientTarget GradientFor(const Parameter& parameter);
  // The place for a contribution to a table that other layers use too, as a matrix. While tables
  // are summed apart, what these and what rows contribute are two sums until JoinTables: so stages
  // that each have one of them come to the same bits.
  GradientTarget TableGradientFor(const Parameter& parameter);
  void set_tables_apart(bool apart) { tables_apart_ = apart; }
  // The gradient of this step; empty where none arrived since ClearGradients.
  Tensor Gradient(const Parameter& parameter) const;
  void ClearGradients();
  // Sums of gradients in groups: ends a group, behind which gradients begin anew, and lists the
  // gradients that are to be added to those of the groups before, in place.
  struct GroupSum {
    Tensor earlier, gradient;
  };
  std::vector<GroupSum> EndGradientGroup();
  // Lists what rows contributed to tables and is to be added to the other sum; of one parameter, or
  // of all.
  std::vector<GroupSum> JoinTables();
  std::vector<GroupSum> JoinTable(const Parameter& parameter);
  // Makes the sums over the groups the gradients; to be called behind the last group.
  void JoinGradientGroups();
  // Gives the memory of a gradient, or of all, back; they are empty then.
  void FreeGradient(const Parameter& parameter);
  void FreeGradients();

  // The bf16 copy of a product's weight, in the backend's layout; made when first asked for, by
  // kernels that then run. Whoever changes the value calls Repack.
  Tensor Packed(const Parameter& parameter, WeightLayout layout, Backend& backend);
  // Makes the copy anew, where there is one.
  void Repack(const Parameter& parameter, Backend& backend);
  bool HasPacked(const Parameter& parameter) const;
  // Returns what a product reads: the value, and its packed copy where activations are bf16.
  LinearWeight WeightOf(const Parameter& parameter, WeightLayout layout, DType activations,
                        Backend& backend);

  // How often each parameter got a contribution since ClearGradients, by Parameter::index.
  std::vector<std::int64_t> Contributions() const;
  // Counts what came since Contributions() gave `before` so many times.
  void RepeatContributions(std::span<const std::int64_t> before, std::int64_t times);
  // Parameters that have got as many contributions as `expected` says since this was last asked.
  std::vector<std::size_t> TakeFinal(std::span<const std::int64_t> expected);

  // Optimizer state number `which`, all bytes zero when first asked for; of the parameter's shape
  // and the store's type, or of those given.
  Tensor State(const Parameter& parameter, std::size_t which, Backend& backend);
  Tensor State(const Parameter& parameter, std::size_t which, DType dtype, const Shape& shape,
               Backend& backend);
  bool HasState(const Parameter& parameter, std::size_t which) const;
  void DropState(const Parameter& parameter, std::size_t which);
  // Returns an empty tensor where there is none yet, or it is paged.
  Tensor ResidentState(const Parameter& parameter, std::size_t which) const;
  // Return nothing where it stays in memory, or is not there yet.
  std::optional<PagedTensor> PagedValue(const Parameter& parameter) const;
  std::optional<PagedTensor> PagedState(const Parameter& parameter, std::size_t which) const;
  TensorPager* pager() const { return options_.paging.pager; }
  // All that are in the page file, largest first.
  std::vector<Holder> PagedTensors() const;
  // The value and its moving average change places, where there is one; packed copies follow.
  void SwapEma(const Parameter& parameter, Backend& backend);

  // Takes copies of another store's value and moving average, where that has any, of its parameter
  // of the same number, which is of the same shape and type.
  void CopyFrom(ParameterStore& other, const Parameter& parameter);

  // Whoever changes a value or a state that is there says so before; `before_change` is told.
  void BeforeChange(const Parameter& parameter) const {
    if (before_change_) before_change_(parameter);
  }
  void set_before_change(std::function<void(const Parameter&)> before_change) {
    before_change_ = std::move(before_change);
  }
  // An update by an optimizer is a change that is counted.
  void BeforeUpdate(const Parameter& parameter) {
    BeforeChange(parameter);
    ++updates_;
  }
  std::int64_t updates() const { return updates_; }

  void SetSource(ValueSource source) { source_ = std::move(source); }
  DType dtype() const { return options_.dtype; }

 private:
  // Holds what few slots have.
  struct Extras {
    Tensor earlier;  // the sum of the groups before
    Tensor rows;     // the gradient's sum of what rows contributed
    Tensor packed;   // of the value, in bf16
    WeightLayout packed_layout = WeightLayout::kOutIn;
    Tensor average;                            // state number kAverage
    std::unique_ptr<PagedTensor> paged_value;  // null where it is not in the page file
    std::array<std::unique_ptr<PagedTensor>, kStateCount> paged_state;
  };
  struct Identity {
    std::string path;
    Shape shape;
  };
  // A dry store of a deep network makes tens of thousands, several times over.
  struct Slot {
    const Parameter* owner = nullptr;  // whose it was first, by its address
    // Tells whose it is where the owner may be gone; null in a dry store, which lives no longer
    // than a network.
    std::unique_ptr<Identity> identity;
    LabelTable::Id label = 0;
    bool gradient_arrived = false;
    bool earlier_arrived = false;
    bool rows_arrived = false;
    std::int64_t contributions = 0;
    Tensor value;
    Tensor gradient;
    std::array<Tensor, kAverage> state;
    std::unique_ptr<Extras> extras;  // null where it has none

    Extras& MakeExtras();
    Tensor& StateAt(std::size_t which);
    // Return null where there is none.
    const Tensor* FindState(std::size_t which) const;
    const PagedTensor* FindPagedValue() const {
      return extras ? extras->paged_value.get() : nullptr;
    }
    const PagedTensor* FindPagedState(std::size_t which) const {
      return extras ? extras->paged_state[which].get() : nullptr;
    }
    void FreeGradients();
  };
  Slot& SlotOf(const Parameter& parameter);
  const Slot* FindSlot(const Parameter& parameter) const;
  Tensor Take(Allocator& memory, const Parameter& parameter, MemoryTag tag);
  bool PagesValue(const Parameter& parameter) const {
    if (!options_.paging.values) return false;
    const std::int64_t bytes = parameter.shape.ElementCount() * SizeOf(options_.dtype);
    return options_.paging.PagesValue(parameter, bytes);
  }
  Tensor BringValue(const Parameter& parameter);
  Tensor BringState(const Parameter& parameter, std::size_t which);
  Tensor TakeForPaging(const Parameter& parameter, const PagedTensor& paged, MemoryTag tag);
  void PageOut(std::unique_ptr<PagedTensor>& paged, const Tensor& tensor);
  Tensor OwnValue(const Parameter& parameter);  // which this store holds
  // A value that replicas share, brought here.
  Tensor Gathered(const Parameter& parameter, std::int64_t holder);
  Tensor TakeGradient(const Parameter& parameter);
  GradientTarget Contribute(const Parameter& parameter, Tensor& sum, bool& arrived);
  static void Join(Slot& slot, std::vector<GroupSum>& sums);
  Tensor PackedCopy(const Parameter& parameter, const Tensor& value, WeightLayout layout,
                    Backend& backend);
  Tensor CopyOf(const Tensor& tensor, const Parameter& parameter, MemoryTag tag);
  void CopyInto(const Tensor& tensor, const Tensor& copy) const;
  void FillValue(const Parameter& parameter, const Tensor& value);

  Allocator& memory_;
  MemoryLedger& ledger_;
  Options options_;
  ValueSource source_;
  GatherFunction gather_;
  std::function<void(const Parameter&)> before_change_;
  bool tables_apart_ = false;
  std::int64_t updates_ = 0;
  // The slots are numbered by Parameter::index; null where nothing was asked for. A store of few
  // parameters of a large model stays small.
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::size_t> touched_;  // indices that got a contribution since TakeFinal
};

}  // namespace frugal
