# A room, which is a folder of sources, is compiled as one unit, and tests with precompiled headers:
# what all of them include is read once, which halves the processor time of a build.
# -DFORESTCOLL_ROOMS=OFF compiles file by file, for work on one.
option(FORESTCOLL_ROOMS "Compile every folder of sources as one unit" ON)
set(room_size 16)  # files of a unit at most: memory, and work for several cores

function(forestcoll_rooms target)
  if(NOT FORESTCOLL_ROOMS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    string(MD5 room ${folder})
    math(EXPR count_${room} "${count_${room}} + 1")
    math(EXPR part "(${count_${room}} - 1) / ${room_size}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
