#include "sdk/backend/onednn/primitive/primitive_operation.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <utility>

#include "sdk/backend/onednn/primitive/library_error.h"
#include "sdk/memory/allocator.h"

namespace frugal::onednn {
namespace {

using Memory = dnnl::memory;

std::int64_t RoundedBytes(const Memory::desc& desc) {
  return RoundUpToAlignment(static_cast<std::int64_t>(desc.get_size()));
}

dnnl::primitive_attr CopyAttributes(bool accumulate) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
  return attributes;
}

// A tensor that passes through scratch on its way into or out of the primitive.
struct Passage {
  dnnl::reorder::primitive_desc descriptor;
  dnnl::reorder primitive;
  Memory from, to, scratchpad;
  std::int64_t offset = 0;  // of the inner tensor in scratch
  bool output = false;
};

class PrimitiveOperation final : public Operation {
 public:
  explicit PrimitiveOperation(Recipe recipe) : recipe_(std::move(recipe)) { LayOut(); }

  std::int64_t ScratchBytes() const override { return scratch_bytes_; }
  void Run(std::initializer_list<Argument> arguments, void* scratch) override;

 private:
  void LayOut();
  void Prepare();
  void PrepareOrTell();
  void Bind(std::initializer_list<Argument> arguments, char* scratch);
  void Pass(Passage& passage);

  Recipe recipe_;
  std::int64_t scratch_bytes_ = 0;
  std::vector<std::optional<Passage>> passages_;  // one per binding
  // Made at the first run, so that planning compiles nothing.
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<Memory> inner_;  // one per binding, then the scratchpad
  std::vector<dnnl_exec_arg_t> exec_arguments_;
};

void PrimitiveOperation::LayOut() {
  passages_.resize(recipe_.bindings.size());
  // All primitives of the operation take turns on one scratchpad, which comes first.
  std::int64_t scratchpad = RoundedBytes(recipe_.descriptor.scratchpad_desc());
  std::int64_t packed = 0;
  for (std::size_t i = 0; i < passages_.size(); ++i) {
    const Binding& binding = recipe_.bindings[i];
    if (binding.outside == binding.inside && !binding.accumulate) continue;
    Passage& passage = passages_[i].emplace();
    const auto attributes = CopyAttributes(binding.accumulate);
    const auto& [from, to] = binding.output ? std::pair(binding.inside, binding.outside)
                                            : std::pair(binding.outside, binding.inside);
    passage.descriptor =
        dnnl::reorder::primitive_desc(recipe_.engine, from, recipe_.engine, to, attributes);
    passage.output = binding.output;
    passage.offset = packed;
    packed += RoundedBytes(binding.inside);
    scratchpad = std::max(scratchpad, RoundedBytes(passage.descriptor.scratchpad_desc()));
  }
  for (auto& passage : passages_) {
    if (passage) passage->offset += scratchpad;
  }
  scratch_bytes_ = scratchpad + packed;
}

void PrimitiveOperation::Prepare() {
  stream_ = dnnl::stream(recipe_.engine);
  primitive_ = dnnl::primitive(recipe_.descriptor.get());
  const auto make = [this](const Memory::desc& desc) {
    return Memory(desc, recipe_.engine, DNNL_MEMORY_NONE);
  };
  for (std::size_t i = 0; i < passages_.size(); ++i) {
    const Binding& binding = recipe_.bindings[i];
    inner_.push_back(make(binding.inside));
    exec_arguments_.push_back({binding.argument, inner_.back().get()});
    if (!passages_[i]) continue;
    Passage& passage = *passages_[i];
    passage.primitive = dnnl::reorder(passage.descriptor);
    const Memory outer = make(binding.outside);
    passage.from = binding.output ? inner_.back() : outer;
    passage.to = binding.output ? outer : inner_.back();
    passage.scratchpad = make(passage.descriptor.scratchpad_desc());
  }
  inner_.push_back(make(recipe_.descriptor.scratchpad_desc()));
  exec_arguments_.push_back({DNNL_ARG_SCRATCHPAD, inner_.back().get()});
}

void PrimitiveOperation::Bind(std::initializer_list<Argument> arguments, char* scratch) {
  std::array<void*, kSlotCount> data{};
  for (const Argument& argument : arguments) {
    data[static_cast<std::size_t>(argument.slot)] = argument.data;
  }
  inner_.back().set_data_handle(scratch);
  for (std::size_t i = 0; i < passages_.size(); ++i) {
    void* const given = data[static_cast<std::size_t>(recipe_.bindings[i].slot)];
    assert(given != nullptr);
    if (!passages_[i]) {
      inner_[i].set_data_handle(given);
      continue;
    }
    Passage& passage = *passages_[i];
    inner_[i].set_data_handle(scratch + passage.offset);
    (passage.output ? passage.to : passage.from).set_data_handle(given);
    passage.scratchpad.set_data_handle(scratch);
  }
}

void PrimitiveOperation::Pass(Passage& passage) {
  const std::array<dnnl_exec_arg_t, 3> arguments = {
      {{DNNL_ARG_FROM, passage.from.get()},
       {DNNL_ARG_TO, passage.to.get()},
       {DNNL_ARG_SCRATCHPAD, passage.scratchpad.get()}}};
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(passage.primitive.get(), stream_.get(), 3, arguments.data()),
      "oneDNN could not copy between layouts");
}

// A primitive that oneDNN has described needs nothing more but memory for its code.
void PrimitiveOperation::PrepareOrTell() {
  try {
    Prepare();
  } catch (const dnnl::error&) {
    inner_.clear();  // nothing is prepared
    exec_arguments_.clear();
    ThrowOutOfMemory();
  }
}

void PrimitiveOperation::Run(std::initializer_list<Argument> arguments, void* scratch) {
  if (inner_.empty()) PrepareOrTell();
  Bind(arguments, static_cast<char*>(scratch));
  for (auto& passage : passages_) {
    if (passage && !passage->output) Pass(*passage);
  }
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), stream_.get(),
                             static_cast<int>(exec_arguments_.size()), exec_arguments_.data()),
      "oneDNN could not run a primitive");
  for (auto& passage : passages_) {
    if (passage && passage->output) Pass(*passage);
  }
}

}  // namespace

std::unique_ptr<Operation> MakeOperation(Recipe recipe) {
  return std::make_unique<PrimitiveOperation>(std::move(recipe));
}

}  // namespace frugal::onednn
