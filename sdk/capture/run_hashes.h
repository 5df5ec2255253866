#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdk/capture/call_selection.h"
#include "sdk/io/file_hash.h"

namespace frugal {

// One call of a run: 16 bytes for each of its tensors.
struct HashedCall {
  std::string kernel;
  CallPlace place;
  std::vector<ContentHash> attributes;
  std::vector<ContentHash> before;  // of buffers that are read
  std::vector<ContentHash> after;   // of buffers that are written
};

// Says where two runs part.
struct RunDifference {
  enum class Kind : std::uint8_t {
    kOutput,     // inputs agree, what comes of them does not
    kAttribute,  // it is told another number: a rate, a factor, a key
    kInput,      // an input differs that no call before made differ: data, or first weights
    kCall,       // another operation, or one elsewhere
    kEnd,        // one run has more operations
  };
  Kind kind = Kind::kOutput;
  std::int64_t number = 0;  // of the call, from 0
  std::string kernel;       // of the second run, like what follows
  CallPlace place;
  std::string tensor{};       // all but kCall and kEnd; its name, or the attribute's
  std::string first, second;  // hashes, or "linear_forward in 0"
};

// Takes down what a run computes as hashes, and nothing else of it.
class HashRecorder final : public CallSink {
 public:
  explicit HashRecorder(CallSelection selection) : selection_(std::move(selection)) {}

  bool Wants(const Call& call, const CallPlace& place) override;
  void Before(Call& call, const CallPlace& place) override;
  void After(Call& call, const CallPlace& place) override;
  const std::vector<HashedCall>& calls() const { return calls_; }
  std::int64_t tensors() const;

 private:
  CallSelection selection_;
  std::vector<HashedCall> calls_;
};

// Holds a run against one that was taken down, call by call, until they part.
class HashComparer final : public CallSink {
 public:
  HashComparer(const std::vector<HashedCall>& first, CallSelection selection)
      : first_(first), selection_(std::move(selection)) {}

  bool Wants(const Call& call, const CallPlace& place) override;
  void Before(Call& call, const CallPlace& place) override;
  void After(Call& call, const CallPlace& place) override;
  // To be called behind the last step, where the first run may have more calls.
  void End();

  const std::optional<RunDifference>& difference() const { return difference_; }
  const bool* done() const { return &done_; }
  std::int64_t compared() const { return next_; }  // calls that agree

 private:
  void Part(RunDifference::Kind kind, const CallPlace& place, const std::string& tensor,
            std::string first, std::string second);

  const std::vector<HashedCall>& first_;
  CallSelection selection_;
  std::optional<RunDifference> difference_;
  bool done_ = false;
  std::int64_t next_ = 0;
  std::string kernel_;
};

}  // namespace frugal
