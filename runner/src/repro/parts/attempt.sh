# One attempt: the fixture, the launches, and what is looked for.
attempt() {
    who=$1
    notes=$top/notes.$who
    root=$top/$who
    mkdir "$notes" "$root"
    : >"$notes/shown"
    began_all=yes
    any_started=no
    control_started=no
    timed_out=no
    survived=no
    leftovers=no
    leaks=no
    changed=no
    refusal=
    manner=
    shows=yes
    # Without a fixture that is whole, nothing is tried.
    stage=fixture
    set -e
    places
    fixture
    set +e
    stage=
    steps
    look
    control
    leave
}

# The fixture goes; its services and processes with it.
leave() {
    [ -z "$host" ] || kill -TERM "$host" 2>/dev/null
    host=
    end_below "$root"
}
