# What users include as <frugal/NAME.h>: each of these headers includes others, whose paths are those
# of the repository. They are made in the build directory, and installed beside what they include.
get_property(headers GLOBAL PROPERTY frugal_public_headers)
set(frugal_user_include_dir ${PROJECT_BINARY_DIR}/include)

# frugal_user_header(<name> <about> <header or pattern>...): a pattern is one of paths of public
# headers.
function(frugal_user_header name about)
  set(text "#pragma once\n\n// ${about}\n\n")
  foreach(pattern IN LISTS ARGN)
    set(found ${headers})
    list(FILTER found INCLUDE REGEX "^${pattern}$")
    if(NOT found)
      message(FATAL_ERROR "frugal: <frugal/${name}.h> includes ${pattern}, which is no public header")
    endif()
    list(SORT found)
    foreach(header IN LISTS found)
      string(APPEND text "#include \"${header}\"  // IWYU pragma: export\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${frugal_user_include_dir}/frugal/${name}.h CONTENT "${text}" @ONLY)
endfunction()

frugal_user_header(frugal "Models: build, plan, train, use." builders/frugal.h)
frugal_user_header(ops "Differentiable operations, for layers and losses of one's own."
                   "sdk/ops/.*\\.h")
frugal_user_header(layers "Our layers as classes."
                   "layers/.*\\.h")
frugal_user_header(losses "Losses by name, and how to add one." "sdk/train/loss_registry\\.h")
frugal_user_header(schedules "Schedules by name, and how to add one."
                   "sdk/optim/schedule_registry\\.h")
frugal_user_header(metrics "Metrics by name, and how to add one." "sdk/metrics/.*\\.h")
frugal_user_header(optimizers "Update rules by name, and how to add one."
                   "builders/config/types/optimizer_registry\\.h" "sdk/core/threads\\.h")
frugal_user_header(data "Sources of data, and how to make some known by name." "sdk/data/.*\\.h"
                   "builders/config/dataset_registry\\.h")
frugal_user_header(weights "Files of weights." "sdk/io/weights/.*\\.h")
frugal_user_header(logging "What the library notes: levels, and where it goes." "sdk/core/log\\.h")
frugal_user_header(logs "Logs of a training as observers of it: CSV, JSON lines, TensorBoard."
                   "builders/report/.*_log\\.h")
frugal_user_header(plan_text "A plan in words." "builders/report/text/plan_text\\.h"
                   "builders/report/rows/plan_(notes|phrases)\\.h")
frugal_user_header(gradient_check "Gradients against finite differences."
                   "sdk/autograd/finite_difference\\.h")
frugal_user_header(snapshots "Snapshots of trainings: found, opened, exported."
                   "builders/snapshot/(export_weights|find_snapshot|snapshot)\\.h")
frugal_user_header(memory_report "Who holds the memory: tables, pages, JSON, traces, differences."
                   "builders/memory_report/memory_report\\.h"
                   "builders/report/memory/(memory_(text|json|page|file|diff)|chrome_trace)\\.h")
frugal_user_header(capture "Operations of a training: captured, verified, timed; runs held against each other."
                   "builders/capture/(capture_training|diff_runs)\\.h"
                   "builders/cli/captures/profile_table\\.h"
                   "sdk/capture/.*/(profile|verify)_capture\\.h")
frugal_user_header(cli "The whole command, for programs that add to it." builders/cli/cli.h)
