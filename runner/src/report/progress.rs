//! The line that tells how far a run is, rewritten as trials end.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::results::TrialResult;
use super::text::{harmless, shortened};
use crate::verdict::Class;

/// Twenty-five lines a second: as smooth as an eye asks for, and far below what
/// a slow connection to a terminal can take.
const INTERVAL: Duration = Duration::from_millis(40);

/// One line on a terminal. It is drawn when a trial ends, never by a timer, and
/// not at all where the output is no terminal.
#[derive(Debug)]
pub struct Progress<W: Write> {
    output: W,
    shown: bool,
    width: usize,
    total: usize,
    done: usize,
    failed: usize,
    word: &'static str,
    heading: String,
    started: Instant,
    drawn: Option<Instant>,
}

impl Progress<io::Stderr> {
    /// A line on the standard error, if that is a terminal.
    pub fn stderr(total: usize) -> Self {
        let output = io::stderr();
        let capable = std::env::var_os("TERM").is_some_and(|term| term != "dumb");
        let shown = output.is_terminal() && capable;
        let width = super::console::width_of(&output);
        Progress::new(output, total, width, shown)
    }
}

impl<W: Write> Progress<W> {
    /// A line of at most `width` columns; nothing is ever written unless `shown`.
    pub fn new(output: W, total: usize, width: usize, shown: bool) -> Self {
        Progress {
            output,
            shown,
            width,
            total,
            done: 0,
            failed: 0,
            word: "failed",
            heading: String::new(),
            started: Instant::now(),
            drawn: None,
        }
    }

    /// The same, with another word for trials that fail, where that is what they are
    /// to do.
    #[must_use]
    pub fn counting(mut self, word: &'static str) -> Self {
        self.word = word;
        self
    }

    /// What stands at the start of the line from now on.
    pub fn heading(&mut self, text: &str) {
        self.heading = format!("{text}  ");
    }

    /// Counts a trial that has ended, and draws the line if it is time to.
    pub fn ended(&mut self, trial: &TrialResult) {
        self.ended_at(trial, Instant::now());
    }

    fn ended_at(&mut self, trial: &TrialResult, now: Instant) {
        self.done += 1;
        if matches!(trial.verdict.class(), Class::Failure | Class::Harness) {
            self.failed += 1;
        }
        let due = self.drawn.is_none_or(|drawn| now >= drawn + INTERVAL);
        if self.shown && due {
            self.drawn = Some(now);
            let line = self.line(&trial.trial, now);
            self.write(&format!("\r\x1b[2K{line}"));
        }
    }

    /// Removes the line, so that the report starts on a clean one.
    pub fn finish(&mut self) {
        if self.drawn.take().is_some() {
            self.write("\r\x1b[2K");
        }
    }

    fn line(&self, trial: &str, now: Instant) -> String {
        let seconds = now.duration_since(self.started).as_secs_f64();
        #[allow(clippy::cast_precision_loss, reason = "nobody runs 2^52 trials")]
        let rate = self.done as f64 / seconds.max(0.001);
        let counts = format!(
            "{heading}{done:>digits$}/{total}  {failed} {word}  {rate:.0}/s",
            heading = self.heading,
            word = self.word,
            done = self.done,
            digits = self.total.to_string().len(),
            total = self.total,
            failed = self.failed,
        );
        let line = format!("{counts}  {}", harmless(trial));
        // The last column stays free: some terminals wrap as soon as it is used.
        let room = self.width.saturating_sub(1);
        if line.chars().count() <= room {
            return line;
        }
        let cut = shortened(&line, room.saturating_sub(1));
        let kept = cut.split('…').next().unwrap_or_default();
        format!("{kept}…")
    }

    /// A terminal that is gone takes the line with it; the run goes on.
    fn write(&mut self, text: &str) {
        let written = self.output.write_all(text.as_bytes());
        if written.and_then(|()| self.output.flush()).is_err() {
            self.shown = false;
            self.drawn = None;
        }
    }
}

impl<W: Write> Drop for Progress<W> {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::report::sample;
    use crate::verdict::Verdict;

    fn lines(progress: &Progress<Vec<u8>>) -> Vec<String> {
        let text = String::from_utf8(progress.output.clone()).unwrap();
        text.split("\r\x1b[2K").skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn it_shows_how_many_are_done_and_failed_and_how_fast() {
        let mut progress = Progress::new(Vec::new(), 163, 80, true);
        let now = progress.started + Duration::from_millis(500);
        progress.ended_at(&sample::trial("a.b.c/strict", Verdict::Escaped), now);
        assert_eq!(lines(&progress), ["  1/163  1 failed  2/s  a.b.c/strict"]);
    }

    #[test]
    fn it_is_drawn_at_most_once_an_interval_and_counts_all() {
        let mut progress = Progress::new(Vec::new(), 3, 80, true);
        let now = progress.started + Duration::from_secs(1);
        let trial = sample::trial("a.b.c", Verdict::Conforms);
        progress.ended_at(&trial, now);
        progress.ended_at(&trial, now + Duration::from_millis(1));
        progress.ended_at(&trial, now + INTERVAL);
        assert_eq!(lines(&progress).len(), 2);
        assert!(lines(&progress)[1].starts_with("3/3"));
        progress.finish();
        assert_eq!(lines(&progress)[2], "");
    }

    #[test]
    fn it_never_fills_the_line_nor_hands_on_controls() {
        let mut progress = Progress::new(Vec::new(), 3, 30, true);
        let trial = sample::trial("\u{1b}[31mabcdefghijklmnopqrstuvwxyz", Verdict::Conforms);
        progress.ended(&trial);
        let line = &lines(&progress)[0];
        assert!(line.chars().count() < 30 && line.ends_with('…'), "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
    }

    #[test]
    fn it_is_silent_where_there_is_no_terminal() {
        let mut progress = Progress::new(Vec::new(), 3, 80, false);
        progress.ended(&sample::trial("a.b.c", Verdict::Conforms));
        progress.finish();
        assert!(progress.output.is_empty());
    }

    #[test]
    fn a_terminal_that_is_gone_stops_nothing() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut progress = Progress::new(Gone, 3, 80, true);
        progress.ended(&sample::trial("a.b.c", Verdict::Conforms));
        assert!(!progress.shown);
    }
}
