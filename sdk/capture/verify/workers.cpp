#include "sdk/capture/verify/workers.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>
#include <thread>

#include "sdk/backend/backend.h"
#include "sdk/core/error.h"

namespace frugal {
namespace {

using Clock = std::chrono::steady_clock;

void WriteAllTo(int end, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::send(end, text.data(), text.size(), MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) ::_exit(1);  // nobody reads any more
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

// Runs in the process that was made; never returns.
[[noreturn]] void BeWorker(int end, std::span<const WorkItem> items, const WorkerOptions& options,
                           const MakeWork& make) {
  // Its copies do not do what this program does about signals.
  for (const int fatal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM}) {
    ::signal(fatal, SIG_DFL);
  }
  // A thread of its own asks for its own team: those of before the fork are not here.
  std::thread([&] {
    SetThreadCount(options.threads);
    const Work work = make();
    for (const WorkItem& item : items) {
      WriteAllTo(end, "begin\n");
      WriteAllTo(end, work(item.number) + "\n");
    }
  }).join();
  ::_exit(0);
}

std::string SignalText(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
  }
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

// One process and the socket that its lines come through.
class Worker {
 public:
  Worker(std::span<const WorkItem> items, const WorkerOptions& options, const MakeWork& make) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) Refuse();
    std::fflush(nullptr);  // else both would write what waits
    child_ = ::fork();
    if (child_ < 0) Refuse();
    if (child_ == 0) {
      ::close(ends[0]);
      BeWorker(ends[1], items, options, make);
    }
    ::close(ends[1]);
    end_ = ends[0];
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    Kill();
    ::close(end_);
  }

  // Returns the next line; nothing at the end of lines, or where none comes in time (`late`).
  bool NextLine(double timeout_seconds, std::string& line, bool& late) {
    const auto until = Clock::now() + std::chrono::duration<double>(timeout_seconds);
    while (true) {
      const std::size_t at = text_.find('\n');
      if (at != std::string::npos) {
        line = text_.substr(0, at);
        text_.erase(0, at + 1);
        return true;
      }
      const std::chrono::duration<double, std::milli> left = until - Clock::now();
      pollfd waits{end_, POLLIN, 0};
      const int ready =
          left.count() > 0 ? ::poll(&waits, 1, static_cast<int>(left.count()) + 1) : 0;
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) {
        late = true;
        return false;
      }
      char buffer[1 << 14];
      const ssize_t got = ::read(end_, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      text_.append(buffer, static_cast<std::size_t>(got));
    }
  }
  void Kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    Wait();
  }
  int Wait() {
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
    return status;
  }

 private:
  [[noreturn]] static void Refuse() {
    throw UsageError({.where = "worker",
                      .required = "another process can be made",
                      .given = std::strerror(errno),
                      .advice = "end some processes, or raise ulimit -u"});
  }

  pid_t child_ = 0;
  int end_ = -1;
  std::string text_;
};

// Lets one process do items; returns how many are done, the one that ended it among them.
std::size_t RunBatch(std::span<const WorkItem> items, const WorkerOptions& options,
                     const MakeWork& make, const TakeOutcome& take) {
  Worker worker(items, options, make);
  std::size_t done = 0;
  std::string line;
  bool late = false;
  while (done < items.size()) {
    const bool came = worker.NextLine(options.timeout_seconds, line, late);
    if (came && line == "begin") continue;
    WorkOutcome outcome{WorkOutcome::Kind::kLine, line};
    if (late) {
      outcome = {WorkOutcome::Kind::kTookLong,
                 std::to_string(static_cast<std::int64_t>(options.timeout_seconds)) + " s"};
      worker.Kill();
    } else if (!came) {
      outcome = {WorkOutcome::Kind::kCrashed, SignalText(worker.Wait())};
    }
    take(items[done++].number, outcome);
    if (!came) return done;
  }
  worker.Wait();
  return done;
}

}  // namespace

std::vector<std::vector<WorkItem>> BatchesOf(const std::vector<WorkItem>& items,
                                             std::int64_t batch_bytes) {
  std::vector<std::vector<WorkItem>> batches;
  std::int64_t bytes = 0;
  for (const WorkItem& item : items) {
    if (batches.empty() || bytes + item.bytes > batch_bytes) {
      batches.emplace_back();
      bytes = 0;
    }
    batches.back().push_back(item);
    bytes += item.bytes;
  }
  return batches;
}

void RunInWorkers(const std::vector<WorkItem>& items, const WorkerOptions& options,
                  const MakeWork& make, const TakeOutcome& take) {
  for (const std::vector<WorkItem>& batch : BatchesOf(items, options.batch_bytes)) {
    std::span<const WorkItem> rest(batch);
    while (!rest.empty()) rest = rest.subspan(RunBatch(rest, options, make, take));
  }
}

}  // namespace frugal
