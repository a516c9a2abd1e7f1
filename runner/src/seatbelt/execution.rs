//! How a known outcome is tried for real: the profile, what has to be there, and a
//! command for each step. It only says what to run, so it is the same everywhere.

use super::action::Action;
use super::facts::{Expected, Fact};
use super::subject::{Protocol, Target};

/// The program that does a step: a system's own that makes one call and says what
/// came of it.
const PERL: &str = "/usr/bin/perl";
/// The exit status of a step that the system refused (EPERM).
pub const REFUSED: i32 = 13;
/// The exit status of a step that failed in another way.
pub const FAILED: i32 = 14;
/// The exit status of `sandbox-exec` for a profile that it does not take.
pub const BAD_PROFILE: i32 = 65;
/// The program that puts a command under a profile.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// Rules that the start of a step's own program needs. They stand before the
/// profile's own, and speak of no path of a fact.
const SUPPORT: &str = r#"
(allow process-exec* (subpath "/usr/bin"))
(allow file-read* (literal "/") (subpath "/usr") (subpath "/System") (subpath "/Library/Perl"))
"#;

/// Makes one call, and says by its status what came of it.
const SCRIPT: &str = r#"
use Errno qw(EPERM ECONNREFUSED);
sub done { exit($_[0] ? 0 : $! == EPERM ? 13 : 14) }
my ($what, @a) = @ARGV;
if    ($what eq 'read')    { done(open(my $f, '<', $a[0])) }
elsif ($what eq 'list')    { done(opendir(my $d, $a[0])) }
elsif ($what eq 'stat')    { done(scalar(my @s = stat($a[0]))) }
elsif ($what eq 'lstat')   { done(scalar(my @s = lstat($a[0]))) }
elsif ($what eq 'readlink'){ done(defined(readlink($a[0]))) }
elsif ($what eq 'create')  { done(sysopen(my $f, $a[0], 0x0a01)) }
elsif ($what eq 'write')   { done(sysopen(my $f, $a[0], 1)) }
elsif ($what eq 'mkdir')   { done(mkdir($a[0])) }
elsif ($what eq 'symlink') { done(symlink('anywhere', $a[0])) }
elsif ($what eq 'remove')  { done(unlink($a[0])) }
elsif ($what eq 'rename')  { done(rename($a[0], $a[1])) }
elsif ($what eq 'link')    { done(link($a[0], $a[1])) }
elsif ($what eq 'setuid')  { done(chmod(04755, $a[0])) }
elsif ($what eq 'fork')    { my $p = fork; exit(0) if defined($p) && !$p; done(defined($p)) }
elsif ($what eq 'signal')  { done(kill(0, $a[0] eq 'self' ? $$ : $a[0])) }
elsif ($what eq 'child')   { my $p = fork; if (defined($p) && !$p) { sleep 60; exit 0 }
                             my $k = defined($p) && kill('KILL', $p); done($k) }
else {
  require Socket;
  my $unix = $what =~ /^unix/;
  my $type = $what =~ /udp/ ? Socket::SOCK_DGRAM() : Socket::SOCK_STREAM();
  my $family = $unix ? Socket::AF_UNIX() : $a[0] =~ /:/ ? Socket::AF_INET6() : Socket::AF_INET();
  my $to = $unix ? Socket::pack_sockaddr_un($a[0])
         : $family == Socket::AF_INET6()
           ? Socket::pack_sockaddr_in6($a[1], Socket::inet_pton($family, $a[0]))
           : Socket::pack_sockaddr_in($a[1], Socket::inet_aton($a[0]));
  socket(my $s, $family, $type, 0) or done(0);
  if ($what =~ /connect/) { my $c = connect($s, $to); done($c || $! == ECONNREFUSED) }
  my $b = bind($s, $to);
  done($b && ($what !~ /listen/ || listen($s, 1)));
}
"#;

/// How a fact is tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The profile, with what the start of a step's own program needs.
    pub profile: String,
    /// Parameters as `sandbox-exec` takes them.
    pub parameters: Vec<String>,
    /// What happens.
    pub trial: Trial,
}

/// What is run, and what comes of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Trial {
    /// The profile is refused with this message.
    Refusal(String),
    /// Commands, in order, each with what comes of it.
    Steps(Vec<(Vec<String>, Expected)>),
}

impl Fact {
    /// How the fact is tried for real, if it can be. It has to be placed in its
    /// directory before ([`Fact::in_root`]).
    ///
    /// # Errors
    /// Why it cannot be tried.
    pub fn execution(&self, root: &str, host_process: u32) -> Result<Execution, String> {
        let text = self.profile.text();
        let parameters = self.parameters.iter();
        let parameters = parameters
            .flat_map(|(name, value)| ["-D".to_owned(), format!("{name}={value}")])
            .collect();
        if let Some(message) = &self.refused {
            return Ok(Execution {
                profile: text,
                parameters,
                trial: Trial::Refusal(message.clone()),
            });
        }
        for path in self.world.files.keys().chain(&self.world.directories) {
            place(path, root)?;
        }
        for path in self.world.links.keys().chain(self.world.hard_links.keys()) {
            place(path, root)?;
        }
        if let Some(program) = self.world.programs.first() {
            return Err(format!(
                "the program {} is none of a Mac's own",
                program.path
            ));
        }
        let mut steps = Vec::new();
        for step in &self.steps {
            if step.expect == Expected::Unknown {
                return Err("what comes of it is not known".to_owned());
            }
            steps.push((command(&step.action, root, host_process)?, step.expect));
        }
        let profile = if self.whole {
            text
        } else {
            text.replacen("(version 1)", &format!("(version 1){SUPPORT}"), 1)
        };
        Ok(Execution {
            profile,
            parameters,
            trial: Trial::Steps(steps),
        })
    }
}

/// Whether a path may be made for a fact: below its directory or that for temporary
/// files.
fn place(path: &str, root: &str) -> Result<(), String> {
    let below = |parent: &str| {
        path.strip_prefix(parent)
            .is_some_and(|rest| rest.starts_with('/'))
    };
    if below(root) || below("/private/tmp") {
        Ok(())
    } else {
        Err(format!("{path} is not the fact's own to make"))
    }
}

/// Paths that are there on every Mac and that a step may look at.
const SYSTEM: [&str; 7] = [
    "/etc/hosts",
    "/private/etc/hosts",
    "/etc/resolv.conf",
    "/private/etc/resolv.conf",
    "/dev/urandom",
    "/dev/null",
    "/dev/zero",
];

/// The command of a step.
fn command(action: &Action, root: &str, host_process: u32) -> Result<Vec<String>, String> {
    let step = |arguments: &[&str]| {
        let words = [PERL, "-e", SCRIPT].iter().chain(arguments);
        words.map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    let on = |what: &str, path: &str| {
        let is_of_the_system = SYSTEM.contains(&path) || ["/tmp", "/etc", "/var"].contains(&path);
        let spelled = path
            .strip_prefix("/System/Volumes/Data")
            .unwrap_or(path)
            .replacen(
                "/tmp/",
                "/private/tmp/",
                usize::from(path.starts_with("/tmp/")),
            );
        if is_of_the_system || path == root || place(&spelled, root).is_ok() {
            Ok(step(&[what, path]))
        } else {
            Err(format!("{path} is not there on every Mac"))
        }
    };
    let between = |what: &str, from: &str, to: &str| {
        place(from, root)?;
        place(to, root)?;
        Ok(step(&[what, from, to]))
    };
    let loopback = |host: &str| match host {
        "localhost" => Ok("127.0.0.1".to_owned()),
        "127.0.0.1" | "::1" | "::ffff:127.0.0.1" => Ok(host.to_owned()),
        other => Err(format!("{other} is not this machine")),
    };
    match action {
        Action::Read(path) => on("read", path),
        Action::List(path) => on("list", path),
        Action::Stat(path) => on("stat", path),
        Action::Lstat(path) => on("lstat", path),
        Action::Readlink(path) => on("readlink", path),
        Action::Create(path) => on("create", path),
        Action::Write(path) => on("write", path),
        Action::MakeDirectory(path) => on("mkdir", path),
        Action::Symlink(path) => on("symlink", path),
        Action::Remove(path) => on("remove", path),
        Action::Rename(paths) => between("rename", &paths.from, &paths.to),
        Action::Link(paths) => between("link", &paths.from, &paths.to),
        Action::Change(update) if update.what == super::action::Metadata::SetUserId => {
            on("setuid", &update.path)
        }
        Action::UnixConnect(path) => place(path, root).map(|()| step(&["unix-connect", path])),
        Action::UnixBind(path) => place(path, root).map(|()| step(&["unix-bind", path])),
        Action::Tcp(to) => Ok(step(&[
            "tcp-connect",
            &loopback(&to.host)?,
            &to.port.to_string(),
        ])),
        Action::Udp(to) => Ok(step(&[
            "udp-connect",
            &loopback(&to.host)?,
            &to.port.to_string(),
        ])),
        Action::Listen(at) => Ok(step(&[
            "tcp-listen",
            &loopback(&at.host)?,
            &at.port.to_string(),
        ])),
        Action::Bind(at) => {
            let what = match at.protocol {
                Protocol::Tcp => "tcp-bind",
                Protocol::Udp => "udp-bind",
            };
            Ok(step(&[what, &loopback(&at.host)?, &at.port.to_string()]))
        }
        Action::Fork => Ok(step(&["fork"])),
        Action::Signal(Target::Itself) => Ok(step(&["signal", "self"])),
        Action::Signal(Target::Other) => Ok(step(&["signal", &host_process.to_string()])),
        // A child is another process of the same sandbox too.
        Action::Signal(Target::Child | Target::SameSandbox) => Err(
            "it needs a child, and whether that may be made is a question of its own".to_owned(),
        ),
        Action::Start(program) => {
            let arguments: &[&str] = match program.as_str() {
                "/usr/bin/true" | "/bin/ls" | "/bin/cat" | "/bin/ps" => &[],
                "/bin/sh" => &["-c", ":"],
                "/usr/bin/git" | "/usr/bin/curl" => &["--version"],
                other => return Err(format!("how {other} ends is not known")),
            };
            let words = std::iter::once(program.as_str()).chain(arguments.iter().copied());
            Ok(words.map(str::to_owned).collect())
        }
        Action::Sandbox(inner) => Ok([SANDBOX_EXEC, "-p", inner, "/usr/bin/true"]
            .map(str::to_owned)
            .to_vec()),
        _ => Err("no program of a Mac's own does this alone".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::corpus::Source;
    use crate::seatbelt::Facts;

    const ROOT: &str = "/private/var/folders/xy/T/facts";

    fn facts() -> Vec<Fact> {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance");
        let facts = Facts::load(&Source::Directory(corpus)).expect("the facts");
        facts.facts
    }

    #[test]
    fn most_facts_can_be_tried_and_the_others_say_why_not() {
        let (mut can, mut cannot) = (0, Vec::new());
        for fact in facts() {
            match fact.in_root(ROOT).execution(ROOT, 1) {
                Ok(_) => can += 1,
                Err(reason) => cannot.push(format!("{}: {reason}", fact.id)),
            }
        }
        assert!(
            can > 80,
            "{can} facts can be tried, and not\n{}",
            cannot.join("\n")
        );
    }

    #[test]
    fn rules_for_the_start_stand_before_those_of_the_profile() {
        let id = "precedence.wide-denial-loses";
        let fact = facts().into_iter().find(|fact| fact.id == id);
        let fact = fact.expect("a fact").in_root(ROOT);
        let execution = fact.execution(ROOT, 1).expect("an execution");
        let support = execution.profile.find("process-exec*").expect("support");
        let own = execution.profile.find("(deny default)").expect("its own");
        assert!(support < own);
        assert!(execution.profile.contains(&format!("{ROOT}/.env")));
        let Trial::Steps(steps) = execution.trial else {
            panic!("steps");
        };
        let (command, expected) = &steps[0];
        assert_eq!(*expected, Expected::Allowed);
        assert_eq!(command.last(), Some(&format!("{ROOT}/.env")));
    }

    #[test]
    fn nothing_outside_of_a_facts_own_directories_is_made() {
        for path in ["/Users/me/x", "/etc/x", "/private/tmpx", "/private/tmp"] {
            assert!(place(path, ROOT).is_err(), "{path}");
        }
        assert!(place("/private/tmp/x", ROOT).is_ok());
        let write = Action::Write("/Users/me/.zshrc".to_owned());
        assert!(command(&write, ROOT, 1).is_err());
        let connect = Action::Tcp(crate::seatbelt::Connect {
            host: "example.com".to_owned(),
            port: 80,
        });
        assert!(command(&connect, ROOT, 1).is_err());
    }
}
