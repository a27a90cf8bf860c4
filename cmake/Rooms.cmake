# A room, which is a folder of sources or of tests, is compiled as one unit, and tests with
# precompiled headers: what all of them include is read once, and its templates are made once, which
# more than halves the processor time of a build.
# -DFORESTCOLL_ROOMS=OFF compiles file by file, for work on one.
#
# Who builds once, as all presets do, joins small rooms too: fewer units read the headers of
# the standard library and make its templates. Who changes a file waits longer then.
option(FORESTCOLL_ROOMS "Compile every folder of sources as one unit" ON)
option(FORESTCOLL_JOIN_ROOMS "Compile small rooms together, for those who build once" OFF)
set(room_size 16)  # files of a unit at most: memory, and work for several cores

# forestcoll_rooms(TARGET [JOINED...]): each JOINED names folders, with spaces between, that may be
# one unit. Names in unnamed namespaces must differ within it.
function(forestcoll_rooms target)
  if(NOT FORESTCOLL_ROOMS)
    return()
  endif()
  if(FORESTCOLL_JOIN_ROOMS)
    foreach(joined ${ARGN})
      string(MD5 unit ${joined})
      separate_arguments(folders UNIX_COMMAND ${joined})
      foreach(folder ${folders})
        string(MD5 room ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
        set(unit_of_${room} ${unit})
      endforeach()
    endforeach()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source ${sources})
    get_filename_component(folder ${source} ABSOLUTE)
    get_filename_component(folder ${folder} DIRECTORY)
    string(MD5 room ${folder})
    math(EXPR count_${room} "${count_${room}} + 1")
    math(EXPR part "(${count_${room}} - 1) / ${room_size}")
    set(unit ${room}_${part})
    if(DEFINED unit_of_${room})
      set(unit ${unit_of_${room}})
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
