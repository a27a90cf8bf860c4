// Messages: a task goes out with the item's number as its tag's payload in front; an answer comes
// back the same way. Both are short, so that plain blocking sends do; what waits is asked for with
// probes, between looks at the children.
#include "batch/workers/mpi.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace forestcoll::cli::batch {
namespace {

enum Tag : int { task_tag = 1, answer_tag = 2, stop_tag = 3, home_tag = 4 };

constexpr int kPollMs = 5;

/// What stands in front of a task, and of an answer.
struct Header {
  std::uint64_t item = 0, footprint = 0, peak_bytes = 0;
  double seconds = 0;
  std::uint64_t abandoned = 0;
};

void send(int rank, Tag tag, const Header& header, const std::string& body) {
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes += body;
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

struct Message {
  int rank = 0, tag = 0;
  Header header;
  std::string body;
};

// Nothing where no message waits.
std::optional<Message> receive() {
  int waits = 0;
  MPI_Status status = {};
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &waits, &status);
  if (waits == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  Message message{status.MPI_SOURCE, status.MPI_TAG, {}, {}};
  std::memcpy(&message.header, bytes.data(), std::min(bytes.size(), sizeof message.header));
  if (bytes.size() > sizeof message.header) message.body = bytes.substr(sizeof message.header);
  return message;
}

class Everywhere : public Runner {
 public:
  Everywhere(const RunnerLimits& limits, const sigset_t& mask, int ranks)
      : here_(run_in_children(limits, mask)),
        others_(static_cast<std::size_t>(ranks - 1), Load(limits)) {}
  Everywhere(const Everywhere&) = delete;
  Everywhere& operator=(const Everywhere&) = delete;
  ~Everywhere() override {
    for (std::size_t i = 0; i < others_.size(); ++i) send(rank_of(i), home_tag, {}, {});
  }

  [[nodiscard]] bool has_room(std::uint64_t footprint) const override {
    return here_->has_room(footprint) || find_room(footprint) < others_.size();
  }

  // The others first: this process hands out the work as well.
  void start(std::size_t item, const Task& task, std::uint64_t footprint) override {
    const std::size_t other = find_room(footprint);
    if (other == others_.size()) {
      here_->start(item, task, footprint);
      return;
    }
    others_[other].add(footprint);
    away_[item] = {other, footprint};
    send(rank_of(other), task_tag, {.item = item, .footprint = footprint}, encode(task));
  }

  [[nodiscard]] std::vector<Finished> poll() override {
    std::vector<Finished> all = here_->poll();
    while (auto message = receive()) {
      const auto where = away_.extract(static_cast<std::size_t>(message->header.item));
      if (where.empty()) continue;
      others_[where.mapped().first].remove(where.mapped().second);
      Finished finished;
      finished.item = where.key();
      finished.seconds = message->header.seconds;
      finished.peak_bytes = message->header.peak_bytes;
      finished.abandoned = message->header.abandoned != 0;
      auto answer = decode_answer(message->body);
      if (answer) {
        finished.answer = *std::move(answer);
      } else {
        finished.answer.error =
            item_error(Code::J04, "the answer of another process cannot be read");
      }
      all.push_back(std::move(finished));
    }
    return all;
  }

  [[nodiscard]] std::size_t running() const override { return here_->running() + away_.size(); }

  void stop() override {
    here_->stop();
    if (std::exchange(stopped_, true)) return;
    for (std::size_t i = 0; i < others_.size(); ++i) send(rank_of(i), stop_tag, {}, {});
  }

  [[nodiscard]] int interval_ms() const override { return kPollMs; }

 private:
  static int rank_of(std::size_t other) { return static_cast<int>(other) + 1; }

  // The least busy one with room; their number where there is none.
  [[nodiscard]] std::size_t find_room(std::uint64_t footprint) const {
    std::size_t best = others_.size();
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (!others_[i].has_room(footprint)) continue;
      if (best == others_.size() || others_[i].running() < others_[best].running()) best = i;
    }
    return best;
  }

  std::unique_ptr<Runner> here_;
  std::vector<Load> others_;
  std::map<std::size_t, std::pair<std::size_t, std::uint64_t>> away_;  // item: who, footprint
  bool stopped_ = false;
};

}  // namespace

Mpi::Mpi() {
  MPI_Init(nullptr, nullptr);
}

Mpi::~Mpi() {
  MPI_Finalize();
}

bool Mpi::is_built_in() {
  return true;
}

int Mpi::rank() const {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int Mpi::processes_here() const {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  int processes = 1;
  MPI_Comm_size(here, &processes);
  MPI_Comm_free(&here);
  return processes;
}

std::unique_ptr<Runner> Mpi::run_on_all(const RunnerLimits& limits, const sigset_t& mask) const {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return std::make_unique<Everywhere>(limits, mask, ranks);
}

void Mpi::serve(const RunnerLimits& limits, SignalGate& gate) const {
  const auto runner = run_in_children(limits, gate.mask_before());
  while (true) {
    while (auto message = receive()) {
      if (message->tag == home_tag) return;
      if (message->tag == stop_tag) runner->stop();
      if (message->tag != task_tag) continue;
      if (const auto task = decode_task(message->body)) {
        runner->start(static_cast<std::size_t>(message->header.item), *task,
                      message->header.footprint);
      } else {
        Answer answer;
        answer.error = item_error(Code::J04, "the task cannot be read");
        send(0, answer_tag, {.item = message->header.item}, encode(answer));
      }
    }
    for (const Finished& finished : runner->poll()) {
      send(0, answer_tag,
           {.item = finished.item,
            .footprint = 0,
            .peak_bytes = finished.peak_bytes,
            .seconds = finished.seconds,
            .abandoned = finished.abandoned ? 1U : 0U},
           encode(finished.answer));
    }
    gate.wait(std::chrono::milliseconds(kPollMs));
    if (gate.stop_signal() != 0) runner->stop();
  }
}

}  // namespace forestcoll::cli::batch
