# How every target of the project is made: one layer per folder under src/, one executable per group of tests.

find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE)
    # Sources that use a precompiled header are kept only when ccache is told that macros of the command line
    # and __TIME__ do not change it. Without the folder in its keys, a clone finds what another has compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=true
        "${SLUICE_CCACHE}")
endif()

add_library(sluice_options INTERFACE)
target_compile_features(sluice_options INTERFACE cxx_std_20)
target_include_directories(sluice_options INTERFACE
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
target_compile_options(sluice_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 sees uninitialised members in every variant that is moved, and overlaps in every "x" + string.
    target_compile_options(sluice_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict
        -Wno-stringop-overflow)
endif()
find_program(SLUICE_MOLD mold)
if(SLUICE_MOLD)
    target_link_options(sluice_options INTERFACE -fuse-ld=mold)
endif()
set(SLUICE_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
if(SLUICE_SANITIZE)
    target_compile_options(sluice_options INTERFACE "-fsanitize=${SLUICE_SANITIZE}" -fno-sanitize-recover=all
        -fno-omit-frame-pointer)
    target_link_options(sluice_options INTERFACE "-fsanitize=${SLUICE_SANITIZE}")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Asio's fences are not understood by the thread sanitizer, which GCC then warns about.
        target_compile_options(sluice_options INTERFACE -Wno-tsan)
    endif()
endif()

set(SLUICE_TOGETHER 0 CACHE STRING "How many sources of a target the compiler gets at once; 0: each alone")

# sluice_compiled_together(target SOURCES files... [APART files...])
# Gives the target its sources. Where the preset wants that, the compiler gets many of them as one, and reads
# what they include once: most of a build is nothing else. APART are those of them that are compiled alone all
# the same: names in their unnamed namespaces are taken in others, or they have definitions of their own.
# dev, tidy and release compile each source alone: there it shows when one lacks an include.
# CMake's own UNITY_BUILD names sources by their full paths, so that ccache finds nothing for another clone.
function(sluice_compiled_together target)
    cmake_parse_arguments(ARG "" "" "SOURCES;APART" ${ARGN})
    if(NOT SLUICE_TOGETHER)
        target_sources(${target} PRIVATE ${ARG_SOURCES})
        return()
    endif()
    set(number 0)
    set(size 0)
    set(unit "")
    foreach(source IN LISTS ARG_SOURCES ITEMS "")
        if(size EQUAL SLUICE_TOGETHER OR (size GREATER 0 AND source STREQUAL ""))
            set(file "${CMAKE_CURRENT_BINARY_DIR}/together/${target}_${number}.cpp")
            file(CONFIGURE OUTPUT "${file}" CONTENT "${unit}" @ONLY)
            target_sources(${target} PRIVATE "${file}")
            math(EXPR number "${number} + 1")
            set(size 0)
            set(unit "")
        endif()
        if(source IN_LIST ARG_APART OR IS_ABSOLUTE "${source}")
            target_sources(${target} PRIVATE "${source}")
        elseif(NOT source STREQUAL "")
            # src and tests are where every target looks for includes.
            file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
            string(REGEX REPLACE "^(src|tests)/" "" path "${path}")
            string(APPEND unit "#include \"${path}\"\n")
            math(EXPR size "${size} + 1")
        endif()
    endforeach()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC takes a source that is included for a header, where a class must have no unnamed member types.
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
endfunction()

# sluice_layer(name SOURCES files... [APART files...] [USES layers...] [PRIVATE libraries...]
#              [HEAVY headers...])
# A static library sluice_<name>. Layers it uses are passed on to its users; client libraries are its own.
# HEAVY headers are compiled once for the layer. APART: those of the sources that are always compiled alone.
function(sluice_layer name)
    cmake_parse_arguments(ARG "" "" "SOURCES;APART;USES;PRIVATE;HEAVY" ${ARGN})
    add_library(sluice_${name} STATIC)
    sluice_compiled_together(sluice_${name} SOURCES ${ARG_SOURCES} APART ${ARG_APART})
    list(TRANSFORM ARG_USES PREPEND sluice_)
    target_link_libraries(sluice_${name} PUBLIC sluice_options ${ARG_USES} PRIVATE ${ARG_PRIVATE})
    if(ARG_HEAVY)
        target_precompile_headers(sluice_${name} PRIVATE ${ARG_HEAVY})
    endif()
endfunction()

# sluice_migrations(target function files...)
# Makes the SQL files, named 0001_what_it_does.sql and so on, part of the target, as
# std::span<const Migration> sluice::postgres::<function>().
function(sluice_migrations target function)
    set(SLUICE_MIGRATIONS "")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        get_filename_component(name "${file}" NAME)
        if(NOT name MATCHES "^0*([1-9][0-9]*)_(.*)\\.sql$")
            message(FATAL_ERROR "${file}: a migration is named 0001_what_it_does.sql")
        endif()
        set(version "${CMAKE_MATCH_1}")
        set(title "${CMAKE_MATCH_2}")
        file(READ "${file}" sql)
        string(APPEND SLUICE_MIGRATIONS "    {${version}, \"${title}\", R\"migration(${sql})migration\"},\n")
    endforeach()
    set(SLUICE_MIGRATIONS_FUNCTION "${function}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/migrations.cpp.in" "${function}.cpp" @ONLY)
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
endfunction()

# sluice_repeatable(target function files...)
# Makes the SQL files part of the target, one behind the other, as
# std::string_view sluice::postgres::<function>().
function(sluice_repeatable target function)
    set(SLUICE_REPEATABLE "")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        file(READ "${file}" sql)
        string(APPEND SLUICE_REPEATABLE "\n    R\"repeatable(${sql})repeatable\"")
    endforeach()
    set(SLUICE_REPEATABLE_FUNCTION "${function}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/repeatable.cpp.in" "${function}.cpp" @ONLY)
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp")
endfunction()

# sluice_lua_parts(target files...)
# Makes the Lua files part of the target, as store/redis/limits/script_parts.hpp has them: the first is the
# one that tells the time, the others are the script.
function(sluice_lua_parts target)
    set(SLUICE_LUA_PARTS "")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        file(READ "${file}" lua)
        string(APPEND SLUICE_LUA_PARTS "    R\"lua(${lua})lua\",\n")
    endforeach()
    configure_file("${PROJECT_SOURCE_DIR}/cmake/lua_parts.cpp.in" lua_parts.cpp @ONLY)
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/lua_parts.cpp")
endfunction()

# sluice_compiled_as_test(target)
# Tests are large, and only what they test has to be fast. Their lines are named when a Result is misused
# (tests/support/wrong_side.cpp).
function(sluice_compiled_as_test target)
    if(SLUICE_SANITIZE)
        target_compile_options(${target} PRIVATE -O0 -g1)
    else()
        target_compile_options(${target} PRIVATE -O1 -g1)
    endif()
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/tests")
    # What every test includes is compiled once for all of them.
    if(target STREQUAL test_support)
        target_precompile_headers(${target} PRIVATE
            <gmock/gmock.h> <gtest/gtest.h> <chrono> <functional> <map> <memory> <optional> <random> <string>
            <thread> <variant> <vector>)
    else()
        target_precompile_headers(${target} REUSE_FROM test_support)
    endif()
endfunction()

# sluice_contract(name SOURCES files... [APART files...] USES layers...)
# What all adapters of a port promise: parameterised GoogleTest cases. A test that names it as its CONTRACT
# has to instantiate it, and then runs every case: the linker leaves none out of an object library.
function(sluice_contract name)
    cmake_parse_arguments(ARG "" "" "SOURCES;APART;USES" ${ARGN})
    add_library(${name} OBJECT)
    sluice_compiled_together(${name} SOURCES ${ARG_SOURCES} APART ${ARG_APART})
    list(TRANSFORM ARG_USES PREPEND sluice_)
    target_link_libraries(${name} PUBLIC sluice_options ${ARG_USES} GTest::gmock)
    sluice_compiled_as_test(${name})
endfunction()

# sluice_test(name LABEL label SOURCES files... [APART files...] [USES layers...] [CONTRACT suite]
#             [PRIVATE libraries...] [TIMEOUT seconds] [LOCK name] [PREFIX text] [ALONE filters...]
#             [SANITIZED address|thread...])
# An executable of GoogleTest cases. ctest runs two cases at a time, but of those with the same LOCK only one,
# and none beside a case that matches one of the ALONE filters: those measure time, have to be quick enough,
# or change a server that others use. PREFIX comes before the names of its tests, when another has the same.
# SANITIZED: these sanitizers run it too.
function(sluice_test name)
    cmake_parse_arguments(ARG "" "CONTRACT;LABEL;LOCK;PREFIX;TIMEOUT"
        "SOURCES;APART;USES;PRIVATE;ALONE;SANITIZED" ${ARGN})
    string(REGEX MATCH "^[a-z]+" sanitizer "${SLUICE_SANITIZE}")
    if(sanitizer AND NOT sanitizer IN_LIST ARG_SANITIZED)
        return()
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    add_executable(${name})
    sluice_compiled_together(${name} SOURCES ${ARG_SOURCES} APART ${ARG_APART})
    list(TRANSFORM ARG_USES PREPEND sluice_)
    target_link_libraries(${name} PRIVATE sluice_options test_support ${ARG_CONTRACT} ${ARG_USES}
        ${ARG_PRIVATE} GTest::gmock GTest::gtest_main)
    sluice_compiled_as_test(${name})
    set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
    if(ARG_LOCK)
        list(APPEND properties RESOURCE_LOCK ${ARG_LOCK})
    endif()
    set(others "*")
    if(ARG_ALONE)
        list(JOIN ARG_ALONE ":" alone)
        set(others "-${alone}")
        gtest_discover_tests(${name} TEST_PREFIX "${ARG_PREFIX}" DISCOVERY_TIMEOUT 60
            TEST_LIST ${name}_alone TEST_FILTER "${alone}" PROPERTIES ${properties} RUN_SERIAL ON)
    endif()
    gtest_discover_tests(${name} TEST_PREFIX "${ARG_PREFIX}" DISCOVERY_TIMEOUT 60 TEST_FILTER "${others}"
        PROPERTIES ${properties})
    add_dependencies(all_tests ${name})
endfunction()
