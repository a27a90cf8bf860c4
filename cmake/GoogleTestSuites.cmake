# One ctest test for each suite of a GoogleTest program.
#
# gtest_discover_tests makes one of each case, each a process of its own; with the sanitizers a program
# starts in a tenth of a second, and most cases take less. A failure names its case all the same.

# Where the target has the property TESTED_PROGRAM, tests find that program as FORESTCOLL_PROGRAM.

# google_test_suites(TARGET PREFIX FILTER LABEL): those that have cases which FILTER lets through, as
# PREFIX followed by the suite's name. Looked up when ctest starts, not when the target is built.
function(google_test_suites target prefix filter label)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}-${label}.cmake)
  file(GENERATE OUTPUT ${list} CONTENT
    "set(program [==[$<TARGET_FILE:${target}>]==])
set(tested [==[$<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},TESTED_PROGRAM>>]==])
set(prefix [==[${prefix}]==])
set(filter [==[${filter}]==])
set(label [==[${label}]==])
include([==[${PROJECT_SOURCE_DIR}/cmake/ListTestSuites.cmake]==])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list})
endfunction()
