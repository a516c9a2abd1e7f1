#!/bin/sh
# A launcher that needs code: reads a request (JSON), and starts its command under
# bubblewrap. Whatever goes wrong before that ends the script, and nothing is started.
set -eu

bwrap=$(command -v bwrap) || { echo "shell.sh: bwrap is not on PATH" >&2; exit 125; }

# The command's variables, then bubblewrap's command line. Each word comes quoted for
# the shell, so that spaces and newlines stay what they are.
words=$(jq --raw-output --arg bwrap "$bwrap" '
  def bind(option): map([option, ., .]) | add // [];
  (.environment // {} | to_entries | map("\(.key)=\(.value)"))
  + [$bwrap, "--unshare-all", "--die-with-parent", "--new-session"]
  + (if .policy.network == "none" then [] else ["--share-net"] end)
  + (["/usr", "/etc"] | bind("--ro-bind"))
  + (["/bin", "/sbin", "/lib", "/lib64"] | bind("--ro-bind-try"))
  + ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
  + ([.workspace] | bind("--bind"))
  + (.policy.read_only // [] | bind("--ro-bind"))
  + (.policy.read_write // [] | bind("--bind"))
  + ["--chdir", .cwd, "--"] + .command
  | @sh' "$1")
eval "set -- $words"

exec env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp "$@"
