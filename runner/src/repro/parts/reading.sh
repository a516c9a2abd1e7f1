# The reading follows the order of Perimeter's judge.
verdict() {
    say
    say "reading: $1"
    say "    $2"
    case $1 in
    conforms) exit 0 ;;
    vacuous) exit 3 ;;
    *) exit 1 ;;
    esac
}

# What a launch that did not start is: `refused STATUS NO-DIRECTORY SILENT`.
refused() {
    if [ "$1" = 0 ]; then
        verdict deviates "nothing was started, and the launcher reports success"
    elif [ "$2" = yes ]; then
        verdict conforms "refused, and nothing was started"
    elif [ -n "$refuses_with" ] && [ "$1" != "$refuses_with" ]; then
        verdict deviates "refused, with another exit status than the launcher's own $refuses_with"
    elif [ "$3" = yes ]; then
        verdict deviates "refused without a word of explanation"
    else
        verdict conforms "refused, and nothing was started"
    fi
}

watched() {
    [ "$changed" = no ] ||
        verdict escaped "something outside the writable grants changed"
}

ended() {
    [ "$timed_out" = no ] ||
        verdict timeout "the deadline passed, and everything was killed"
    [ "$leftovers" = no ] ||
        verdict leaked "a process outlived the launcher"
}
