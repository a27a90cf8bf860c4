#include "run/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "forestcoll/nearest.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll::run {
namespace {

constexpr const char* kDescription =
    "forestcoll-run executes a schedule on real buffers, one MPI process for each GPU, and checks\n"
    "every element. It prints the table of nccl-tests; its times are those of this machine's\n"
    "processors and MPI, not of GPUs.";

constexpr const char* kFooter =
    "Example:\n"
    "  forestcoll-run allreduce.xml -b 1K -e 1M -f 4 -n 5 -w 1 -d float -o sum\n"
    "Without a launcher it starts mpirun with as many processes as the schedule has GPUs.\n"
    "\n"
    "Exit codes: 0 all right; 1 wrong data, or stuck; 2 usage, or a wrong file; 3 too large; 4 "
    "cannot\n"
    "read. Of several files the largest; a run that is stuck ends all.";

constexpr const char* kDefaultSize = "1M";

/// As written; what they mean is settled afterwards.
struct Words {
  std::string min_bytes, max_bytes, step_bytes = "1M", buffer = "4M";
  std::int64_t factor = 0;
  std::string type = "float", op = "sum";
  int threads = 1, gpus = 1, average = 1;
};

Diagnostic bad_option(std::string message, std::string remedy) {
  return make_error(Code::X02, std::move(message), std::move(remedy));
}

Expected<std::int64_t> bytes_of(const char* option, const std::string& text) {
  const auto bytes = parse_size(text);
  if (bytes && *bytes > 0) return *bytes;
  return bad_option(fmt::format("{}: expected a number of bytes, found \"{}\"", option, text),
                    "write a number, or one with K, M or G such as 64M");
}

Expected<std::vector<std::int64_t>> sizes_of(const Words& words) {
  constexpr std::size_t kMostSizes = 1024;
  const std::string begin = words.min_bytes.empty() ? kDefaultSize : words.min_bytes;
  const auto least = bytes_of("-b", begin);
  if (!least) return least.errors();
  const auto most = bytes_of("-e", words.max_bytes.empty() ? begin : words.max_bytes);
  if (!most) return most.errors();
  const auto step = bytes_of("-i", words.step_bytes);
  if (!step) return step.errors();
  if (*most < *least) {
    return bad_option("-e is less than -b", "give the smallest size with -b, the largest with -e");
  }
  if (words.factor == 1 || words.factor < 0) {
    return bad_option(fmt::format("-f: expected a factor above 1, found {}", words.factor),
                      "-f 2 doubles from size to size");
  }
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = *least; size <= *most;) {
    if (sizes.size() == kMostSizes) {
      return bad_option(fmt::format("more than {} sizes", kMostSizes),
                        "go by larger steps, with -i or -f");
    }
    sizes.push_back(size);
    const std::int64_t limit = words.factor > 1 ? *most / words.factor : *most - *step;
    if (size > limit) break;
    size = words.factor > 1 ? size * words.factor : size + *step;
  }
  return sizes;
}

template <class Enum>
Expected<std::vector<Enum>> names_of(const char* option, const std::string& name,
                                     std::optional<Enum> (*parse)(std::string_view),
                                     std::vector<Enum> (*all)()) {
  if (name == "all") return all();
  if (const auto one = parse(name)) return std::vector<Enum>{*one};
  std::string known;
  for (const Enum value : all()) known += std::string(to_string(value)) + ", ";
  return bad_option(fmt::format("{}: there is no \"{}\" here", option, name),
                    fmt::format("give one of {}all", known));
}

Expected<Options> settle(const Words& words, Options options) {
  if (words.threads != 1 || words.gpus != 1) {
    return bad_option("-t and -g: every GPU is a process of its own",
                      "start as many processes as the schedule has GPUs: mpirun -np");
  }
  if (words.op == "avg" || words.op == "mulsum") {
    return bad_option(fmt::format("-o {}: no runtime runs a schedule for that", words.op),
                      "give one of sum, prod, max, min, all");
  }
  auto sizes = sizes_of(words);
  if (!sizes) return sizes.errors();
  options.sizes = *std::move(sizes);
  options.has_sizes = !words.min_bytes.empty() || !words.max_bytes.empty();
  auto types = names_of("-d", words.type, parse_element_type, all_element_types);
  if (!types) return types.errors();
  options.types = *std::move(types);
  auto ops = names_of("-o", words.op, parse_reduce_op, all_reduce_ops);
  if (!ops) return ops.errors();
  options.ops = *std::move(ops);
  const auto buffer = bytes_of("--buffsize", words.buffer);
  if (!buffer) return buffer.errors();
  if (*buffer < kLeastBufferBytes || *buffer > kMostBufferBytes) {
    return bad_option(
        fmt::format("--buffsize: expected {} to {} bytes", kLeastBufferBytes, kMostBufferBytes),
        "the runtimes' default is 4M");
  }
  options.connections.buffer_bytes = *buffer;
  options.average = static_cast<Average>(words.average);
  return options;
}

// Not shown beside the option's name.
CLI::Validator in_range(int least, int most) {
  return CLI::Range(least, most).description("");
}

// "there is no option --minbyte; did you mean --minbytes?"
std::string unknown_words(const CLI::App& app) {
  const std::string word = app.remaining().front();
  if (!word.starts_with('-')) return fmt::format("\"{}\" is one argument too many", word);
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* each : app.get_options()) {
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  }
  const std::string meant = option.starts_with("--") ? nearest_word(option, names) : "";
  return fmt::format("there is no option {}{}", option,
                     meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

void add_options(CLI::App& app, Words& words, Options& options) {
  app.add_option("SCHEDULE", options.files,
                 "MSCCL XML, an MSCCL++ plan, flows of an all-to-all, or the job.json of several\n"
                 "groups, which run at once; - for standard input. Several are run one after the\n"
                 "other, each with its table, in its own window of sizes")
      ->type_name("")
      ->required();
  app.add_option("-b,--minbytes", words.min_bytes,
                 "Smallest size [1M, or the nearest of the file's window]")
      ->type_name("SIZE");
  app.add_option("-e,--maxbytes", words.max_bytes, "Largest size [that of -b]")->type_name("SIZE");
  app.add_option("-i,--stepbytes", words.step_bytes, "From one size to the next [1M]")
      ->type_name("SIZE");
  app.add_option("-f,--stepfactor", words.factor,
                 "Factor from one size to the next, in place of -i")
      ->type_name("F");
  app.add_option("-d,--datatype", words.type, "As in nccl-tests, or all [float]")
      ->type_name("TYPE");
  app.add_option("-o,--op", words.op, "sum, prod, max, min or all [sum]")->type_name("OP");
  app.add_option("-n,--iters", options.iterations, "Timed calls of a size [20]")
      ->check(in_range(1, 1000000))
      ->type_name("N");
  app.add_option("-w,--warmup_iters", options.warmups, "Calls before that [5]")
      ->check(in_range(0, 1000000))
      ->type_name("N");
  app.add_option("-c,--check", options.checks, "Calls of which every element is checked [1]")
      ->check(in_range(0, 1000000))
      ->type_name("N");
  app.add_option("-r,--root", options.root, "Root of a collective that has one [that of the file]")
      ->type_name("RANK");
  app.add_option("-a,--average", words.average,
                 "Time of: 0 rank 0, 1 the mean of all ranks, 2 the fastest, 3 the slowest [1]")
      ->check(in_range(0, 3))
      ->type_name("HOW");
  app.add_option("-t,--nthreads", words.threads,
                 "As in nccl-tests; only 1, as every GPU is a process of its own [1]")
      ->type_name("N");
  app.add_option("-g,--ngpus", words.gpus, "As -t [1]")->type_name("N");
  app.add_option("--buffsize", words.buffer, "As NCCL_BUFFSIZE: the less, the more passes [4M]")
      ->type_name("SIZE");
  app.add_flag(
      "--whole", options.connections.whole,
      "Hand on whole operations, as `forestcoll simulate` has it, not slices of them as the\n"
      "runtimes do");
  app.add_flag(
      "--hold", options.connections.hold,
      "An operation ends once its message has been taken, as `forestcoll simulate` has it,\n"
      "not once that lies in the connection's buffer");
  app.add_flag("--vs-mpi", options.vs_mpi, "Time MPI's own collective beside it");
  app.add_option("--nap", options.nap,
                 "Microseconds of sleep between looks for messages, where more ranks than\n"
                 "processors would wait for each other by polling; 0 waits in MPI [0]")
      ->check(in_range(0, 1000000))
      ->type_name("US");
  app.add_option("--timeout", options.timeout,
                 "Seconds without a message until it counts as stuck, 0 never [60]")
      ->check(in_range(0, 1000000))
      ->type_name("SECONDS");
}

}  // namespace

Expected<Request> parse_options(int argc, const char* const* argv) {
  CLI::App app(kDescription, "forestcoll-run");
  app.footer(kFooter);
  app.set_version_flag("--version", "forestcoll-run " + std::string(kVersion));
  Words words;
  Options options;
  add_options(app, words, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Request{std::nullopt, app.help()};
  } catch (const CLI::CallForVersion& asked) {
    return Request{std::nullopt, asked.what() + std::string("\n")};
  } catch (const CLI::ExtrasError&) {
    return bad_option(unknown_words(app), "see `forestcoll-run --help`");
  } catch (const CLI::ParseError& error) {
    return bad_option(error.what(), "see `forestcoll-run --help`");
  }
  auto settled = settle(words, std::move(options));
  if (!settled) return settled.errors();
  return Request{*std::move(settled), {}};
}

}  // namespace forestcoll::run
