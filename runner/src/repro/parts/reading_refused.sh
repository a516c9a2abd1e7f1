read_verdict() {
    [ "$leaks" = no ] ||
        verdict escaped "a secret showed where the case does not allow it"
    [ "$shows" = no ] ||
        verdict escaped "the command was started, and the launch had to be refused"
    watched
    [ "$possible" = yes ] ||
        verdict vacuous "without a sandbox it does not start either"
    ended
    [ "$control_started" = yes ] ||
        verdict overblocked "the mended launch did not start either, so nothing was refused"
    # shellcheck disable=SC2086 # three words
    refused $last
}
