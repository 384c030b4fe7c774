#!/bin/bash
# Makes this instance a node: finds a Python, fetches the bundle, checks it, and boots. All else is in the bundle.
set -eEuo pipefail
root="${GPU_NODE_ROOT:-}" home="${GPU_NODE_ROOT:-}/opt/gpu-node" sha=@SHA256@ step="find Python 3.10 or newer"
say() { echo "gpu-node: $*" | tee -a "$([ -z "$root" ] && [ -w /dev/console ] && echo /dev/console || echo /dev/null)" >&2; }
trap 'say "cannot boot, this failed: $step"' ERR
mkdir -p "$home/bin" && cd "$home"
find_python() { for python in python3.{14,13,12,11,10} python3; do "$python" -c 'import bz2, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && return; done; false; }
find_python || { step="install Python"; for _ in 1 2 3; do
  dnf install -y -q python3.12 || { apt-get -o DPkg::Lock::Timeout=300 -q update && apt-get -o DPkg::Lock::Timeout=300 -q install -y python3; } && break
done; find_python; }
step="fetch s3://@BUCKET@/@KEY@"
if [ ! -d "$sha" ]; then
  cat >fetch.py <<'FETCH'
@FETCH@
FETCH
  { type aws >/dev/null 2>&1 && aws s3 cp --only-show-errors --region @REGION@ "s3://@BUCKET@/@KEY@" bundle.zip; } || "$python" fetch.py @REGION@ @BUCKET@ @KEY@ bundle.zip
  step="check the bundle" got="$(sha256sum bundle.zip | cut -d' ' -f1)"
  [ "$got" = "$sha" ] || { say "the bundle has the hash $got instead of $sha"; false; }
  step="unpack the bundle"
  rm -rf new && "$python" -m zipfile -e bundle.zip new && (cd new/gpu_constructs/on_node && "$python" -m zipfile -e _vendor.zip _vendor) && mv new "$sha" && rm bundle.zip
fi
step="boot"
(umask 077 && cat >config.json) <<'CONFIG'
@CONFIG@
CONFIG
printf '#!/bin/bash\nexec "%s" -I -c "import sys; sys.path[:0] = [%s, %s]; from gpu_constructs.on_node.command import main; sys.exit(main())" "$@"\n' \
  "$(command -v "$python")" "'$home/$sha'" "'$home/$sha/gpu_constructs/on_node/_vendor'" >bin/gpu-node
chmod 755 bin/gpu-node
bin/gpu-node boot
