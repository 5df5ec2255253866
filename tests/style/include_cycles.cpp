#include "tests/style/include_cycles.h"

#include <algorithm>
#include <array>

namespace frugal::style {
namespace {

struct Pair {
  std::string_view first, second;
};

// There are three of these at most.
constexpr auto kOneThought = std::to_array<Pair>({
    // A context records what it runs on its tape, and the tape's backward pass runs in a context.
    {"sdk/autograd/context", "sdk/autograd/tape"},
    // A solver fills tables, and a unit of a table is a run of stages with a solver of its own.
    {"sdk/plan/chain_solver", "sdk/plan/chain_table"},
});
static_assert(kOneThought.size() <= 3);

bool IsOneThought(const std::vector<std::string>& units) {
  return units.size() == 2 && std::ranges::any_of(kOneThought, [&](const Pair& pair) {
           return units[0] == pair.first && units[1] == pair.second;
         });
}

// Strongly connected components (Tarjan, "Depth-first search and linear graph algorithms", 1972).
class Components {
 public:
  explicit Components(const UnitIncludes& includes) : includes_(includes) {}

  std::vector<std::vector<std::string>> Find() {
    for (const auto& [unit, included] : includes_) {
      if (!visits_.contains(unit)) Visit(unit);
    }
    return std::move(found_);
  }

 private:
  struct Visited {
    std::size_t number;
    std::size_t lowest;  // of the units on the stack that are reached from here
    bool on_stack = true;
  };

  void Visit(const std::string& unit) {
    const std::size_t number = visits_.size();
    visits_[unit] = {number, number};
    stack_.push_back(unit);
    if (const auto includes = includes_.find(unit); includes != includes_.end()) {
      for (const std::string& next : includes->second) {
        if (!visits_.contains(next)) Visit(next);
        const Visited& other = visits_[next];
        if (other.on_stack) visits_[unit].lowest = std::min(visits_[unit].lowest, other.lowest);
      }
    }
    if (visits_[unit].lowest == number) TakeFromStack(unit);
  }

  void TakeFromStack(const std::string& root) {
    const auto begin = std::ranges::find(stack_, root);
    std::vector<std::string> units(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    for (const std::string& unit : units) visits_[unit].on_stack = false;
    if (units.size() == 1) return;
    std::ranges::sort(units);
    found_.push_back(std::move(units));
  }

  const UnitIncludes& includes_;
  std::map<std::string, Visited> visits_;
  std::vector<std::string> stack_;
  std::vector<std::vector<std::string>> found_;
};

}  // namespace

std::string UnitOf(std::string_view path) { return std::string(path.substr(0, path.rfind('.'))); }

std::vector<std::vector<std::string>> IncludeCycles(const UnitIncludes& includes) {
  std::vector<std::vector<std::string>> cycles = Components(includes).Find();
  std::erase_if(cycles, IsOneThought);
  return cycles;
}

}  // namespace frugal::style
