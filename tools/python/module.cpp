// The commands of the program as one function of Python: words and files in memory go in, what the
// command says and writes comes out. What is made of that is written in Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <chrono>
#include <future>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "common/host.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/version.hpp"
#include "run_program.hpp"

namespace py = pybind11;

namespace forestcoll::python {
namespace {

constexpr std::chrono::milliseconds kBetweenSignals(50);

constexpr const char *kError = "error", *kWarning = "warning";

struct Answer {
  int code = 0;
  std::string out, notes;
  std::map<std::string, std::string> files;
  Diagnostics findings;
};

using Files = std::map<std::string, std::string>;

Answer call(const std::vector<std::string>& words, Files files, std::stop_token stop) {
  Answer answer;
  cli::Host host(std::move(files), std::move(stop));
  answer.code = cli::call_program(words, answer.findings);
  answer.out = std::move(host.out);
  answer.notes = std::move(host.notes);
  answer.files = std::move(host.files);
  return answer;
}

// Runs the command on a thread of its own, so that Python's other threads go on and its handlers of
// signals are called. Where one of them raises, as for Ctrl-C, the command is asked to stop, and
// the exception is passed on once it has.
Answer call_from_python(const std::vector<std::string>& words, Files files) {
  std::stop_source stop;
  std::optional<py::error_already_set> raised;
  const py::gil_scoped_release released;
  auto work = std::async(std::launch::async, call, words, std::move(files), stop.get_token());
  while (work.wait_for(kBetweenSignals) != std::future_status::ready) {
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() == 0) continue;
    raised.emplace();
    stop.request_stop();
  }
  if (raised) throw py::error_already_set(*std::move(raised));
  return work.get();
}

// As reports in JSON have it.
Diagnostic diagnostic_of(const std::string& code, const std::string& severity, std::string file,
                         std::string where, std::string message, std::string remedy) {
  const auto known = parse_code(code);
  return {.code = known,
          .severity = severity == kError ? Severity::error : Severity::warning,
          .kind = known ? info_of(*known).kind : ErrorKind::input,
          .file = std::move(file),
          .where = std::move(where),
          .message = std::move(message),
          .remedy = std::move(remedy)};
}

py::str text_of(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<py::ssize_t>(bytes.size()), "replace"));
}

py::dict bytes_by_name(const Files& files) {
  py::dict result;
  for (const auto& [name, bytes] : files) result[text_of(name)] = py::bytes(bytes);
  return result;
}

}  // namespace
}  // namespace forestcoll::python

PYBIND11_MODULE(_native, module) {
  using forestcoll::Diagnostic;
  using forestcoll::Severity;
  using forestcoll::python::Answer;
  using forestcoll::python::kError;
  using forestcoll::python::kWarning;

  using Words = std::array<std::string, 6>;

  module.attr("version") = forestcoll::kVersion;

  py::class_<Diagnostic>(module, "Diagnostic")
      .def(py::init(&forestcoll::python::diagnostic_of), py::kw_only(), py::arg("code"),
           py::arg("severity"), py::arg("file"), py::arg("where"), py::arg("message"),
           py::arg("remedy"))
      .def_property_readonly(
          "code", [](const Diagnostic& finding) { return forestcoll::name_of(finding.code); })
      .def_property_readonly("severity",
                             [](const Diagnostic& finding) {
                               return finding.severity == Severity::error ? kError : kWarning;
                             })
      .def_readonly("file", &Diagnostic::file)
      .def_readonly("where", &Diagnostic::where)
      .def_readonly("message", &Diagnostic::message)
      .def_readonly("remedy", &Diagnostic::remedy)
      // Errors come out of the processes of a pool by it.
      .def(py::pickle(
          [](const Diagnostic& finding) {
            return Words{std::string(forestcoll::name_of(finding.code)),
                         finding.severity == Severity::error ? kError : kWarning,
                         finding.file,
                         finding.where,
                         finding.message,
                         finding.remedy};
          },
          [](const Words& words) {
            const auto& [code, severity, file, where, message, remedy] = words;
            return forestcoll::python::diagnostic_of(code, severity, file, where, message, remedy);
          }))
      .def("__str__", [](const Diagnostic& finding) { return forestcoll::to_string(finding); })
      .def("__repr__", [](const Diagnostic& finding) {
        return "<Diagnostic " + forestcoll::to_string(finding) + ">";
      });

  py::class_<Answer>(module, "Answer")
      .def_readonly("code", &Answer::code)
      .def_readonly("findings", &Answer::findings)
      .def_property_readonly("out", [](const Answer& answer) { return py::bytes(answer.out); })
      .def_property_readonly(
          "notes", [](const Answer& answer) { return forestcoll::python::text_of(answer.notes); })
      .def_property_readonly("files", [](const Answer& answer) {
        return forestcoll::python::bytes_by_name(answer.files);
      });

  module.def("call", &forestcoll::python::call_from_python, py::arg("words"), py::arg("files"));
}
