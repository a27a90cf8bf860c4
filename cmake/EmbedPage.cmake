# The page of `compare` is written as HTML, CSS and JavaScript in tools/forestcoll/compare/page; the program
# carries the texts of these files. Sets page_text, the source file with them.
set(page_dir ${CMAKE_CURRENT_SOURCE_DIR}/tools/forestcoll/compare/page)

function(read_page_files variable)
  set(all "")
  foreach(name ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_dir}/${name})
    file(READ ${page_dir}/${name} text)
    string(APPEND all "${text}\n")
  endforeach()
  set(${variable} "${all}" PARENT_SCOPE)
endfunction()

read_page_files(page_template page.html)
read_page_files(page_palette palette.css)
read_page_files(page_style page.css)
read_page_files(page_script base.js tables.js sizes.js heat.js trees.js main.js)
set(page_text ${CMAKE_CURRENT_BINARY_DIR}/page_text.cpp)
configure_file(tools/forestcoll/compare/page/page_text.cpp.in ${page_text} @ONLY)
