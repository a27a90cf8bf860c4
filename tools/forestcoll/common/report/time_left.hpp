// How long a stage of a command will still take, as it is shown while the stage goes on.
#pragma once

#include <optional>
#include <string>

namespace forestcoll::cli {

/// Estimates the time that is left from the part of the work that is done. Parts of the work differ
/// in what they cost, so the plain estimate, time so far for each part done, jumps. What is shown
/// counts down and moves towards the plain estimate, up by at most 15 % a second, down by at most
/// 30 %, and begins once enough is done.
class TimeLeft {
 public:
  /// Seconds that are left, `seconds` after the stage began, when `fraction` of it, 0 … 1, is done;
  /// none while too little is done. To be called several times a second, later times later.
  std::optional<double> update(double seconds, double fraction);

 private:
  std::optional<double> left_;
  double updated_ = 0;  // seconds after the stage began
};

/// "about 25 s left", "about 4 min left": no more digits than an estimate has.
[[nodiscard]] std::string time_left_in_words(double seconds);

}  // namespace forestcoll::cli
