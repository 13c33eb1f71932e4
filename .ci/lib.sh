# What steps share. They source it first; it makes the root of the tree the working directory.
# shellcheck shell=bash
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p "${CARGO_TARGET_DIR:-target}"
CARGO_TARGET_DIR=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
export CARGO_TARGET_DIR

# xtask CHORE…: does a chore. The program is built with the features of `cargo test --workspace`: `cargo xtask` would compile
# its libraries once more, with fewer.
xtask() {
    cargo test --workspace --quiet --no-run --test tidy &&
        CARGO_MANIFEST_DIR=$PWD/crates/xtask "$CARGO_TARGET_DIR/debug/xtask" "$@"
}

# released COMMAND…: runs cargo for static programs. One release build serves the README's run, the real control plane, images
# and clusters.
released() (
    variables=$(xtask musl) || exit
    eval "$variables"
    "$@"
)

# build_program: builds gardener-conformance for release and sets $program to its path.
build_program() {
    # shellcheck disable=SC2016,SC2034 # The variables are those of the released build; steps use $program.
    program=$(released sh -c 'cargo build --release --quiet --package cli >&2 &&
        printf %s "$CARGO_TARGET_DIR/${CARGO_BUILD_TARGET:-.}/release/gardener-conformance"')
}

# build_control_plane: exports the folder of a real kube-apiserver and etcd, which are built once.
build_control_plane() {
    KUBEBUILDER_ASSETS=$(xtask control-plane | tail -n 1)
    export KUBEBUILDER_ASSETS
}

# number_of_commit: prints a number that is another for each commit.
number_of_commit() {
    local hash
    # Who runs this may not own the clone.
    hash=$(git -c safe.directory='*' rev-parse HEAD) && echo $((16#${hash:0:8}))
}

# undecided NAME REPEAT COMMAND…: runs a command that does not decide. Its failure is shown, with the command that repeats it.
# On a machine on which `.ci/run` took 40 minutes already, it does not run: what decides must end in time.
undecided() {
    local name=$1 repeat=$2 list=${CI_REPORTS:+$CI_REPORTS/undecided} code=0 now
    shift 2
    now=$(date +%s)
    if [ $((now - ${CI_BEGUN:-$now})) -gt 2400 ]; then
        printf '%s is left out, as the steps before took more than 40 minutes. To run it:\n    %s\n' "$name" "$repeat"
        return 0
    fi
    "$@" || code=$?
    [ "$code" != 0 ] || return 0
    printf '!!! %s failed with exit code %s. It does not decide, and it is a defect all the same. Again:\n!!!   %s\n' \
        "$name" "$code" "$repeat" | tee -a "${list:-/dev/null}"
}

# has_time SECONDS REPEAT: whether a step that takes SECONDS ends before CI does, which is stopped after 90 minutes. If not, prints
# how to run it. Who runs the step alone has the time.
has_time() {
    local list=${CI_REPORTS:+$CI_REPORTS/undecided} now
    now=$(date +%s)
    if [ $((now - ${CI_BEGUN:-$now} + $1)) -le 5200 ]; then return 0; fi
    printf '!!! Left out, as the steps before took too long on this machine. To run it:\n!!!   %s\n' "$2" |
        tee -a "${list:-/dev/null}"
    return 1
}
