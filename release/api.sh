#!/usr/bin/env bash
# Compares the public interfaces of the crates with those of a revision, for the review before a release.
#
# api.sh REVISION [CRATE…] prints what was added, changed and removed (cargo public-api), and what of that semantic
# versioning forbids in a patch release (cargo semver-checks). Both tools are installed if they are missing, which takes
# minutes; the first needs a nightly toolchain too. Exit code 1: a patch release must not have the change.
#
# api.sh --check [CRATE…] compares with the last tag v…, by the versions in Cargo.toml: exit code 1 if the version must be raised
# by more. Before the first release there is no tag, and nothing is compared.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

[ $# -gt 0 ] || { sed -n '2,11s/^# \?//p' "${BASH_SOURCE[0]}"; exit 64; }
tools=(cargo-public-api cargo-semver-checks) promised=(--release-type patch) revision=$1
if [ "$1" = --check ]; then
    tools=(cargo-semver-checks) promised=()
    if ! revision=$(git -C "$root" describe --tags --match 'v*' --abbrev=0 2>/dev/null); then
        echo 'nothing was released: there is nothing to compare with'
        exit 0
    fi
fi
base=$(git -C "$root" rev-parse --verify "$revision^{commit}")
shift
crates=("$@")
[ ${#crates[@]} -gt 0 ] || crates=(ilo-spec ilo-asm ilo-vm ilo-graph ilo-guide ilo-drive ilo-journal ilo-host)
for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || cargo install --locked "$tool"
done

# Its own checkout, since the tools build revisions in place.
here=$(mktemp -d)
trap 'git -C "$root" worktree remove --force "$here/now"; rm -rf "$here"' EXIT
git -C "$root" worktree add --detach --quiet "$here/now" HEAD
cd "$here/now"
forbidden=0
for crate in "${crates[@]}"; do
    printf '\n== %s\n' "$crate"
    [ ${#tools[@]} -eq 1 ] || cargo +nightly public-api --package "$crate" --all-features diff "$base..HEAD"
    cargo semver-checks --package "$crate" --baseline-rev "$base" "${promised[@]}" --all-features || forbidden=1
done
exit $forbidden
