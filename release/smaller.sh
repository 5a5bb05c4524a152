#!/usr/bin/env bash
# Compresses .tar.gz and .tgz files again, as small as the format allows: release/smaller.sh FILE...
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

python3 - "$@" <<'END'
import deflate, gzip, pathlib, sys
for file in map(pathlib.Path, sys.argv[1:]):
    file.write_bytes(deflate.gzip_compress(gzip.decompress(file.read_bytes()), 12))
END
