//! Synthetic results for the tests of the reports.

use indexmap::IndexMap;

use super::results::{
    Contract, CorpusRecord, FORMAT, Header, HostRecord, LauncherRecord, SuiteRecord, TrialResult,
};
use crate::corpus::expect::Outcome;
use crate::corpus::vocabulary::{Fact, Level, Strength};
use crate::observe::observation::{Observation, Part};
use crate::verdict::Verdict;

/// A header of a run that requires the lower levels.
pub(crate) fn header() -> Header {
    Header {
        format: FORMAT,
        suite: SuiteRecord {
            name: String::from("perimeter"),
            version: String::from("0.1.0"),
        },
        corpus: CorpusRecord {
            digest: String::from("3f2a91c0d4e85b67"),
            directory: None,
            trials: 163,
        },
        launcher: LauncherRecord {
            name: String::from("plain-bubblewrap"),
            version: Some(String::from("bubblewrap 0.11.0")),
            levels: vec![Level::Launch, Level::ConfinedWrites, Level::Isolated],
        },
        host: HostRecord {
            os: String::from("linux"),
            kernel: String::from("6.8.0-45-generic"),
            architecture: String::from("x86_64"),
            uid: 1000,
            facts: vec![Fact::Unprivileged, Fact::Git, Fact::Bubblewrap],
            scratch_file_system: String::from("ext4"),
        },
        started: String::from("2026-01-05T10:20:30Z"),
        contract: contract(),
        selected: trials().len(),
    }
}

/// A contract that requires the three lowest levels.
pub(crate) fn contract() -> Contract {
    Contract {
        levels: vec![Level::Isolated],
        required_facts: Vec::new(),
        absent_facts: vec![Fact::Ipv6Loopback],
        filters: Vec::new(),
        partition: None,
    }
}

/// One trial of a MUST case of the lowest level.
pub(crate) fn trial(name: &str, verdict: Verdict) -> TrialResult {
    let (id, axis) = name.split_once('/').unwrap_or((name, ""));
    let mut axes = IndexMap::new();
    if !axis.is_empty() {
        axes.insert(String::from("posture"), axis.to_owned());
    }
    TrialResult {
        id: id.to_owned(),
        trial: name.to_owned(),
        rev: 1,
        digest: String::from("9d1e"),
        title: String::from("A write outside the workspace does not reach the host"),
        topic: String::from("Writes outside the workspace"),
        level: Level::Launch,
        strength: Strength::Must,
        outcome: Outcome::Denied,
        covers: vec![String::from("R-12")],
        axes,
        verdict,
        required: true,
        reason: String::from("the file outside the workspace was changed"),
        evidence: Vec::new(),
        missing: Vec::new(),
        excuse: None,
        baseline: Some(Observation {
            effect: vec![Part {
                what: String::from("{outside}/file is changed"),
                holds: true,
                seen: String::from("changed"),
            }],
            ..Observation::default()
        }),
        observed: Some(Observation::default()),
        milliseconds: 41,
    }
}

impl TrialResult {
    pub(crate) fn at(mut self, level: Level, strength: Strength) -> Self {
        self.level = level;
        self.strength = strength;
        self.required = contract().requires(level, strength);
        self
    }

    pub(crate) fn because(mut self, reason: &str, evidence: &[&str]) -> Self {
        self.reason = reason.to_owned();
        self.evidence = evidence.iter().map(|&line| line.to_owned()).collect();
        self
    }

    pub(crate) fn named(mut self, topic: &str, title: &str) -> Self {
        self.topic = topic.to_owned();
        self.title = title.to_owned();
        self
    }

    pub(crate) fn lacking(mut self, missing: &[Fact]) -> Self {
        self.missing = missing.to_vec();
        self
    }
}

/// What a middling launcher gets: some of every verdict but `error`.
pub(crate) fn trials() -> Vec<TrialResult> {
    let mut trials = Vec::new();
    for number in 0..41 {
        trials.push(trial(
            &format!("launch.exit.status-{number}"),
            Verdict::Conforms,
        ));
    }
    for number in 0..30 {
        let name = format!("files.write.place-{number}/strict");
        let conforms = trial(&name, Verdict::Conforms);
        trials.push(conforms.at(Level::ConfinedWrites, Strength::Must));
    }
    for number in 0..12 {
        let conforms = trial(
            &format!("processes.signal.host-{number}"),
            Verdict::Conforms,
        );
        trials.push(conforms.at(Level::Isolated, Strength::Must));
    }
    trials.push(
        trial("files.write.symlink-out/strict", Verdict::Escaped)
            .at(Level::ConfinedWrites, Strength::Must)
            .named("Writes outside the workspace", "A symbolic link inside the workspace does not carry a write to what lies outside of it")
            .because(
                "the file outside the workspace was changed under the launcher, as it is without a sandbox",
                &[
                    "{outside}/target: content \"canary-5c1f\" became \"overwritten by the command\"",
                    "the command started, and exited with 0",
                    "standard error: \u{1b}[2K\rall is well",
                ],
            ),
    );
    trials.push(
        trial("processes.tree.dies/strict", Verdict::Leaked)
            .at(Level::Isolated, Strength::Must)
            .named("The tree of processes", "No process outlives the launcher")
            .because(
                "a process of the command outlived the launcher",
                &[
                    "pid 4711: sleep 300 | tee `log`",
                    "the launcher exited with 0 after 12 ms",
                ],
            ),
    );
    trials.push(
        trial("files.read.etc-shadow", Verdict::Escaped)
            .at(Level::ConfinedReads, Strength::Must)
            .named("Reading", "A file that is not granted cannot be read")
            .because(
                "a canary showed on standard output",
                &["secret `home-key` in output"],
            ),
    );
    trials.push(
        trial("processes.ptrace.host", Verdict::Vacuous)
            .at(Level::Isolated, Strength::Must)
            .named("Other processes", "A process of the host cannot be traced")
            .because(
                "the same command could not trace the process without a sandbox either",
                &["ptrace: Operation not permitted"],
            ),
    );
    for family in ["stream", "datagram"] {
        trials.push(
            trial(&format!("network.loopback6.{family}"), Verdict::Unmeasured)
                .at(Level::Isolated, Strength::Must)
                .because("the loopback interface has no IPv6 address", &[])
                .lacking(&[Fact::Ipv6Loopback]),
        );
    }
    trials.push(
        trial("work.compile.hello", Verdict::Unmeasured)
            .at(Level::Launch, Strength::Must)
            .because("no C compiler is installed", &[])
            .lacking(&[Fact::CCompiler]),
    );
    for number in 0..4 {
        trials.push(
            trial(&format!("files.hidden.path-{number}"), Verdict::Unsupported)
                .at(Level::ConfinedWrites, Strength::Must)
                .because("the launcher does not claim hidden-paths", &[]),
        );
    }
    trials.push(
        trial("macos.mach.lookup", Verdict::NotApplicable)
            .at(Level::Isolated, Strength::Must)
            .because("the case is for macos", &[]),
    );
    trials
}
