// Interface: python/mscclpp/_core/algorithm.py, ext/algorithm_collection_builder.py and
// csrc/algorithm.cpp of microsoft/mscclpp. The shim (src/ext/nccl/nccl.cc) counts an allgather's
// message by what one rank sends, and other collectives' by the whole buffer.
#include "common/synthesis/output/plan_module.hpp"

#include <fmt/format.h>

namespace forestcoll::cli {
namespace {

constexpr const char* kHead =
    R"("""Registers the plans of this directory with MSCCL++: {target}.

Before torch.distributed.init_process_group(backend="nccl"), with libmscclpp_nccl.so preloaded:

    import forestcoll_plans
    forestcoll_plans.register()

Calls that no plan is for go on to the library that MSCCLPP_NCCL_LIB_PATH names. Written for the
public interface of MSCCL++ and tried against a stand-in of it; not run on GPUs.
"""
import os

)";

constexpr const char* kBody = R"(

def _interface():
    import mscclpp

    try:
        from mscclpp.ext import AlgorithmCollectionBuilder
    except ImportError:  # before MSCCL++ had the package ext
        from mscclpp import AlgorithmCollectionBuilder
    return mscclpp.Algorithm, mscclpp.ExecutionPlan, AlgorithmCollectionBuilder


def _whole_bytes(request):
    """The size of the whole buffer; an allgather's request has that of one rank's part."""
    parts = WORLD_SIZE if request.collective == "allgather" else 1
    return request.message_size * parts


def _is_in_place(request):
    source, target = request.input_buffer, request.output_buffer
    part = _whole_bytes(request) // WORLD_SIZE
    if request.collective == "allgather":
        target += request.rank * part
    if request.collective == "reducescatter":
        source += request.rank * part
    return source == target


def select(algorithms, request):
    """The plan for a call, or None, which leaves it to others."""
    if request.world_size != WORLD_SIZE:
        return None
    size = _whole_bytes(request)
    for plan in PLANS:
        fits = (
            plan["collective"] == request.collective
            and plan["min_bytes"] <= size <= plan["max_bytes"]
            and size % plan["unit_bytes"] == 0
            and plan["in_place"] == _is_in_place(request)
        )
        if fits:
            return algorithms[plan["collective"]][plan["name"]]
    return None


def register(rank=None):
    """Loads the plans for this rank (RANK where none is given) and has them selected by size."""
    rank = int(os.environ["RANK"]) if rank is None else rank
    algorithm, execution_plan, collection_builder = _interface()
    here = os.path.dirname(os.path.abspath(__file__))
    builder = collection_builder()
    for plan in PLANS:
        builder.add_algorithm_builder(
            algorithm(
                id=plan["name"],
                execution_plan=execution_plan(os.path.join(here, plan["file"]), rank),
                tags={"forestcoll": 1},
                constraint=algorithm.Constraint(WORLD_SIZE, RANKS_PER_BOX),
            )
        )
    builder.set_algorithm_selector(select)
)";

// A text of Python: names of topologies may hold anything.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace

std::string plan_module(const std::vector<RegisteredPlan>& plans, std::int64_t ranks,
                        std::int64_t ranks_per_box, const std::string& target) {
  std::string text = fmt::format(fmt::runtime(kHead), fmt::arg("target", target));
  text += fmt::format("WORLD_SIZE = {}\nRANKS_PER_BOX = {}  # 0: any\nPLANS = [\n", ranks,
                      ranks_per_box);
  for (const RegisteredPlan& plan : plans) {
    text += fmt::format(
        "    {{\n        \"name\": {},\n        \"file\": {},\n        \"collective\": {},\n"
        "        \"min_bytes\": {},\n        \"max_bytes\": {},\n        \"unit_bytes\": {},\n"
        "        \"in_place\": {},\n    }},\n",
        quoted(plan.name), quoted(plan.file), quoted(plan.collective), plan.min_bytes,
        plan.max_bytes, plan.unit_bytes, plan.in_place ? "True" : "False");
  }
  return text + "]\n" + kBody;
}

}  // namespace forestcoll::cli
