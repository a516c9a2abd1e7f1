# One launch, watched: `launch START OPTION... -- COMMAND...`. START is the line
# by which the command proves that it started, or nothing; what the command may
# change is in the file `free`, a line each.
launch() {
    start=$1
    shift
    started=no
    status=none
    : >"$notes/preamble"
    : >"$notes/output"
    : >"$notes/errors"
    : >"$notes/raw"
    : >"$notes/survivors"
    if [ ! -d "$directory" ]; then
        say "the launcher is started in $directory, which is no directory" >"$notes/errors"
        no_directory=yes
    else
        no_directory=no
        before
        run_launcher "$@"
        # What came before the start line is the launcher's own text.
        line=$(grep -n -a -x -F -m 1 -e "$start" "$notes/raw" | cut -d : -f 1)
        if [ -z "$start" ]; then
            cp "$notes/raw" "$notes/output"
        elif [ -n "$line" ]; then
            started=yes
            any_started=yes
            head -n $((line - 1)) "$notes/raw" >"$notes/preamble"
            tail -n +$((line + 1)) "$notes/raw" >"$notes/output"
        else
            cp "$notes/raw" "$notes/preamble"
        fi
        if [ -s "$notes/survivors" ]; then
            survived=yes
            leftovers=yes
        fi
        after
    fi
    silent=no
    grep -q '[^[:space:]]' "$notes/errors" || silent=yes
    last="$status $no_directory $silent"
    if [ -n "$start" ] && [ "$started" = no ]; then
        # The first that did not start tells what a refusal was like.
        if [ "$began_all" = yes ]; then
            refusal=$last
        fi
        began_all=no
    fi
    show
}

# Before and after each launch: what is watched without being asked.
look_at() {
    # What runs beside the launches stops meanwhile.
    [ -z "$beside" ] || kill -STOP "-$beside" 2>/dev/null
    free_paths protected >"$notes/$1"
    [ -z "$beside" ] || kill -CONT "-$beside" 2>/dev/null
}

before() {
    look_at protected
    : >"$notes/stamp"
    # A tick of the file system's clock lies between the stamp and the command.
    sleep 0.01
}

after() {
    look_at protected.now
    if ! diff "$notes/protected" "$notes/protected.now" >"$notes/difference"; then
        changed=yes
        say "      changed outside of what may be written:"
        sed -n "s|$root/||; s/^[<>]/        &/p" "$notes/difference" | head -n 20
    fi
    look_for_secrets
}

# Shows what came of it.
show() {
    case $started in
    yes) say "      the command started; the launcher ended with status $status" ;;
    no) say "      the launcher ended with status $status" ;;
    esac
    for stream in preamble output errors; do
        if [ -s "$notes/$stream" ]; then
            say "      $stream:"
            head -c 1200 "$notes/$stream" | cat -v | head -n 12 | sed 's/^/        | /'
        fi
    done
    if [ -s "$notes/survivors" ]; then
        say "      still running after the launcher had ended:"
        cut -c 1-120 "$notes/survivors" | sed 's/^/        /'
    fi
}
