# SPDX-License-Identifier: BSL-1.0
# shellcheck shell=bash
# What tools/test, tools/demo, tools/bench and .ci/run share: sourced, never run. `need` installs what is missing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tool=${0#"$root"/}
fashion_dataset=${UMBEL_FASHION_DATASET:-/usr/share/datasets/fashion-mnist}

fail() {
  echo "$tool: $*" >&2
  exit 2
}

# ---- what is asked for ----------------------------------------------------------------------------------
# show_help: the comment on top of the tool.
show_help() {
  sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//p}' "${BASH_SOURCE[1]}"
  exit 0
}

# check_arguments SCRIPT ARGUMENT...: a wrong one ends the tool with 2 and --help with 0, before anything is built or
# installed: tools/command_line.py.
check_arguments() {
  local status=0
  has python3 || need python3
  UMBEL_CHECK_ARGUMENTS=1 python3 "$@" || status=$?
  ((status == 100)) || exit "$status"
}

# ---- what it does, how far it is, the time left -------------------------------------------------------
# What Ctrl-C says: a tool that has more to say sets it.
go_on="the same command goes on: what is compiled and installed stays"

interrupted() {
  echo "$tool: stopped; $go_on" >&2
  exit 130
}
trap interrupted INT

# progress HOW WHAT LOG -- COMMAND...: tools/progress.py says more. A fresh machine may have no Python yet.
progress() {
  local status=0
  if has python3; then
    python3 "$root/tools/progress.py" "$@" || status=$?
  else
    echo "$2" >&2
    "${@:5}" >"$3" 2>&1 </dev/null || status=$?
  fi
  ((status != 130)) || interrupted
  return "$status"
}

# ---- what is there ------------------------------------------------------------------------------------
has() { command -v "$1" >/dev/null 2>&1; }

# The clang to use: clang++ when it is 14 or newer, else clang++-14; nothing when there is none.
find_clang() {
  local name
  for name in clang++ clang++-14; do
    if has "$name" && (($("$name" -dumpversion | cut -d. -f1) >= 14)); then
      echo "$name"
      return
    fi
  done
}

has_header() { printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" | g++ -E -x c++ -o /dev/null - >/dev/null 2>&1; }

has_boost_test() {
  has_header boost/test/unit_test.hpp &&
    echo 'int main() {}' | g++ -x c++ -o /dev/null - -lboost_unit_test_framework >/dev/null 2>&1
}

has_clang_sanitizers() {
  echo 'int main() {}' | "$(find_clang)" -fsanitize=address,undefined -x c++ -o /dev/null - >/dev/null 2>&1
}

has_dataset() { [[ -e $fashion_dataset/t10k-images-idx3-ubyte.gz && -e $fashion_dataset/t10k-labels-idx1-ubyte.gz ]]; }

# Is what this Debian package brings there, wherever it came from?
is_there() {
  case $1 in
    g++ | gcc | make | meson | python3 | gdb | valgrind | cmake | git) has "$1" ;;
    clang) [[ -n $(find_clang) ]] ;;
    ninja-build) has ninja ;;
    binutils) has size ;;
    g++-*-linux-gnu*) has "${1#g++-}-g++" ;;
    gcc-arm-none-eabi) has arm-none-eabi-g++ ;;
    qemu-system-arm) has qemu-system-arm ;;
    clang-19) has clang++-19 ;;
    clangd) has clangd ;;
    nodejs) has node ;;
    mkdocs) has mkdocs ;;
    qemu-user) has qemu-aarch64 ;;
    pkg-config) has pkg-config ;;
    libopenmpi-dev) pkg-config --exists mpi ;;
    openmpi-bin) has mpirun ;;
    libboost-dev) has_header boost/hana.hpp ;;
    libboost-test-dev) has_boost_test ;;
    libbenchmark-dev) has_header benchmark/benchmark.h ;;
    libeigen3-dev) has_header eigen3/Eigen/Core ;;
    libopenblas-dev) pkg-config --exists openblas ;;
    libxsmm-dev) has_header libxsmm.h ;;
    libdnnl-dev) has_header dnnl.hpp ;;
    libclang-rt-*-dev) has_clang_sanitizers ;; # not that of another target
    python3-torch) /usr/bin/python3 -c 'import torch' >/dev/null 2>&1 ;;
    dataset-fashion-mnist) has_dataset ;;
    *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q "install ok installed" ;;
  esac
}

# The given packages of which nothing is there, in the order given, into the array `missing`.
find_missing() {
  local package
  missing=()
  for package in "$@"; do
    is_there "$package" || missing+=("$package")
  done
}

# ---- installing ---------------------------------------------------------------------------------------
can_install() {
  has apt-get && { ((EUID == 0)) || { has sudo && sudo -n true 2>/dev/null; }; }
}

apt() {
  local what=$1
  shift
  progress apt "$tool: $what" "$apt_log" -- \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -o APT::Status-Fd=1 -qq "$@"
}

apt_install() {
  apt "installing $*" install -y --no-install-recommends "$@"
}

# Install the given packages; the lists are fetched once, when the first try fails.
install() {
  local apt_log as_root=() status=0
  ((EUID == 0)) || as_root=(sudo -n)
  apt_log=$(mktemp)
  apt_install "$@" || { apt "fetching the lists of packages" update && apt_install "$@"; } || status=$?
  ((status == 0)) || cat "$apt_log" >&2
  rm -f "$apt_log"
  return "$status"
}

# need PACKAGE...: all of them are there afterwards, or the script ends with 2.
need() {
  local missing
  find_missing "$@"
  ((${#missing[@]})) || return 0
  can_install || fail "missing, and neither root nor sudo with apt-get to install them; please install: ${missing[*]}"
  install "${missing[@]}" || fail "could not install: ${missing[*]}"
  find_missing "$@"
  ((${#missing[@]} == 0)) || fail "installed, but still not found: ${missing[*]}"
}

# want PACKAGE...: as need, but the script goes on without; false when something is missing.
want() {
  local missing
  find_missing "$@"
  ((${#missing[@]})) || return 0
  can_install && install "${missing[@]}" >&2 && find_missing "$@" && ((${#missing[@]} == 0))
}

# What every build here needs.
# shellcheck disable=SC2034
build_packages=(g++ meson ninja-build pkg-config python3 libboost-dev)

# ---- building -----------------------------------------------------------------------------------------
# build_folder NAME: a folder for each compiler, of CXX; NAME alone is that of g++.
build_folder() {
  local compiler=${CXX:-g++}
  has "${compiler%% *}" || fail "CXX=$compiler: there is no program ${compiler%% *}"
  [[ $compiler == g++ ]] || set -- "$1-${compiler//[^A-Za-z0-9+._-]/_}"
  echo "$root/build/$1"
}

# A build folder has nothing that is not made again: what somebody waited for, or trained, is in here.
results=$root/results

# A folder is of one tool at a time, until `release` or the end: hold DIRECTORY waits, and names who has it.
declare -A held=()
command_line="${0#"$root"/}${*:+ $*}"
hold() {
  local directory=$1 lock=
  [[ -z ${held[$directory]-} ]] || return 0
  { mkdir -p "$directory" && exec {lock}<>"$directory/lock"; } 2>/dev/null || fail "cannot write to $directory"
  python3 "$root/tools/progress.py" lock "$lock" "$directory/lock" "$$ ($command_line)" || interrupted
  held[$directory]=$lock
}

# release DIRECTORY: what runs from now on only reads what is in it.
release() {
  local lock=${held[$1]}
  exec {lock}>&-
  unset "held[$1]"
}

# Only what Meson makes of its options, and what Ninja remembers of it.
made_by_meson=(meson-private meson-info meson-logs build.ninja compile_commands.json .ninja_log .ninja_deps)

# set_aside DIRECTORY, take_back DIRECTORY: these, so that Meson starts anew there; nothing else in the folder is touched.
set_aside() {
  local file
  mkdir -p "$1/before"
  for file in "${made_by_meson[@]}"; do
    rm -rf "$1/before/$file"
    [[ ! -e $1/$file ]] || mv "$1/$file" "$1/before"
  done
}
take_back() {
  local file
  for file in "${made_by_meson[@]}"; do
    [[ ! -e $1/before/$file ]] || { rm -rf "${1:?}/$file" && mv "$1/before/$file" "$1"; }
  done
  rmdir "$1/before"
}

# is_whole DIRECTORY: is all there, to its end, that is read after Meson? Ninja looks at dates only.
is_whole() {
  local file
  for file in build.ninja meson-info/intro-{targets,tests}.json meson-private/{coredata,build,meson_test_setup}.dat; do
    [[ -s $1/$file ]] || return 1
    case $file in
      *.json) [[ $(tail -c 1 "$1/$file") == "]" ]] || return 1 ;;
      *.dat) [[ $(tail -c 1 "$1/$file" | tr -d '\0') == . ]] || return 1 ;; # so a pickle ends
    esac
  done
}

# configure DIRECTORY OPTION...: sets up the build directory, or gives the one that is there these options. With
# `search_again` it looks for libraries again that it did not find.
search_again=
configure() {
  local directory=$1 what="$tool: configuring ${1#"$root"/}" log options
  shift
  set -- -Db_colorout=auto "$@"
  hold "$directory"
  log=$directory/setup.log options=$directory/options
  if is_whole "$directory"; then
    # The last command: what changed in a meson.build since, before anybody reads the lists of tests and targets.
    # shellcheck disable=SC2016
    if progress run "$what" "$log" -- bash -euc '
      if [[ ${*:3} != "$(cat "$1/options")" ]]; then meson configure "$1" "${@:3}"; fi
      if [[ -n $2 ]]; then meson configure "$1" --clearcache; fi
      ninja -C "$1" build.ninja' configure "$directory" "$search_again" "$@"; then
      echo "$*" >"$options"
      return
    fi
  fi
  set_aside "$directory" # made by another version, which has other options; or damaged; or nothing yet
  if ! progress run "$what" "$log" -- meson setup "$directory" "$root" "$@"; then
    cat "$log" >&2
    take_back "$directory"
    return 1
  fi
  echo "$*" >"$options"
  rm -rf "$directory/before"
}

# Of several tools side by side each has UMBEL_JOBS processors; alone it has them all.

# compile DIRECTORY TARGET...: what fails is printed as it comes.
compile() {
  local directory=$1
  shift
  progress ninja "$tool: compiling ${directory#"$root"/}" "$directory/compile.log" -- ninja -C "$directory" ${UMBEL_JOBS:+-j "$UMBEL_JOBS"} "$@"
}

# run_tests DIRECTORY ARGUMENT...: of meson test; what fails is printed as it comes. The results are in
# DIRECTORY/meson-logs/testlog.json.
run_tests() {
  local directory=$1
  shift
  rm -f "$directory/meson-logs/testlog.json"
  # A busy machine takes no more processor time: 600 s a process are the limit. That of the clock is for what hangs.
  (
    ulimit -S -t 600 2>/dev/null || true # a tighter limit is that of who called
    progress tests "$tool: testing ${directory#"$root"/}" "$directory/test.log" -- meson test -C "$directory" --no-rebuild \
      --print-errorlogs --timeout-multiplier=6 ${UMBEL_JOBS:+"--num-processes=$UMBEL_JOBS"} "$@"
  )
}
