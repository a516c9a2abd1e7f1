//! Mounts, namespaces, names and privileges: what the kernel lets it change.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::fcntl::{AT_FDCWD, AtFlags, RenameFlags, renameat2};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{chdir, chroot, getegid, geteuid, linkat};

use super::process::number;
use super::{Failure, Outcome, calls, denied, say};

const NONE: Option<&str> = None;

/// `mount-tmpfs PATH`.
pub(super) fn mount_tmpfs(arguments: &[&str]) -> Outcome {
    let flags = MsFlags::empty();
    mount(Some("tmpfs"), arguments[0], Some("tmpfs"), flags, NONE).map_err(denied("mount"))?;
    say("mounted")
}

/// `bind-mount SOURCE TARGET`.
pub(super) fn bind_mount(arguments: &[&str]) -> Outcome {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(arguments[0]), arguments[1], NONE, flags, NONE).map_err(denied("mount"))?;
    say("mounted")
}

/// `remount-writable PATH`. Only this mount's own flag is taken off, never the
/// file system's, which the host's other mounts of it have too.
pub(super) fn remount_writable(arguments: &[&str]) -> Outcome {
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT;
    mount(NONE, arguments[0], NONE, flags, NONE).map_err(denied("mount"))?;
    say("remounted")
}

/// `unmount PATH`.
pub(super) fn unmount(arguments: &[&str]) -> Outcome {
    umount2(arguments[0], MntFlags::MNT_DETACH).map_err(denied("umount"))?;
    say("unmounted")
}

/// `new-user-namespace [then COMMAND...]` (user_namespaces(7)).
pub(super) fn new_user_namespace(arguments: &[&str]) -> Outcome {
    let (user, group) = (geteuid(), getegid());
    let flags = CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS;
    unshare(flags).map_err(denied("unshare"))?;
    // A launcher's filter may forbid the maps and not the namespace: the
    // namespace is what was asked for.
    let _ = fs::write("/proc/self/setgroups", "deny");
    let _ = fs::write("/proc/self/uid_map", format!("0 {user} 1"));
    let _ = fs::write("/proc/self/gid_map", format!("0 {group} 1"));
    say("created")?;
    let command = match arguments {
        ["then", command @ ..] => command,
        command => command,
    };
    let Some((program, rest)) = command.split_first() else {
        return Ok(());
    };
    let error = Command::new(program).args(rest).exec();
    Err(Failure::Denied("exec", error))
}

/// `set-hostname NAME`.
pub(super) fn set_hostname(arguments: &[&str]) -> Outcome {
    calls::set_hostname(arguments[0]).map_err(denied("sethostname"))?;
    say("set")
}

/// `exchange A B`.
pub(super) fn exchange(arguments: &[&str]) -> Outcome {
    let flags = RenameFlags::RENAME_EXCHANGE;
    renameat2(AT_FDCWD, arguments[0], AT_FDCWD, arguments[1], flags)
        .map_err(denied("renameat2"))?;
    say("exchanged")
}

/// How long two paths are swapped at most, should whoever asked for it have
/// forgotten about it.
const SWAPPING: Duration = Duration::from_secs(120);

/// How long each state stays: about as long as a launcher takes from one look at
/// a path to the next, and no load on the machine that it runs on.
const BETWEEN: Duration = Duration::from_micros(100);

/// Every so many swaps the last few leave each state for so long, so that a launcher
/// that refuses what it sees changing gets to start something.
const ROUND: usize = 400;
const SLOW: (usize, Duration) = (3, Duration::from_millis(12));

/// `exchange-for-ever A B`, until it is killed.
pub(super) fn exchange_for_ever(arguments: &[&str]) -> Outcome {
    let end = Instant::now() + SWAPPING;
    for swaps in 1.. {
        if Instant::now() >= end {
            break;
        }
        // What stands at a path may be in use, or replaced, for a moment.
        let flags = RenameFlags::RENAME_EXCHANGE;
        let _ = renameat2(AT_FDCWD, arguments[0], AT_FDCWD, arguments[1], flags);
        let is_slow = swaps % ROUND >= ROUND - SLOW.0;
        // No event tells when the other side looks: each state has to stand for a moment.
        std::thread::sleep(if is_slow { SLOW.1 } else { BETWEEN });
    }
    Ok(())
}

/// `kernel-call NAME`.
pub(super) fn kernel_call(arguments: &[&str]) -> Outcome {
    let unknown = || Failure::Usage(format!("no call {:?} is known here", arguments[0]));
    let outcome = calls::harmless(arguments[0]).ok_or_else(unknown)?;
    outcome.map_err(denied("the call"))?;
    say("permitted")
}

/// `climb-root COMMAND...`: the way out of a root that was changed by chroot(2):
/// change it again with the working directory above, and climb.
pub(super) fn climb_root(arguments: &[&str]) -> Outcome {
    let inner = Path::new(".climb");
    let _ = fs::create_dir(inner);
    chroot(inner).map_err(denied("chroot"))?;
    for _ in 0..64 {
        chdir("..").map_err(denied("chdir"))?;
    }
    chroot(".").map_err(denied("chroot"))?;
    say("climbed")?;
    let error = Command::new(arguments[0]).args(&arguments[1..]).exec();
    Err(Failure::Denied("exec", error))
}

/// `link-descriptor NUMBER PATH`: by the descriptor itself, which asks for a
/// privilege, or by its name in /proc, which does not (open(2), O_TMPFILE).
pub(super) fn link_descriptor(arguments: &[&str]) -> Outcome {
    let descriptor = number(arguments[0])?;
    let by_name = Path::new("/proc/self/fd").join(descriptor.to_string());
    let follow = AtFlags::AT_SYMLINK_FOLLOW;
    let linked = linkat(AT_FDCWD, &by_name, AT_FDCWD, arguments[1], follow);
    if linked.is_err() {
        let inherited = calls::duplicate(descriptor).map_err(denied("dup"))?;
        linkat(
            inherited,
            "",
            AT_FDCWD,
            arguments[1],
            AtFlags::AT_EMPTY_PATH,
        )
        .map_err(denied("linkat"))?;
    }
    say("linked")
}

/// `capabilities` (capabilities(7)).
pub(super) fn capabilities(_: &[&str]) -> Outcome {
    let [effective, permitted, inheritable] = calls::capabilities().map_err(denied("capget"))?;
    let bounding = (0..64).map_while(|number| Some((number, calls::is_bounding(number)?)));
    let bounding: u64 = bounding
        .filter(|(_, holds)| *holds)
        .map(|(number, _)| 1 << number)
        .sum();
    say(format_args!("effective {effective:016x}"))?;
    say(format_args!("permitted {permitted:016x}"))?;
    say(format_args!("inheritable {inheritable:016x}"))?;
    say(format_args!("bounding {bounding:016x}"))?;
    let barred = if calls::has_no_new_privileges() {
        "yes"
    } else {
        "no"
    };
    say(format_args!("no-new-privileges {barred}"))
}
