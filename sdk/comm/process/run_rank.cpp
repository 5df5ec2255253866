#include "sdk/comm/process/run_rank.h"

#include <string>
#include <utility>

#include "sdk/comm/communication_error.h"
#include "sdk/comm/process/message_links.h"
#include "sdk/comm/process/process_communicator.h"

namespace frugal {

void RunProcessRank(std::unique_ptr<ChunkTransport> transport,
                    const std::function<void(Communicator&, const FailFunction&)>& body) {
  const auto links = std::make_shared<MessageLinks>(std::move(transport));
  const std::string rank = "rank " + std::to_string(links->transport().rank());
  try {
    const std::unique_ptr<Communicator> ranks = MakeProcessCommunicator(links);
    body(*ranks, [&](const std::string& message) { links->transport().Fail(message); });
    links->transport().End();
  } catch (const LostRankError&) {
    throw;  // the others see for themselves what became of that rank
  } catch (Error& error) {
    links->transport().Fail(error.what());
    const std::string& where = error.diagnostic().where;
    if (!where.starts_with(rank)) error.Rename(where.empty() ? rank : rank + ", " + where);
    throw;
  } catch (const std::exception& error) {
    links->transport().Fail(error.what());
    throw;
  }
}

}  // namespace frugal
