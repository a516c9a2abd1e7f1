# A shell command of the host, outside of any sandbox.
on_host() {
    (
        cd "$root" &&
            exec env -i PATH="$PATH" HOME="$home" LC_ALL=C GIT_CONFIG_NOSYSTEM=1 \
                GIT_AUTHOR_NAME=Fixture GIT_AUTHOR_EMAIL=fixture@example.invalid \
                GIT_AUTHOR_DATE=2024-01-01T00:00:00Z \
                GIT_COMMITTER_NAME=Fixture GIT_COMMITTER_EMAIL=fixture@example.invalid \
                GIT_COMMITTER_DATE=2024-01-01T00:00:00Z bash -c "$1"
    ) </dev/null >"$notes/host.log" 2>&1 && return
    cat "$notes/host.log" >&2
    die "this command of the host failed: $1"
}
