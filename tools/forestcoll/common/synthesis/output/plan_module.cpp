// Interface: python/mscclpp/_core/algorithm.py, ext/algorithm_collection_builder.py and
// csrc/algorithm.cpp of microsoft/mscclpp, commit 1f5f065d7b13 of 20 August 2026, and v0.9.0. The
// shim (src/ext/nccl/nccl.cc) counts an allgather's message by what one rank sends, and other
// collectives' by the whole buffer; where a selector has no answer it goes through all plans by a
// rule of its own (algorithm_selector.cc), which looks at no chunks and takes a reduce-scatter in
// place for one out of place. A constraint on no number of ranks keeps that rule off.
#include "common/synthesis/output/plan_module.hpp"

#include <fmt/format.h>

#include <string_view>

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
import ctypes
import os

)";

constexpr const char* kBody = R"(_rank = None  # that `register` was called for


def _interface():
    import mscclpp

    try:
        from mscclpp.ext import AlgorithmCollectionBuilder
    except ImportError:  # before MSCCL++ had the package ext
        from mscclpp import AlgorithmCollectionBuilder
    return mscclpp.Algorithm, mscclpp.ExecutionPlan, AlgorithmCollectionBuilder


def _whole_bytes(request):
    """The size of the whole buffer; an allgather's request has that of one rank's part."""
    parts = request.world_size if request.collective == "allgather" else 1
    return request.message_size * parts


def _is_in_place(request):
    source, target = request.input_buffer, request.output_buffer
    part = _whole_bytes(request) // request.world_size
    if request.collective == "allgather":
        target += request.rank * part
    if request.collective == "reducescatter":
        source += request.rank * part
    return source == target


def _has_type(request):
    """The executor launches nothing for 8-bit floats, and refuses other types."""
    name = str(request.dtype).rsplit(".", 1)[-1]
    return name in ("int32", "uint32", "float16", "bfloat16", "float32")


def _has_root(plan, request):
    return plan["root"] is None or plan["root"] == (request.hints.get("root") or [None])[0]


def _fits_hosts(plan, request):
    """Memory channels join ranks of one box: a host, or several in one domain of NVLink."""
    ranks, of_box = request.n_ranks_per_node, plan["per_box"]
    if of_box == 0:
        return True
    return of_box % ranks == 0 if BOXES_MAY_BE_HOSTS else ranks == of_box


def _driver(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def begin_of_allocation(pointer):
    """Where the allocation begins that the pointer is in; None where no driver says so."""
    base, size = ctypes.c_void_p(), ctypes.c_size_t()
    cuda, hip = _driver("libcuda.so.1"), _driver("libamdhip64.so")
    if cuda is not None:
        failed = cuda.cuMemGetAddressRange_v2(
            ctypes.byref(base), ctypes.byref(size), ctypes.c_void_p(pointer)
        )
    elif hip is not None:
        failed = hip.hipMemGetAddressRange(
            ctypes.byref(base), ctypes.byref(size), ctypes.c_void_p(pointer)
        )
    else:
        return None
    return None if failed else base.value


def _begins_allocations(request):
    """Port channels send from where an allocation begins, whatever the buffer's place in it."""
    part = _whole_bytes(request) // request.world_size if _is_in_place(request) else 0
    source, target = request.input_buffer, request.output_buffer
    if request.collective == "allgather":
        source -= request.rank * part
    if request.collective == "reducescatter":
        target -= request.rank * part
    return all(begin_of_allocation(each) == each for each in (source, target))


def select(algorithms, request):
    """The plan for a call, or None, which leaves it to others.

    The interface does not say which operation a call has, and plans add: see README.txt.
    """
    if not _has_type(request):
        return None
    size = _whole_bytes(request)
    misplaced = None
    for plan in PLANS:
        fits = (
            plan["collective"] == request.collective
            and len(plan["ranks"]) == request.world_size
            and (_rank is None or _rank in plan["ranks"])
            and _fits_hosts(plan, request)
            and plan["min_bytes"] <= size <= plan["max_bytes"]
            and size % plan["unit_bytes"] == 0
            and plan["in_place"] == _is_in_place(request)
            and _has_root(plan, request)
            and (not plan["begins_allocations"] or _begins_allocations(request))
        )
        if not fits:
            continue
        if _rank is not None and request.rank != plan["ranks"].index(_rank):
            misplaced = plan
            continue
        return algorithms[plan["collective"]][plan["name"]]
    if misplaced is not None:
        raise RuntimeError(
            f"forestcoll_plans: registered for rank {misplaced['ranks'].index(_rank)}, and this "
            f"communicator of {request.world_size} ranks has the process as rank {request.rank}: "
            f"keep the order of ranks of README.txt in all groups of that size"
        )
    return None


def algorithms(rank):
    """The plans as algorithms of MSCCL++, for callers that have an executor of their own."""
    algorithm, execution_plan, _ = _interface()
    here = os.path.dirname(os.path.abspath(__file__))
    return [
        algorithm(
            id=plan["name"],
            execution_plan=execution_plan(
                os.path.join(here, plan["file"]), plan["ranks"].index(rank)
            ),
            tags={"forestcoll": 1},
            constraint=algorithm.Constraint(),  # of no rule but `select`
        )
        for plan in PLANS
        if rank in plan["ranks"]
    ]


def register(rank=None):
    """Loads the plans of this rank of the job (RANK where none is given), selected by size."""
    global _rank
    _rank = int(os.environ["RANK"]) if rank is None else rank
    builder = _interface()[2]()
    for each in algorithms(_rank):
        builder.add_algorithm_builder(each)
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

// "range(0, 16, 1)", or a list where they are not evenly apart.
std::string ranks_of(const std::vector<Rank>& ranks) {
  const std::int32_t first = ranks.front().value;
  const std::int32_t step = ranks.size() > 1 ? ranks[1].value - first : 1;
  bool is_even = step > 0;
  std::string list;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    is_even = is_even && ranks[i].value == first + static_cast<std::int32_t>(i) * step;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", ranks[i].value);
  }
  const auto end = first + static_cast<std::int32_t>(ranks.size()) * step;
  return is_even ? fmt::format("range({}, {}, {})", first, end, step) : "[" + list + "]";
}

std::string_view word(bool value) {
  return value ? "True" : "False";
}

}  // namespace

std::string plan_module(const std::vector<RegisteredPlan>& plans, bool boxes_may_be_hosts,
                        const std::string& target) {
  std::string text = fmt::format(fmt::runtime(kHead), fmt::arg("target", target));
  text += fmt::format("BOXES_MAY_BE_HOSTS = {}\n# per_box 0: any\nPLANS = [\n",
                      word(boxes_may_be_hosts));
  for (const RegisteredPlan& plan : plans) {
    text += fmt::format(
        "    {{\n        \"name\": {},\n        \"file\": {},\n        \"collective\": {},\n"
        "        \"ranks\": {},\n        \"per_box\": {},\n"
        "        \"min_bytes\": {},\n        \"max_bytes\": {},\n        \"unit_bytes\": {},\n"
        "        \"in_place\": {},\n        \"root\": {},\n"
        "        \"begins_allocations\": {},\n    }},\n",
        quoted(plan.name), quoted(plan.file), quoted(plan.collective), ranks_of(plan.ranks),
        plan.per_box, plan.min_bytes, plan.max_bytes, plan.unit_bytes, word(plan.in_place),
        plan.root ? std::to_string(plan.root->value) : "None", word(plan.begins_allocations));
  }
  return text + "]\n" + kBody;
}

}  // namespace forestcoll::cli
