//! Keeping what a launcher writes: all of it up to a limit, and its lines as
//! they come.

/// What is kept of the beginning of a stream. With the end it makes 1 MiB, a
/// hundred times what any well-behaved case writes.
const BEGINNING: usize = 768 << 10;
/// What is kept of the end.
const END: usize = 256 << 10;
/// A longer line is no start line and nothing that an action waits for.
const LONGEST_LINE: usize = 64 << 10;

/// The beginning and the end of a text of any length.
#[derive(Debug, Default)]
pub(super) struct Kept {
    beginning: Vec<u8>,
    end: Vec<u8>,
    left_out: u64,
}

impl Kept {
    /// Adds what came next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let fits = bytes.len().min(BEGINNING - self.beginning.len());
        let (first, rest) = bytes.split_at(fits);
        self.beginning.extend_from_slice(first);
        self.end.extend_from_slice(rest);
        if self.end.len() > 2 * END {
            let surplus = self.end.len() - END;
            self.end.drain(..surplus);
            self.left_out += surplus as u64;
        }
    }

    /// The text; where a part is missing it says how much.
    pub(super) fn into_text(mut self) -> String {
        let surplus = self.end.len().saturating_sub(END);
        if surplus > 0 {
            self.end.drain(..surplus);
            self.left_out += surplus as u64;
        }
        if self.left_out > 0 {
            let note = format!("\n[{} bytes were not kept]\n", self.left_out);
            self.beginning.extend_from_slice(note.as_bytes());
        }
        self.beginning.extend_from_slice(&self.end);
        String::from_utf8(self.beginning)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// A command's output, split at its start line.
#[derive(Debug)]
pub(super) struct Capture {
    start_line: Option<Vec<u8>>,
    terminal: bool,
    started: bool,
    preamble: Kept,
    kept: Kept,
    /// The line that has begun and not ended.
    line: Vec<u8>,
    /// Whether that line is already kept, being too long to be compared.
    long: bool,
}

impl Capture {
    /// Begins with nothing. On a terminal each line ends in a carriage return
    /// and a newline (ONLCR, termios(3)), and comes out with the newline alone.
    pub(super) fn new(start_line: Option<&str>, terminal: bool) -> Capture {
        Capture {
            start_line: start_line.map(|line| line.as_bytes().to_vec()),
            terminal,
            started: false,
            preamble: Kept::default(),
            kept: Kept::default(),
            line: Vec::new(),
            long: false,
        }
    }

    /// Whether the start line has shown.
    pub(super) fn started(&self) -> bool {
        self.started
    }

    /// Whether all that comes now is the command's own.
    pub(super) fn is_begun(&self) -> bool {
        self.started || self.start_line.is_none()
    }

    /// Adds what came next of the command's own, without a look at its lines,
    /// which are many in a flood. No line is looked at after that.
    pub(super) fn push_unheeded(&mut self, bytes: &[u8]) {
        let unended = std::mem::take(&mut self.line);
        self.kept.push(&unended);
        self.kept.push(bytes);
    }

    /// Adds what came next; each line that ends in it and is the command's own
    /// is shown to `heed`.
    pub(super) fn push(&mut self, bytes: &[u8], mut heed: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if piece.ends_with(b"\n") {
                self.line.extend_from_slice(piece);
                self.end_line(&mut heed);
            } else {
                self.line.extend_from_slice(piece);
                if self.line.len() > LONGEST_LINE {
                    self.kept.push(&self.line);
                    self.line.clear();
                    self.long = true;
                }
            }
        }
    }

    fn end_line(&mut self, heed: &mut impl FnMut(&[u8])) {
        let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let text = match text {
            [text @ .., b'\r'] if self.terminal => text,
            text => text,
        };
        let is_start = !self.long && !self.started && self.start_line.as_deref() == Some(text);
        if is_start {
            self.started = true;
            self.preamble = std::mem::take(&mut self.kept);
        } else {
            if !self.long && self.is_begun() {
                heed(text);
            }
            self.kept.push(&self.line);
        }
        self.line.clear();
        self.long = false;
    }

    /// Whether it started, what came before the start line, and the output.
    /// Without a start line all is output.
    pub(super) fn finish(mut self) -> (bool, String, String) {
        if !self.line.is_empty() {
            let unended = std::mem::take(&mut self.line);
            if !self.long && !self.started && self.start_line.as_deref() == Some(&unended) {
                self.line = unended;
                self.end_line(&mut |_| {});
            } else {
                self.kept.push(&unended);
            }
        }
        let (preamble, output) = if self.start_line.is_some() && !self.started {
            (self.kept, Kept::default())
        } else {
            (self.preamble, self.kept)
        };
        let text = |kept: Kept| match kept.into_text() {
            text if self.terminal => text.replace("\r\n", "\n"),
            text => text,
        };
        (self.started, text(preamble), text(output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(start_line: Option<&str>, terminal: bool, pieces: &[&str]) -> Capture {
        let mut capture = Capture::new(start_line, terminal);
        for piece in pieces {
            capture.push(piece.as_bytes(), |_| {});
        }
        capture
    }

    #[test]
    fn the_start_line_is_taken_out_even_in_pieces() {
        let capture = capture(Some("nonce"), false, &["note\nno", "nce\nout", "put\n"]);
        assert_eq!(capture.finish(), (true, "note\n".into(), "output\n".into()));
    }

    #[test]
    fn a_line_that_only_holds_the_nonce_is_no_start() {
        let capture = capture(Some("nonce"), false, &["cannot run: echo nonce\n"]);
        let expected = (false, "cannot run: echo nonce\n".into(), String::new());
        assert_eq!(capture.finish(), expected);
    }

    #[test]
    fn a_second_start_line_is_output() {
        let capture = capture(Some("nonce"), false, &["nonce\nnonce\n"]);
        assert_eq!(capture.finish(), (true, String::new(), "nonce\n".into()));
    }

    #[test]
    fn a_terminal_ends_its_lines_otherwise() {
        let capture = capture(Some("nonce"), true, &["nonce\r\nfirst\r", "\nlast"]);
        let expected = (true, String::new(), "first\nlast".into());
        assert_eq!(capture.finish(), expected);
    }

    #[test]
    fn the_beginning_and_the_end_of_a_flood_are_kept() {
        let mut capture = Capture::new(None, false);
        capture.push(b"first\n", |_| {});
        for _ in 0..64 {
            capture.push(&vec![b'x'; 64 << 10], |_| {});
        }
        capture.push(b"\nlast\n", |_| {});
        let (_, _, output) = capture.finish();
        assert!(output.starts_with("first\n"));
        assert!(output.ends_with("\nlast\n"));
        assert!(output.contains("bytes were not kept"));
        assert!(output.len() <= BEGINNING + END + 100);
    }

    #[test]
    fn lines_are_shown_after_the_start_only() {
        let mut seen = Vec::new();
        let mut capture = Capture::new(Some("nonce"), false);
        capture.push(b"before\nnonce\nafter\nunended", |line| {
            seen.push(String::from_utf8_lossy(line).into_owned());
        });
        assert_eq!(seen, ["after"]);
    }
}
