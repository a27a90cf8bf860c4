# The warnings that every target of ours is built with, and the level of run-time checks.
function(forestcoll_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wno-sign-conversion -Wnon-virtual-dtor)
  # GCC 12 finds overlaps and overruns in "literal" + std::string that are not there (its bugs 105651
  # and 105329), depending on the literal's length. The address sanitizer looks for true ones.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>)
  if(FORESTCOLL_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(FORESTCOLL_CHECKS STREQUAL "proofs")
    target_compile_definitions(${target} PRIVATE FORESTCOLL_CHECK_LEVEL=1)
  endif()
endfunction()
