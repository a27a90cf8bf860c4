# Finds the headers of LEMON, the graph library, and defines the target Lemon::Lemon. They need no
# binary as they are used here, and Debian's links GLPK, which is GPL. Debian's own CMake package
# sets variables only and has no target.
find_path(Lemon_INCLUDE_DIR lemon/list_graph.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Lemon REQUIRED_VARS Lemon_INCLUDE_DIR)
if(Lemon_FOUND AND NOT TARGET Lemon::Lemon)
  add_library(Lemon::Lemon INTERFACE IMPORTED)
  set_target_properties(Lemon::Lemon PROPERTIES
    INTERFACE_COMPILE_DEFINITIONS LEMON_ONLY_TEMPLATES
    INTERFACE_INCLUDE_DIRECTORIES "${Lemon_INCLUDE_DIR}")
endif()
mark_as_advanced(Lemon_INCLUDE_DIR)
