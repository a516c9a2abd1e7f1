//! What a failed launch means.

use super::host::Host;
use crate::bubblewrap::Program;
use crate::launcher::LaunchError;

/// The error for what bubblewrap said when it was asked for the same sandbox without a
/// command.
pub(crate) fn failure(program: &Program, said: Option<&str>) -> LaunchError {
    explain(program, said.unwrap_or_default(), &Host::read())
}

fn explain(program: &Program, said: &str, host: &Host) -> LaunchError {
    let line = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("bwrap: "));
    let sandbox = |(cause, remedy): (String, String)| LaunchError::Sandbox { cause, remedy };
    let Some(line) = line else {
        return sandbox((
            format!("{} ended before the command began", program.path.display()),
            "`perimeter doctor` tries what this host can do".to_owned(),
        ));
    };
    let mentions = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if line.starts_with("execvp ") && mentions(&["Text file busy"]) {
        return LaunchError::Execute {
            cause: "the program is open for writing".to_owned(),
            remedy: "have what writes it close it first".to_owned(),
        };
    }
    if line.starts_with("execvp ") {
        // The sandbox was made, and the program was there before.
        return LaunchError::Execute {
            cause: "the program could not be started, and is there".to_owned(),
            remedy: "look whether it is made for this machine, and whether its loader or \
                     interpreter is visible inside"
                .to_owned(),
        };
    }
    if mentions(&[
        "new namespace",
        "uid map",
        "gid map",
        "unshare",
        "user namespace",
    ]) {
        let (cause, remedy) = host.namespaces_refused();
        return sandbox((format!("{cause} ({line})"), remedy));
    }
    if mentions(&["RTM_NEWADDR", "RTM_NEWLINK", "loopback"]) {
        // What that restriction looks like when the namespace could be made, but is
        // without rights (the public report containers/bubblewrap#632).
        let (cause, remedy) = host.namespaces_refused();
        return sandbox((format!("{cause} ({line})"), remedy));
    }
    if mentions(&["mount proc"]) {
        let what = match &host.container {
            Some(container) => format!("this {container} container covers parts of /proc"),
            None => "parts of /proc are covered".to_owned(),
        };
        return sandbox((
            format!("{what}, so that no new one can be mounted ({line})"),
            "start the container with an uncovered /proc (Docker: `--security-opt \
             systempaths=unconfined`; Podman: `--security-opt unmask=ALL`)"
                .to_owned(),
        ));
    }
    if mentions(&["/proc/sys/kernel/overflowuid"]) {
        return sandbox((
            format!("/proc is not mounted ({line})"),
            "mount it: mount -t proc proc /proc".to_owned(),
        ));
    }
    if line == "Failed to mount tmpfs: No such file or directory" {
        // It puts its root together there.
        return sandbox((
            format!("there is no /tmp, which bubblewrap needs ({line})"),
            "make it: mkdir -m 1777 /tmp".to_owned(),
        ));
    }
    if line.starts_with("Can't chdir to") && mentions(&["Permission denied"]) {
        return sandbox((
            format!("the command may not enter the directory to start in ({line})"),
            "look at the directories above it: inside, user 0 passes over no permission either"
                .to_owned(),
        ));
    }
    if mentions(&["Race condition"]) {
        return sandbox((
            format!("a path was swapped for another while it was mounted ({line})"),
            "look for what changes the workspace and the grants, and try again".to_owned(),
        ));
    }
    if mentions(&["Unknown option"]) {
        return sandbox((
            format!("{} is too old ({line})", program.path.display()),
            "install bubblewrap 0.6.1 or later".to_owned(),
        ));
    }
    sandbox((
        format!("bubblewrap says: {line}"),
        "`perimeter plan` shows its arguments, and `perimeter doctor` what this host can do"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::bubblewrap::Features;

    #[rstest]
    #[case::no_namespaces(
        "bwrap: No permissions to create new namespace, likely because the kernel does not \
         allow non-privileged user namespaces.",
        "user.max_user_namespaces=15000"
    )]
    #[case::apparmor(
        "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
        "max_user"
    )]
    #[case::covered_proc(
        "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
        "systempaths=unconfined"
    )]
    #[case::old("bwrap: Unknown option --disable-userns", "0.6.1")]
    #[case::no_proc(
        "bwrap: Can't read /proc/sys/kernel/overflowuid: No such file or directory",
        "mount -t proc"
    )]
    #[case::no_tmp(
        "bwrap: Failed to mount tmpfs: No such file or directory",
        "mkdir -m 1777 /tmp"
    )]
    #[case::closed(
        "bwrap: Can't chdir to /x/work: Permission denied",
        "directories above"
    )]
    #[case::busy("bwrap: execvp ./tool: Text file busy", "close it first")]
    #[case::race("bwrap: Race condition binding dirfd", "try again")]
    #[case::other("bwrap: Can't bind mount /x on /y: whatever", "perimeter plan")]
    #[case::silent("", "perimeter doctor")]
    fn a_failure_names_its_remedy(#[case] said: &str, #[case] remedy: &str) {
        let program = Program {
            path: "/usr/bin/bwrap".into(),
            features: Features::default(),
        };
        let host = Host {
            maximum: Some(0),
            ..Host::default()
        };
        let error = explain(&program, said, &host).to_string();
        assert!(error.contains(remedy), "{error}");
    }
}
