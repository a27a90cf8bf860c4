# Finds LEMON, the graph library, and defines the target Lemon::Lemon.
# Debian's own CMake package sets variables only and has no target.
find_path(Lemon_INCLUDE_DIR lemon/list_graph.h)
find_library(Lemon_LIBRARY lemon)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Lemon REQUIRED_VARS Lemon_LIBRARY Lemon_INCLUDE_DIR)
if(Lemon_FOUND AND NOT TARGET Lemon::Lemon)
  add_library(Lemon::Lemon UNKNOWN IMPORTED)
  set_target_properties(Lemon::Lemon PROPERTIES
    IMPORTED_LOCATION "${Lemon_LIBRARY}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${Lemon_INCLUDE_DIR}")
endif()
mark_as_advanced(Lemon_INCLUDE_DIR Lemon_LIBRARY)
