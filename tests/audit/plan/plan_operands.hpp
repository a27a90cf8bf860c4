// What the operands of a plan's operations stand for.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "audit/plan/plan_epochs.hpp"
#include "audit/plan/plan_machine.hpp"

namespace audit_test {

class PlanOperands : protected PlanMachine {
 public:
  using PlanMachine::PlanMachine;

 protected:
  // Which sources, and destinations, are packets: from this one on.
  static std::size_t first_packet_read(const Json& op) {
    const std::string name = op.at("name");
    if (name == "upkt" || name == "rppkt" || name == "gstorepkt") return 0;
    if (name == "ppkt") return op.value("channel_type", "") == "port" ? 0 : 1000;
    return name.starts_with("re") && is_packets(name) ? 1 : 1000;
  }
  static std::size_t first_packet_written(const Json& op) {
    const std::string name = op.at("name");
    if (name == "upkt" || name == "repkt" || !is_packets(name)) return 1000;
    return name.starts_with("re") ? 1 : 0;
  }
  // Threads look at packets until their flags are right; a port's engine does not.
  static bool waits_for_packets(const Json& op) {
    return op.at("name") != "ppkt" && first_packet_read(op) < 1000;
  }

  [[nodiscard]] const Json& block(int r, int b) const {
    return gpu(r).at("threadblocks").at(static_cast<std::size_t>(b));
  }

  // Where the pieces of an operand lie: of one rank, or of all that a switch reaches.
  struct Span {
    int rank = 0;
    char type = 'i';
    int first = 0, count = 0;
    bool own_half = false;  // of doubled scratch: the one that is in turn
    bool away = false;
  };

  std::vector<Span> spans(int r, int b, const Json& op, const Json& slice) {
    int count = slice.at("size").get<int>() * pieces_;
    int first = slice.at("index").get<int>() * pieces_;
    if (op.contains("tbg_info")) {
      const int parts = op.at("tbg_info").at("tbg_size"), part = op.at("tbg_info").at("tb_id");
      count /= parts;
      first += part * count;
    }
    const bool port = op.value("channel_type", "") == "port";
    if (slice.contains("switch_channel_id")) {
      const int id = listed(r, b, "switch").at(slice.at("switch_channel_id").get<std::size_t>());
      int at = 0;
      for (const Json& list : gpu(r).at("channels")) {
        if (list.at("channel_type") != "switch") continue;
        for (const Json& group : list.at("rank_groups")) {
          if (at++ != id) continue;
          std::vector<Span> all;
          const char type = list.at("buffer_type").get<std::string>().at(0);
          for (const int rank : group.at("ranks")) {
            if (rank < 0 || rank >= n()) throw std::out_of_range("rank");
            all.push_back({rank, type, first, count, false, rank != r});
          }
          return all;
        }
      }
      throw std::out_of_range("switch channel");
    }
    if (!slice.contains("buffer_id")) {
      return {{r, slice.at("type").get<std::string>().at(0), first, count, !port, false}};
    }
    std::vector<int> list;
    for (const Json& refs : block(r, b).at("remote_buffer_refs")) {
      if (refs.at("access_channel_type") != op.at("channel_type")) continue;
      list = refs.at("remote_buffer_ids").get<std::vector<int>>();
    }
    const auto& remote =
        gpu(r)
            .at("remote_buffers")
            .at(static_cast<std::size_t>(list.at(slice.at("buffer_id").get<std::size_t>())));
    const int rank = remote.at("rank");
    if (rank < 0 || rank >= n()) throw std::out_of_range("rank");
    return {{rank, remote.at("type").get<std::string>().at(0), first, count, false, true}};
  }

  [[nodiscard]] std::vector<int> listed(int r, int b, const std::string& kind) const {
    std::vector<int> ids;
    for (const Json& list : block(r, b).at("channels")) {
      if (list.at("channel_type") != kind) continue;
      for (const int id : list.at("channel_ids")) ids.push_back(id);
    }
    return ids;
  }
};

}  // namespace audit_test
