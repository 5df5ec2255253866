#include "sdk/memory/dry_memory.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <mutex>
#include <string>

#include "sdk/memory/ledger.h"

namespace frugal {
namespace {

thread_local DryMemoryGuard* newest = nullptr;
std::mutex installing;
// The second is what an access by the stack's registers ends in.
constexpr std::array<int, 2> kSignals = {SIGSEGV, SIGBUS};
std::array<struct sigaction, 2> handlers_before;

// The kernel does not tell an address that the processor does not have.
bool IsOfNoAddress(const siginfo_t& info) {
  return info.si_code == SI_KERNEL && info.si_addr == nullptr;
}

// The fault is that of a plain load or store, so nothing here interrupts the library.
[[noreturn]] void TellAndExit(const MemoryLedger& guarded) {
  const std::string& label = guarded.labels().NameOf(guarded.label());
  const std::string text =
      "error: [" + (label.empty() ? std::string("the network") : label) +
      "] while a layer is planned its tensors have no memory, and it reads or writes one outside "
      "of Context::Launch; do so in the kernel that Launch is given\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(1);
}

void OnFault(int signal, siginfo_t* info, void*) {
  if (newest != nullptr && IsOfNoAddress(*info)) TellAndExit(newest->ledger());
  // The access is made once more and meets the handler that was there before.
  ::sigaction(signal, &handlers_before[signal == kSignals[0] ? 0 : 1], nullptr);
}

void InstallHandler() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::scoped_lock lock(installing);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now = {};
    ::sigaction(kSignals[i], nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == OnFault) continue;
    handlers_before[i] = now;
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    ::sigaction(kSignals[i], &action, nullptr);
  }
#endif
}

}  // namespace

DryMemoryGuard::DryMemoryGuard(const MemoryLedger& ledger) : ledger_(ledger), before_(newest) {
  if (newest == nullptr) InstallHandler();  // others may have set theirs since
  newest = this;
}

DryMemoryGuard::~DryMemoryGuard() {
  DryMemoryGuard** place = &newest;
  while (*place != this) place = &(*place)->before_;
  *place = before_;
}

}  // namespace frugal
