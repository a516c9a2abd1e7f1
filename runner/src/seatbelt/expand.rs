//! An action to the checks that a real system makes for it.

use super::action::{Action, Bind, Connect, LinkTo, Metadata, TwoPaths};
use super::semantics::{Rule, Semantics};
use super::subject::{Address, Protocol, Subject, Target};
use super::tables::Tables;
use super::world::{World, ancestors};

/// A check that an action leads to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planned {
    pub(super) operation: String,
    pub(super) subject: Subject,
    pub(super) kind: Kind,
}

/// How sure a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is made.
    Sure,
    /// It may be made: a denial of it makes the action's answer unknown.
    Perhaps,
    /// It fails whatever the profile says, for this reason.
    Never(&'static str),
}

/// What the expansion of an action rests on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expander<'a> {
    pub(super) world: &'a World,
    pub(super) tables: &'a Tables,
    pub(super) semantics: Semantics,
}

type Checks = Result<Vec<Planned>, String>;

fn sure(operation: &str, subject: Subject) -> Planned {
    Planned {
        operation: operation.to_owned(),
        subject,
        kind: Kind::Sure,
    }
}

fn perhaps(operation: &str, subject: Subject) -> Planned {
    Planned {
        kind: Kind::Perhaps,
        ..sure(operation, subject)
    }
}

impl Expander<'_> {
    /// Every check of an action, in order.
    pub(super) fn checks(&self, action: &Action) -> Checks {
        let named = |operation: &str, filter: &str, name: &str| {
            Ok(vec![sure(operation, Subject::name(filter, name))])
        };
        match action {
            Action::Read(path) | Action::List(path) => self.at(path, true, &["file-read-data"]),
            Action::Stat(path) => self.at(path, true, &["file-read-metadata"]),
            Action::Lstat(path) | Action::Readlink(path) => {
                self.at(path, false, &["file-read-metadata"])
            }
            Action::Realpath(path) => self.real_path(path),
            Action::Exists(path) => {
                let mut checks = self.at(path, true, &["file-test-existence"])?;
                if let Some(last) = checks.last() {
                    let subject = last.subject.clone();
                    checks.push(perhaps("file-read-metadata", subject));
                }
                Ok(checks)
            }
            Action::ReadAttribute(path) => self.at(path, true, &["file-read-xattr"]),
            Action::Create(path) => self.made(path, true, "REGULAR-FILE"),
            Action::Write(path) => self.at(path, true, &["file-write-data"]),
            Action::MakeDirectory(path) => self.made(path, false, "DIRECTORY"),
            Action::Symlink(path) | Action::SymlinkTo(LinkTo { at: path, .. }) => {
                self.made(path, false, "SYMLINK")
            }
            Action::MakeNode(path) => self.at(path, false, &["file-mknod"]),
            Action::MakeFifo(path) => {
                let mut checks = self.made(path, false, "FIFO")?;
                // Whether that is asked for a pipe too is not known.
                let pipe = checks.last().map(|last| last.subject.clone());
                checks.extend(pipe.map(|pipe| perhaps("file-mknod", pipe)));
                Ok(checks)
            }
            Action::Remove(path) => self.at(path, false, &["file-write-unlink"]),
            Action::Rename(paths) => self.rename(paths),
            Action::Link(paths) => {
                let mut checks = self.at(&paths.from, true, &["file-link"])?;
                checks.extend(self.at(&paths.to, false, &["file-write-create"])?);
                Ok(checks)
            }
            Action::Clone(paths) => self.clone_of(paths),
            Action::Change(update) => self.at(
                &update.path,
                true,
                match update.what {
                    Metadata::Mode => &["file-write-mode"],
                    Metadata::SetUserId => &["file-write-mode", "file-write-setugid"],
                    Metadata::Owner => &["file-write-owner"],
                    Metadata::Times => &["file-write-times"],
                    Metadata::Flags => &["file-write-flags"],
                    Metadata::Acl => &["file-write-acl"],
                    Metadata::Attribute => &["file-write-xattr"],
                },
            ),
            Action::Start(program) => self.start(program),
            Action::Fork => Ok(vec![sure("process-fork", Subject::default())]),
            Action::Tcp(to) => Ok(outbound(to, Protocol::Tcp)),
            Action::Udp(to) => Ok(outbound(to, Protocol::Udp)),
            Action::Bind(at) => Ok(vec![sure("network-bind", local(at))]),
            Action::Listen(at) => Ok(vec![
                sure("network-bind", local(at)),
                sure("network-inbound", local(at)),
            ]),
            Action::UnixConnect(path) => self.unix_connect(path),
            Action::UnixBind(path) => self.unix_bind(path),
            Action::ResolveName(_) => self.unix_connect(&self.world.name_service),
            Action::Socket(socket) => self.socket(socket),
            Action::Signal(target) => Ok(vec![sure("signal", Subject::target(*target))]),
            Action::ProcessInfo(target) => Ok(vec![information(*target)]),
            Action::ProcessArguments(target) => {
                // It is asked for by number; whether a rule about the name reaches it
                // is not known.
                let number = Subject::name("sysctl-name", "a value without a name");
                let name = Subject::name("sysctl-name", "kern.procargs2");
                let mut checks = vec![sure("sysctl-read", number), perhaps("sysctl-read", name)];
                if self.semantics.has(Rule::ProcessArguments) {
                    checks.push(information(*target));
                }
                Ok(checks)
            }
            Action::ListProcesses => Ok(vec![sure("process-info-listpids", Subject::default())]),
            Action::TaskPort(target) => {
                Ok(vec![sure("mach-priv-task-port", Subject::target(*target))])
            }
            Action::SysctlRead(name) => named("sysctl-read", "sysctl-name", name),
            Action::SysctlWrite(name) => named("sysctl-write", "sysctl-name", name),
            Action::MachLookup(name) => named("mach-lookup", "global-name", name),
            Action::MachRegister(name) => named("mach-register", "global-name", name),
            Action::Ioctl(request) => self.ioctl(&request.path, request.command.as_deref()),
            Action::Terminal(path) => self.terminal(path),
            Action::PseudoTerminal => {
                let mut checks = vec![sure("pseudo-tty", Subject::default())];
                checks.extend(self.terminal(&self.world.terminals.multiplexer)?);
                checks.extend(self.terminal(&self.world.terminals.device)?);
                Ok(checks)
            }
            Action::Semaphore(name) => Ok(["create", "open", "wait", "post", "unlink"]
                .map(|what| {
                    let name = Subject::name("ipc-posix-name", name);
                    sure(&format!("ipc-posix-sem-{what}"), name)
                })
                .to_vec()),
            Action::SharedMemory(shared) => {
                let subject = || Subject::name("ipc-posix-name", &shared.name);
                let mut checks = vec![sure("ipc-posix-shm-read-data", subject())];
                if shared.write {
                    checks.push(sure("ipc-posix-shm-write-create", subject()));
                    checks.push(sure("ipc-posix-shm-write-data", subject()));
                }
                Ok(checks)
            }
            Action::SysvSemaphore => Ok(vec![sure("ipc-sysv-sem", Subject::default())]),
            Action::PreferencesRead(domain) => {
                named("user-preference-read", "preference-domain", domain)
            }
            Action::PreferencesWrite(domain) => {
                named("user-preference-write", "preference-domain", domain)
            }
            Action::IokitOpen(class) => named("iokit-open*", "iokit-registry-entry-class", class),
            Action::AppleEvent(to) => named("appleevent-send", "appleevent-destination", to),
            Action::OpenApplication => {
                let service = "com.apple.coreservices.launchservicesd";
                Ok(vec![
                    sure("mach-lookup", Subject::name("global-name", service)),
                    sure("lsopen", Subject::default()),
                ])
            }
            Action::Sandbox(_) | Action::Any(_) => Ok(Vec::new()),
            Action::Check(check) => self.raw(check),
        }
    }

    /// The links on the way to a path, and the operations at its end.
    pub(super) fn at(&self, path: &str, follow: bool, operations: &[&str]) -> Checks {
        let resolved = self.world.resolve(path, follow, self.semantics)?;
        let nodes = resolved.nodes.iter();
        let mut checks: Vec<Planned> = nodes
            .map(|node| sure("file-read-metadata", Subject::path(node)))
            .collect();
        for operation in operations {
            checks.push(sure(operation, Subject::path(&resolved.path)));
        }
        Ok(checks)
    }

    /// A copy by reference. What lies beneath a directory is not asked about.
    fn clone_of(&self, paths: &TwoPaths) -> Checks {
        let mut checks = self.at(&paths.from, true, &["file-clone"])?;
        let kind = if paths.directory {
            "DIRECTORY"
        } else {
            "REGULAR-FILE"
        };
        let number = self.tables.constant("vnode-type", kind);
        if let (Some(last), Some(number)) = (checks.last_mut(), number) {
            last.subject.numbers.insert("vnode-type".to_owned(), number);
        }
        let from = checks.last().map(|last| last.subject.clone());
        // A clone's content is that of the file: whether reading it is checked besides
        // is not known.
        checks.extend(from.map(|from| perhaps("file-read-data", from)));
        checks.extend(self.made(&paths.to, false, kind)?);
        Ok(checks)
    }

    fn made(&self, path: &str, follow: bool, kind: &str) -> Checks {
        let mut checks = self.at(path, follow, &["file-write-create"])?;
        let number = self.tables.constant("vnode-type", kind);
        if let (Some(last), Some(number)) = (checks.last_mut(), number) {
            last.subject.numbers.insert("vnode-type".to_owned(), number);
        }
        Ok(checks)
    }

    fn real_path(&self, path: &str) -> Checks {
        let resolved = self.world.resolve(path, true, self.semantics)?;
        let mut checks = Vec::new();
        let nodes = resolved.nodes.iter().map(String::as_str);
        let parents = ancestors(&resolved.path).filter(|_| self.semantics.has(Rule::Ancestors));
        for path in nodes.chain(parents).chain([resolved.path.as_str()]) {
            checks.push(sure("file-read-metadata", Subject::path(path)));
        }
        Ok(checks)
    }

    fn rename(&self, paths: &TwoPaths) -> Checks {
        let mut checks = if self.semantics.has(Rule::RenameRemoves) {
            self.at(&paths.from, false, &["file-write-unlink"])?
        } else {
            Vec::new()
        };
        if self.semantics.has(Rule::RenameCreates) {
            checks.extend(self.at(&paths.to, false, &["file-write-create"])?);
        }
        if paths.replaces {
            checks.extend(self.at(&paths.to, false, &["file-write-unlink"])?);
        }
        Ok(checks)
    }

    /// What the start of a program checks: running it, its interpreter, and what the
    /// loader reads before the program itself does anything.
    fn start(&self, program: &str) -> Checks {
        let mut checks = self.at(program, true, &["process-exec*"])?;
        let resolved = self.world.resolve(program, true, self.semantics)?;
        let entry = self.world.programs.get(&resolved.path);
        let mut image = resolved.path.clone();
        if entry.is_some_and(|entry| entry.set_user_id) && self.semantics.has(Rule::SetUserId) {
            checks.push(Planned {
                operation: "forbidden-exec-sugid".to_owned(),
                subject: Subject::path(&image),
                kind: Kind::Never("a program with the set-user-ID bit does not start in a sandbox"),
            });
        }
        let interpreter = entry.and_then(|entry| entry.interpreter.as_deref());
        if let Some(interpreter) = interpreter.filter(|_| self.semantics.has(Rule::Interpreter)) {
            checks.extend(self.at(interpreter, true, &["process-exec-interpreter"])?);
            checks.push(sure("file-read-data", Subject::path(&image)));
            image = self.world.resolve(interpreter, true, self.semantics)?.path;
        }
        let start = &self.world.start;
        if self.semantics.has(Rule::RootOfStart) {
            checks.push(sure("file-read-data", Subject::path(&start.root)));
        }
        checks.push(sure("file-read-data", Subject::path(&image)));
        checks.push(sure("file-map-executable", Subject::path(&image)));
        if self.semantics.has(Rule::LoaderOfStart) {
            for path in &start.loader {
                checks.extend(self.at(path, true, &["file-read-data"])?);
            }
        }
        if self.semantics.has(Rule::NeedsOfStart) {
            let programs = [&resolved.path, &image]
                .into_iter()
                .take(1 + usize::from(image != resolved.path));
            for program in programs {
                let entry = self.world.programs.get(program);
                for path in entry.map_or(&[][..], |entry| &entry.needs) {
                    checks.extend(self.at(path, true, &["file-read-data"])?);
                }
            }
        }
        Ok(checks)
    }

    fn unix_connect(&self, path: &str) -> Checks {
        if !self.semantics.has(Rule::SocketIsNetwork) {
            return self.at(path, true, &["file-write-data"]);
        }
        let mut checks = self.at(path, true, &["network-outbound"])?;
        if let Some(last) = checks.last_mut() {
            last.subject.remote = Some(Address::Unix);
        }
        Ok(checks)
    }

    fn unix_bind(&self, path: &str) -> Checks {
        if !self.semantics.has(Rule::BindIsNetwork) {
            return self.at(path, true, &["file-write-create"]);
        }
        let mut checks = self.at(path, true, &["network-bind"])?;
        if let Some(last) = checks.last_mut() {
            let file = perhaps("file-write-create", last.subject.clone());
            last.subject.local = Some(Address::Unix);
            checks.push(file);
        }
        Ok(checks)
    }

    fn socket(&self, socket: &super::action::SocketSpec) -> Checks {
        let number = |filter: &str, word: &str| {
            let number = self.tables.constant(filter, word);
            number.ok_or_else(|| format!("{word} is no word of {filter}"))
        };
        let domain = number("socket-domain", &socket.domain)?;
        // Sockets of the Internet and of paths are checked when they are used.
        if ["AF_INET", "AF_INET6", "AF_UNIX"].contains(&socket.domain.as_str()) {
            return Ok(Vec::new());
        }
        let mut subject = Subject::default().with_number("socket-domain", domain);
        if let Some(kind) = &socket.kind {
            subject = subject.with_number("socket-type", number("socket-type", kind)?);
        }
        if let Some(protocol) = socket.protocol {
            subject = subject.with_number("socket-protocol", protocol);
        }
        Ok(vec![sure("system-socket", subject)])
    }

    fn ioctl(&self, path: &str, command: Option<&str>) -> Checks {
        let mut checks = self.at(path, true, &["file-ioctl"])?;
        if let (Some(last), Some(command)) = (checks.last_mut(), command) {
            let number = self.tables.constant("ioctl-command", command);
            let number = number.ok_or_else(|| format!("{command} is no word of ioctl-command"))?;
            last.subject = last.subject.clone().with_number("ioctl-command", number);
        }
        Ok(checks)
    }

    fn terminal(&self, path: &str) -> Checks {
        let mut checks = self.at(path, true, &["file-read-data"])?;
        if self.semantics.has(Rule::TerminalDevice) {
            checks.extend(self.at(path, true, &["file-write-data"])?);
        }
        if self.semantics.has(Rule::TerminalModes) {
            checks.extend(self.ioctl(path, Some("TIOCSETA"))?);
        }
        Ok(checks)
    }

    fn raw(&self, check: &super::action::RawCheck) -> Checks {
        let mut subject = Subject {
            path: check.path.clone(),
            target: check.target,
            names: check.names.clone(),
            ..Subject::default()
        };
        for (filter, word) in &check.values {
            let number = word.parse().ok();
            let number = number.or_else(|| self.tables.constant(filter, word));
            let number = number.ok_or_else(|| format!("{word} is no word of {filter}"))?;
            subject = subject.with_number(filter, number);
        }
        Ok(vec![sure(&check.operation, subject)])
    }
}

fn information(target: Target) -> Planned {
    sure("process-info-pidinfo", Subject::target(target))
}

fn outbound(to: &Connect, protocol: Protocol) -> Vec<Planned> {
    let remote = Address::Internet {
        protocol,
        host: Some(to.host.clone()),
        port: Some(to.port),
    };
    // Its own end has no address before it is connected.
    let own = Address::Internet {
        protocol,
        host: None,
        port: None,
    };
    let subject = Subject {
        remote: Some(remote),
        local: Some(own),
        ..Subject::default()
    };
    vec![sure("network-outbound", subject)]
}

fn local(at: &Bind) -> Subject {
    Subject {
        local: Some(Address::Internet {
            protocol: at.protocol,
            host: Some(at.host.clone()),
            port: Some(at.port),
        }),
        ..Subject::default()
    }
}
