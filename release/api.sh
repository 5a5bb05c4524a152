#!/usr/bin/env bash
# Compares the public interfaces of the crates with those of a revision, for the review before a release.
#
# api.sh REVISION [CRATE…] prints what was added, changed and removed (cargo public-api), and what of that semantic
# versioning forbids in a patch release (cargo semver-checks). Both tools are installed if they are missing, which takes
# minutes; the first needs a nightly toolchain too. Exit code 1: a patch release must not have the change.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

[ $# -gt 0 ] || { sed -n '2,7s/^# \?//p' "${BASH_SOURCE[0]}"; exit 64; }
base=$(git -C "$root" rev-parse --verify "$1^{commit}")
shift
crates=("$@")
[ ${#crates[@]} -gt 0 ] || crates=(ilo-spec ilo-asm ilo-vm ilo-graph ilo-guide ilo-drive ilo-journal ilo-host)
for tool in cargo-public-api cargo-semver-checks; do
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
    cargo +nightly public-api --package "$crate" --all-features diff "$base..HEAD"
    cargo semver-checks --package "$crate" --baseline-rev "$base" --release-type patch --all-features || forbidden=1
done
exit $forbidden
