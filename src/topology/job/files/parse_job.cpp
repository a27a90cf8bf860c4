// Reading the format forestcoll-job, and telling others apart.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/spelling.hpp"
#include "forestcoll/text.hpp"
#include "topology/format/json_value.hpp"
#include "topology/job/files/workload.hpp"
#include "topology/job/groups.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

using topology::JsonValue;
using topology::Place;
using Kind = JsonValue::Kind;

constexpr std::string_view kFormat = "forestcoll-job";
constexpr std::int64_t kMostRepeats = 1'000'000'000;

// Reads one document; the first error ends it.
class JobReader {
 public:
  JobReader(std::string_view file, std::size_t ranks, const Mesh* mesh, MeshFit fit)
      : file_(file), ranks_(ranks), mesh_(mesh), fit_(fit) {}

  Expected<Job> read(const JsonValue& document) {
    const Place root;
    if (!is(document, Kind::object, root, "an object")) return *error_;
    const JsonValue* format = get(document, root, "format", Kind::string, "\"forestcoll-job\"");
    if (format != nullptr && format->text != kFormat) {
      wrong(Place(root, "format"), "\"forestcoll-job\"", *format);
    }
    known(document, root, {"format", "version", "mesh", "mesh_order", "steps"});
    const JsonValue* version = get(document, root, "version", Kind::number, "1");
    if (version != nullptr && version->text != "1") wrong(Place(root, "version"), "1", *version);
    if (!error_) read_mesh(document, root);
    Job job;
    const JsonValue* steps = get(document, root, "steps", Kind::array, "a list of steps");
    const Place place(root, "steps");
    if (steps != nullptr && steps->items.empty()) wrong(place, "at least one step", *steps);
    for (std::size_t i = 0; !error_ && i < steps->items.size(); ++i) {
      job.steps.push_back(read_step(steps->items[i], Place(place, i), i));
    }
    if (error_) return *error_;
    if (mesh_ != nullptr) job.mesh = *mesh_;
    return job;
  }

 private:
  void fail(Diagnostics errors) {
    if (!error_) error_ = std::move(errors);
  }

  ErrorPlace at(const Place& place) const { return {std::string(file_), place.pointer()}; }

  void wrong(const Place& place, std::string_view expected, const JsonValue& found) {
    fail({make_error(Code::O01,
                     fmt::format("expected {}, found {}", expected, topology::describe(found)),
                     "docs/jobs.md has the format, with examples", at(place))});
  }

  bool is(const JsonValue& value, Kind kind, const Place& place, std::string_view expected) {
    if (value.kind != kind) wrong(place, expected, value);
    return value.kind == kind;
  }

  // Keys that begin with "x-" are anybody's.
  void known(const JsonValue& object, const Place& place,
             std::initializer_list<std::string_view> names) {
    for (const std::string& key : object.keys) {
      if (key.starts_with("x-") || std::ranges::count(names, key) > 0) continue;
      fail({make_error(Code::O01, fmt::format("unknown key {}", topology::quote(key)),
                       "leave it out, or begin its name with x-", at(Place(place, key)))});
    }
  }

  // A required value; null where there was an error.
  const JsonValue* get(const JsonValue& object, const Place& place, std::string_view key, Kind kind,
                       std::string_view expected) {
    const JsonValue* value = object.find(key);
    if (value == nullptr) {
      fail({make_error(Code::O01,
                       fmt::format("the key \"{}\" is missing: expected {}", key, expected),
                       "docs/jobs.md has the format, with examples", at(place))});
      return nullptr;
    }
    if (!is(*value, kind, Place(place, key), expected)) return nullptr;
    return value;
  }

  void read_mesh(const JsonValue& document, const Place& root) {
    const JsonValue* text = document.find("mesh");
    const JsonValue* order = document.find("mesh_order");
    auto named = std::optional(MeshOrder::megatron);
    if (order != nullptr) {
      named = parse_mesh_order(order->text);
      if (!named) wrong(Place(root, "mesh_order"), "\"megatron\" or \"device-mesh\"", *order);
      if (text == nullptr) wrong(Place(root, "mesh_order"), "a mesh beside its order", *order);
    }
    if (text == nullptr || error_) return;
    const Place place(root, "mesh");
    if (!is(*text, Kind::string, place, "a text such as \"tp=8,dp=4\"")) return;
    if (mesh_ != nullptr) {
      return fail({make_error(Code::S04, "the job has a mesh of its own",
                              "leave `mesh` out, or the mesh of the file", at(place))});
    }
    auto mesh = parse_mesh(text->text, *named, ranks_, at(place), fit_);
    if (!mesh) return fail(mesh.errors());
    own_mesh_ = *std::move(mesh);
    ranks_ = own_mesh_.points();
    mesh_ = &own_mesh_;
  }

  JobStep read_step(const JsonValue& value, const Place& place, std::size_t number) {
    JobStep step{fmt::format("step {}", number), 1, {}};
    if (!is(value, Kind::object, place, "a step, which is an object")) return step;
    known(value, place, {"name", "repeat", "operations"});
    read_name(value, place, step.name);
    if (const JsonValue* repeat = value.find("repeat")) {
      const auto times = whole_number(*repeat);
      if (!times || *times == 0 || *times > kMostRepeats) {
        wrong(Place(place, "repeat"), "a number of repetitions from 1 to 1000000000", *repeat);
      } else {
        step.repeat = *times;
      }
    }
    const JsonValue* list = get(value, place, "operations", Kind::array, "a list of operations");
    const Place below(place, "operations");
    if (list != nullptr && list->items.empty()) wrong(below, "at least one operation", *list);
    for (std::size_t i = 0; !error_ && i < list->items.size(); ++i) {
      step.operations.push_back(read_operation(list->items[i], Place(below, i)));
    }
    if (!error_) check_bytes(step, below);
    return step;
  }

  // Times are told of all operations of a step, or of none.
  void check_bytes(const JobStep& step, const Place& place) {
    const auto has_bytes = [](const JobOperation& operation) {
      return operation.bytes || operation.demand;
    };
    const auto with = std::ranges::count_if(step.operations, has_bytes);
    if (with == 0 || with == std::ssize(step.operations)) return;
    fail({make_error(Code::O07, "some operations of the step have bytes, and some have none",
                     "give the bytes of all of them, or of none: then all have as much",
                     at(place))});
  }

  void read_name(const JsonValue& value, const Place& place, std::string& name) {
    const JsonValue* given = value.find("name");
    if (given != nullptr && is(*given, Kind::string, Place(place, "name"), "a name")) {
      name = given->text;
    }
  }

  static std::optional<std::int64_t> whole_number(const JsonValue& value) {
    if (value.kind != Kind::number) return std::nullopt;
    return parse_whole(value.text);
  }

  JobOperation read_operation(const JsonValue& value, const Place& place) {
    JobOperation operation;
    if (!is(value, Kind::object, place, "an operation, which is an object")) return operation;
    known(value, place, {"name", "collective", "groups", "bytes", "root", "demand", "weight"});
    read_collective(value, place, operation);
    read_name(value, place, operation.name);
    read_groups(value, place, operation);
    read_amounts(value, place, operation);
    if (error_) return operation;
    if (auto good = check_operation(operation, ranks_, at(place)); !good) fail(good.errors());
    return operation;
  }

  void read_collective(const JsonValue& value, const Place& place, JobOperation& operation) {
    const JsonValue* name = get(value, place, "collective", Kind::string, "a collective");
    if (name == nullptr) return;
    operation.name = name->text;
    if (const auto collective = parse_spelling(name->text)) {
      operation.collective = *collective;
      return;
    }
    fail({topology::unknown_collective(name->text, at(Place(place, "collective")))});
  }

  void read_groups(const JsonValue& value, const Place& place, JobOperation& operation) {
    const JsonValue* written = value.find("groups");
    auto groups = written == nullptr ? parse_groups("all", ranks_, mesh_)
                                     : topology::groups_of_json(*written, ranks_, mesh_,
                                                                at(Place(place, "groups")));
    if (!groups) return fail(groups.errors());
    operation.groups = *std::move(groups);
  }

  void read_amounts(const JsonValue& value, const Place& place, JobOperation& operation) {
    if (const JsonValue* bytes = value.find("bytes")) {
      operation.bytes =
          bytes->kind == Kind::string ? parse_size(bytes->text) : whole_number(*bytes);
      if (!operation.bytes) wrong(Place(place, "bytes"), "bytes such as 65536 or \"64K\"", *bytes);
    }
    if (const JsonValue* root = value.find("root")) {
      const auto rank = whole_number(*root);
      if (!rank) wrong(Place(place, "root"), "the root's rank within the group", *root);
      if (rank) operation.root = static_cast<std::size_t>(*rank);
    }
    if (const JsonValue* weight = value.find("weight")) {
      const auto number = whole_number(*weight);
      if (!number) wrong(Place(place, "weight"), "a whole number from 1 to 1000", *weight);
      operation.weight = number.value_or(1);
    }
    if (const JsonValue* demand = value.find("demand")) read_demand(*demand, place, operation);
  }

  void read_demand(const JsonValue& value, const Place& parent, JobOperation& operation) {
    const Place place(parent, "demand");
    if (!is(value, Kind::array, place, "an array of rows of bytes")) return;
    std::vector<std::int64_t> amounts;
    Int128 total = 0;
    for (std::size_t r = 0; r < value.items.size(); ++r) {
      const JsonValue& row = value.items[r];
      const Place in_row(place, r);
      if (!is(row, Kind::array, in_row, "a row of bytes")) return;
      if (row.items.size() != value.items.size()) {
        return wrong(in_row, fmt::format("{} amounts, as there are rows", value.items.size()), row);
      }
      for (std::size_t c = 0; c < row.items.size(); ++c) {
        const auto amount = whole_number(row.items[c]);
        if (!amount) return wrong(Place(in_row, c), "a whole number of bytes", row.items[c]);
        amounts.push_back(*amount);
        total += *amount;
      }
    }
    if (total > kMaxDemand) {
      return fail({make_error(Code::A06, "the demand has 2^40 bytes or more in all",
                              "count in larger units than bytes", at(place))});
    }
    operation.demand = Demand::matrix(value.items.size(), std::move(amounts));
  }

  std::string_view file_;
  std::size_t ranks_;
  const Mesh* mesh_;
  MeshFit fit_;
  Mesh own_mesh_;
  std::optional<Diagnostics> error_;
};

// Of whichever format.
Expected<Job> read_job(std::string_view text, std::string_view file, std::size_t ranks,
                       const Mesh* mesh, MeshFit fit) {
  if (topology::is_simai_workload(text)) {
    return topology::read_simai_workload(text, file, ranks, fit);
  }
  if (mesh != nullptr) ranks = mesh->points();
  topology::Findings findings(file);
  const auto document = topology::parse_json(text, findings);
  if (!document || findings.has_errors()) {
    Diagnostics errors = findings.all();
    for (Diagnostic& error : errors) {
      if (error.code == Code::E01) error.code = Code::O01;
    }
    return errors;
  }
  if (topology::is_optccl_workload(*document)) {
    return topology::read_optccl_workload(*document, file, ranks);
  }
  if (topology::is_kineto_trace(*document)) {
    return topology::read_kineto_trace(*document, file, ranks);
  }
  return JobReader(file, ranks, mesh, fit).read(*document);
}

}  // namespace

Expected<Job> parse_job(std::string_view text, std::string_view file, std::size_t ranks,
                        const Mesh* mesh, MeshFit fit) {
  auto job = read_job(text, file, ranks, mesh, fit);
  if (!job || mesh == nullptr) return job;
  if (topology::is_simai_workload(text)) {
    return make_error(Code::S04, "the job has a mesh of its own", "leave `mesh` out",
                      {std::string(file), "line 1"});
  }
  job->mesh = *mesh;
  return job;
}

}  // namespace forestcoll
