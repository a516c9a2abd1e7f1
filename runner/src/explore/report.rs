//! What is told of an exploration.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::drive::Exploration;
use super::predict::Prediction;
use super::reduce::Reduced;
use crate::report::{counted, harmless};

/// How often the line is drawn at most.
const INTERVAL: Duration = Duration::from_millis(100);

/// The line that tells how far an exploration is, on a terminal alone.
#[derive(Debug)]
pub struct Line {
    shown: bool,
    started: Instant,
    drawn: Option<Instant>,
}

impl Line {
    /// A line on the standard error, if that is a terminal.
    pub fn stderr() -> Line {
        let capable = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        Line {
            shown: io::stderr().is_terminal() && capable,
            started: Instant::now(),
            drawn: None,
        }
    }

    /// Draws it, if it is time to.
    pub fn ended(&mut self, exploration: &Exploration) {
        let now = Instant::now();
        if !self.shown || self.drawn.is_some_and(|drawn| now < drawn + INTERVAL) {
            return;
        }
        self.drawn = Some(now);
        let rate = rate(exploration.policies, now.duration_since(self.started));
        let (policies, found) = (exploration.policies, exploration.found.len());
        self.write(&format!(
            "\r\x1b[2K{policies} policies  {found} differ  {rate:.0}/s"
        ));
    }

    /// Says what is being done instead.
    pub fn says(&mut self, text: &str) {
        if self.shown {
            self.drawn = Some(Instant::now());
            self.write(&format!("\r\x1b[2K{text}"));
        }
    }

    /// Removes it.
    pub fn finish(&mut self) {
        if self.drawn.take().is_some() {
            self.write("\r\x1b[2K");
        }
    }

    fn write(&mut self, text: &str) {
        let mut output = io::stderr();
        let written = output.write_all(text.as_bytes());
        if written.and_then(|()| output.flush()).is_err() {
            self.shown = false;
            self.drawn = None;
        }
    }
}

fn rate(count: u64, time: Duration) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "nobody runs 2^52 launches")]
    let count = count as f64;
    count / time.as_secs_f64().max(0.001)
}

/// One difference: in words, how to see it again, and the case.
pub fn difference(reduced: &Reduced, launcher: &str) -> String {
    let scenario = &reduced.scenario;
    let verdict = match &reduced.verdict {
        Ok(verdict) if reduced.is_shown() => format!("{verdict}: the case below shows it"),
        Ok(verdict) => format!("{verdict}: the case below does not show it by itself"),
        Err(error) => format!("the case below is no complete one: {error}"),
    };
    let operations = counted(scenario.operations.len(), "operation");
    let files = counted(scenario.files.len() + scenario.sockets.len(), "file");
    let seed = scenario.seed;
    let words = &reduced.difference.words;
    let text = format!(
        "Difference at seed {seed}\n  {words}\n  small     {operations}, {files}\n  verdict   \
         {verdict}\n  again     perimeter explore --launcher {launcher} --seed {seed} --count 1\n\n"
    );
    format!("{}\n", harmless_lines(&(text + &reduced.text())))
}

fn harmless_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| harmless(line)).collect();
    lines.join("\n") + "\n"
}

/// The closing lines: what was tried, and how it was predicted.
pub fn closing(exploration: &Exploration, time: Duration, interrupted: bool) -> String {
    let of = |prediction| {
        exploration
            .operations
            .get(&prediction)
            .copied()
            .unwrap_or(0)
    };
    let total: u64 = exploration.operations.values().sum();
    let policies = exploration.policies;
    let open = of(Prediction::Either);
    #[allow(clippy::cast_precision_loss, reason = "nobody runs 2^52 operations")]
    let share = 100.0 * open as f64 / total.max(1) as f64;
    let cut = if interrupted { ", interrupted" } else { "" };
    let found = match exploration.found.len() {
        0 => "no difference".to_owned(),
        count => counted(count, "difference"),
    };
    format!(
        "{policies} policies, {refused} of them to be refused, and {total} operations in {seconds:.1} s \
         ({rate:.0} policies a second){cut}\n\
         predicted: {allowed} allowed, {absorbed} absorbed, {denied} denied, {open} left open by the \
         documents ({share:.1} %)\n{found}\n",
        refused = exploration.refused,
        seconds = time.as_secs_f64(),
        rate = rate(policies, time),
        allowed = of(Prediction::Allowed),
        absorbed = of(Prediction::Absorbed),
        denied = of(Prediction::Denied) + of(Prediction::Blank),
    )
}
