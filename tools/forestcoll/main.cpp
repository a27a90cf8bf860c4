#include "run_program.hpp"

int main(int argc, char** argv) {
  return forestcoll::cli::run_program(argc, argv);
}
