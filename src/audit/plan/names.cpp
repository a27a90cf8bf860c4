#include <array>
#include <utility>

#include "audit/plan/kinds.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::string_view kRelaxedSignal = "rlxsignal", kRelaxedWait = "rlxwait";

constexpr std::array<std::pair<std::string_view, PlanKind>, 28> kNames = {
    {{"nop", PlanKind::nop},
     {"barrier", PlanKind::barrier},
     {"put", PlanKind::put},
     {"pws", PlanKind::put_signal},
     {"pwsf", PlanKind::put_signal_flush},
     {"get", PlanKind::get},
     {"copy", PlanKind::copy},
     {"signal", PlanKind::signal},
     {"wait", PlanKind::wait},
     {"flush", PlanKind::flush},
     {"re", PlanKind::reduce},
     {"res", PlanKind::reduce_send},
     {"rre", PlanKind::read_reduce},
     {"rres", PlanKind::read_reduce_send},
     {"ppkt", PlanKind::put_packets},
     {"rppkt", PlanKind::read_put_packets},
     {"cpkt", PlanKind::copy_packets},
     {"upkt", PlanKind::unpack_packets},
     {"repkt", PlanKind::reduce_packets},
     {"recpkt", PlanKind::reduce_copy_packets},
     {"respkt", PlanKind::reduce_send_packets},
     {"recspkt", PlanKind::reduce_copy_send_packets},
     {"glres", PlanKind::switch_reduce_store},
     {"gstore", PlanKind::switch_store},
     {"gstorepkt", PlanKind::switch_store_packets},
     {"sem_acquire", PlanKind::acquire},
     {"sem_release", PlanKind::release},
     {"pipeline", PlanKind::pipeline}}};

}  // namespace

PlanKind plan_kind_of(std::string_view name) {
  for (const auto& [known, kind] : kNames) {
    if (known == name) return kind;
  }
  if (name == kRelaxedSignal) return PlanKind::signal;
  return name == kRelaxedWait ? PlanKind::wait : PlanKind::other;
}

bool is_relaxed(std::string_view name) {
  return name == kRelaxedSignal || name == kRelaxedWait;
}

ChannelKind channel_kind_of(std::string_view name) {
  if (name == "memory") return ChannelKind::memory;
  if (name == "port") return ChannelKind::port;
  if (name == "switch") return ChannelKind::switched;
  return name == "none" ? ChannelKind::none : ChannelKind::other;
}

std::optional<Buffer> buffer_of(std::string_view name) {
  if (name == "i") return Buffer::input;
  if (name == "o") return Buffer::output;
  if (name == "s") return Buffer::scratch;
  return std::nullopt;
}

std::string_view to_string(PlanKind kind) {
  for (const auto& [name, known] : kNames) {
    if (known == kind) return name;
  }
  return "other";
}

std::string_view to_string(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::none:
      return "none";
    case ChannelKind::memory:
      return "memory";
    case ChannelKind::port:
      return "port";
    case ChannelKind::switched:
      return "switch";
    case ChannelKind::other:
      break;
  }
  return "unknown";
}

}  // namespace forestcoll::audit
