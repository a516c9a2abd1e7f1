//! As much of the shell as is needed to see what a command is aimed at: its simple
//! commands, their words, and where they send their output.

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    /// Its words, without quotes.
    pub(crate) words: Vec<String>,
    /// Its redirections that open for writing: the operator, and the target.
    pub(crate) outputs: Vec<(String, String)>,
    /// Whether a command before it in the same text made namespaces of its own, by
    /// unshare(1) or the probe.
    pub(crate) apart: bool,
}

/// Words that stand before the name of a program.
const BEFORE: [&str; 22] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "time", "{", "exec", "env",
    "command", "builtin", "nohup", "setsid", "nice", "timeout", "xargs", "sudo", "eval", "stdbuf",
];

impl Simple {
    /// The name of the program, without its directory, and its arguments.
    pub(crate) fn program(&self) -> Option<(&str, &[String])> {
        let place = self.words.iter().position(|word| {
            let passed = BEFORE.contains(&word.as_str())
                || word.starts_with('-')
                || is_assignment(word)
                || word.bytes().all(|byte| byte.is_ascii_digit());
            !passed
        })?;
        let name = self.words[place].rsplit('/').next()?;
        Some((name, &self.words[place + 1..]))
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
    })
}

/// The simple commands of a text, and those of every quoted text in it that has
/// several words, since it may be handed to another shell.
pub(crate) fn simple_commands(text: &str) -> Vec<Simple> {
    let mut all = Vec::new();
    gather(text, false, 0, &mut all);
    all
}

fn gather(text: &str, mut apart: bool, depth: usize, all: &mut Vec<Simple>) {
    // A text that quotes itself for ever is not one that someone wrote.
    const DEEPEST: usize = 6;
    for mut simple in split(text) {
        simple.apart = apart;
        let parts = |word: &String| word.ends_with("unshare") || word == "new-user-namespace";
        apart = apart || simple.words.iter().any(parts);
        let scripts: Vec<String> = simple
            .words
            .iter()
            .filter(|word| depth < DEEPEST && word.contains([' ', '\n', ';']))
            .cloned()
            .collect();
        all.push(simple);
        for script in scripts {
            gather(&script, apart, depth + 1, all);
        }
    }
}

/// Reads a text word by word.
struct Reader {
    done: Vec<Simple>,
    current: Simple,
    word: Option<String>,
    /// The redirection whose target comes next.
    operator: Option<String>,
}

impl Reader {
    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        match self.operator.take() {
            Some(operator) => self.current.outputs.push((operator, word)),
            None => self.current.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.operator = None;
        let simple = std::mem::take(&mut self.current);
        if simple != Simple::default() {
            self.done.push(simple);
        }
    }
}

fn split(text: &str) -> Vec<Simple> {
    let letters: Vec<char> = text.chars().collect();
    let mut reader = Reader {
        done: Vec::new(),
        current: Simple::default(),
        word: None,
        operator: None,
    };
    let mut quote = None;
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        let next = letters.get(at + 1).copied();
        match (quote, letter) {
            (Some(mark), letter) if letter == mark => quote = None,
            (Some('"') | None, '\\') => {
                if let Some(next) = next {
                    reader.push(next);
                }
                at += 1;
            }
            (Some('\''), letter) => reader.push(letter),
            // A command within a word or a text is one of its own.
            (_, '$') if next == Some('(') => {
                let end = closing(&letters, at + 1);
                let inner: String = letters[at + 2..end].iter().collect();
                reader.done.extend(split(&inner));
                "$()".chars().for_each(|letter| reader.push(letter));
                at = end;
            }
            (Some(_), letter) => reader.push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                reader.word.get_or_insert_default();
            }
            (None, letter) if letter.is_whitespace() && letter != '\n' => reader.end_word(),
            (None, '>') => at = output(&letters, at, &mut reader),
            (None, '<') if next == Some('>') => at = output(&letters, at, &mut reader),
            (None, '&') if next == Some('>') => {}
            (None, ';' | '|' | '&' | '\n' | '(' | ')' | '`') => reader.end_command(),
            (None, letter) => reader.push(letter),
        }
        at += 1;
    }
    reader.end_command();
    reader.done
}

/// Reads a redirection that opens for writing, and returns its last letter.
fn output(letters: &[char], start: usize, reader: &mut Reader) -> usize {
    // The digits before it are the descriptor.
    let is_descriptor = reader
        .word
        .as_ref()
        .is_some_and(|word| word.chars().all(|letter| letter.is_ascii_digit()));
    if is_descriptor {
        reader.word = None;
    }
    reader.end_word();
    let mut end = start + 1;
    while letters
        .get(end)
        .is_some_and(|letter| ['>', '|'].contains(letter))
    {
        end += 1;
    }
    if letters.get(end) == Some(&'&') {
        // Another descriptor, and no file.
        let after = |letter: &char| letter.is_ascii_digit() || *letter == '-';
        while letters.get(end + 1).is_some_and(after) {
            end += 1;
        }
        return end;
    }
    reader.operator = Some(letters[start..end].iter().collect());
    end - 1
}

/// The place of the parenthesis that closes the one at `open`.
fn closing(letters: &[char], open: usize) -> usize {
    let mut depth = 0;
    for (place, letter) in letters.iter().enumerate().skip(open) {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place;
        }
    }
    letters.len().saturating_sub(1).max(open + 1)
}

/// The absolute paths that a text names, whatever language it is in.
pub(crate) fn absolute_paths(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'/' || !begins_a_path(bytes, at) {
            at += 1;
            continue;
        }
        let length = text[at..]
            .find(|letter: char| letter.is_whitespace() || "'\"`;|&<>()[],:=\\".contains(letter))
            .unwrap_or(text.len() - at);
        let path = text[at..at + length].trim_end_matches(['.', '/']);
        if path.len() > 1 {
            found.push(path);
        }
        at += length.max(1);
    }
    found
}

/// Whether a slash begins a path, and does not go on with one.
fn begins_a_path(bytes: &[u8], at: usize) -> bool {
    let before = |distance: usize| at.checked_sub(distance).map(|place| bytes[place]);
    // A quote that closes right before the slash belongs to the same word.
    let opens = |byte: Option<u8>| {
        byte.is_none_or(|byte| byte.is_ascii_whitespace() || b"=:<>,;|&([{".contains(&byte))
    };
    match before(1) {
        Some(b'\'' | b'"' | b'`') => opens(before(2)) || before(2) == Some(b'\\'),
        byte => opens(byte) && byte != Some(b'{'),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("rm -rf /a && echo x > /b", &["rm -rf /a", "echo x >/b"])]
    #[case("echo x 2> /dev/null >> /a", &["echo x >/dev/null >>/a"])]
    #[case("( exec 9>> \"$file\" ) && echo opened", &["exec >>$file", "echo opened"])]
    #[case("exec 3<> /dev/tcp/x", &["exec <>/dev/tcp/x"])]
    #[case("make > log 2>&1; kill 1", &["make >log", "kill 1"])]
    #[case("bash -c 'rm a; echo b > c'", &["bash -c rm a; echo b > c", "rm a", "echo b >c"])]
    #[case("id=$(cat /a | head -1); x", &["cat /a", "head -1", "id=$()", "x"])]
    #[case("echo \"a > b\" 'c;d'", &["echo a > b c;d", "a >b", "c", "d"])]
    fn commands_are_told_apart(#[case] text: &str, #[case] expected: &[&str]) {
        let shown: Vec<String> = simple_commands(text)
            .into_iter()
            .map(|simple| {
                let outputs = simple.outputs.iter();
                let outputs = outputs.map(|(operator, target)| format!("{operator}{target}"));
                let all: Vec<String> = simple.words.iter().cloned().chain(outputs).collect();
                all.join(" ")
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[rstest]
    #[case("A=1 env -i /usr/bin/rm -rf x", "rm", 2)]
    #[case("if timeout 5 kill 7", "kill", 1)]
    fn the_program_is_found(#[case] text: &str, #[case] name: &str, #[case] arguments: usize) {
        let commands = simple_commands(text);
        let (found, rest) = commands[0].program().unwrap();
        assert_eq!((found, rest.len()), (name, arguments));
    }

    #[test]
    fn what_follows_unshare_is_apart() {
        let commands = simple_commands("mount a; unshare -r bash -c 'mount b'");
        let apart: Vec<bool> = commands.iter().map(|simple| simple.apart).collect();
        assert_eq!(apart, [false, false, true]);
    }

    #[rstest]
    #[case("cat /etc/passwd", &["/etc/passwd"])]
    #[case("cat {outside}/key ~/x $HOME/y a/b ./c", &[])]
    #[case("python3 -c 'open(\"/sys/a\", \"a\")'", &["/sys/a"])]
    #[case("\"$directory\"/key x=/opt/a:/opt/b", &["/opt/a", "/opt/b"])]
    #[case("https://host/path", &[])]
    #[case("ls /proc/[0-9]*/comm /dev/shm/{nonce}", &["/proc", "/dev/shm/{nonce}"])]
    fn absolute_paths_are_found(#[case] text: &str, #[case] expected: &[&str]) {
        let found: Vec<&str> = absolute_paths(text)
            .into_iter()
            .filter(|path| !path.starts_with("//"))
            .collect();
        assert_eq!(found, expected);
    }
}
