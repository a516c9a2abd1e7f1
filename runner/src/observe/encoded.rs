//! Canaries in base64 (RFC 4648) and in hexadecimal, as a command encodes what
//! it wants to carry past a filter.

/// How many characters of an encoding are looked for: at least 120 random bits.
const LENGTH: usize = 40;

/// The encodings of every canary, by secret.
#[derive(Debug, Default)]
pub(super) struct Encodings<'a> {
    texts: Vec<([u8; LENGTH], &'a str)>,
}

impl<'a> Encodings<'a> {
    /// Adds the encodings of a canary's digits.
    pub(super) fn add(&mut self, digits: &[u8], name: &'a str) {
        let hexadecimal: Vec<u8> = digits
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15].map(|half| b"0123456789abcdef"[half as usize]))
            .collect();
        let all = (0..3).map(|before| base64_of_inner(digits, before));
        for text in all.chain([hexadecimal]) {
            if let Some(start) = text.first_chunk() {
                self.texts.push((*start, name));
            }
        }
    }

    /// Begins a pass over bytes.
    pub(super) fn scan(&self) -> Scan<'a, '_> {
        Scan {
            encodings: self,
            window: [0; LENGTH],
            next: 0,
            last: 0,
        }
    }
}

/// The base64 characters that some bytes alone decide, when so many unknown
/// bytes stand before them.
fn base64_of_inner(bytes: &[u8], before: usize) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let first = (before * 8).div_ceil(6);
    let end = (before + bytes.len()) * 8 / 6;
    let bit = |place: usize| bytes[place / 8 - before] >> (7 - place % 8) & 1;
    (first..end)
        .map(|character| {
            let bits = (0..6).map(|offset| bit(character * 6 + offset));
            ALPHABET[usize::from(bits.fold(0, |value, bit| value << 1 | bit))]
        })
        .collect()
}

/// One pass over bytes that come in pieces. White space does not count: encoders
/// break lines.
pub(super) struct Scan<'a, 'b> {
    encodings: &'b Encodings<'a>,
    /// The last characters, in a ring.
    window: [u8; LENGTH],
    /// Where the next goes.
    next: usize,
    /// The last four of them.
    last: u32,
}

impl<'a> Scan<'a, '_> {
    /// Takes the next byte; the secret whose encoding it completes.
    pub(super) fn feed(&mut self, byte: u8) -> Option<&'a str> {
        if byte.is_ascii_whitespace() {
            return None;
        }
        self.window[self.next] = byte;
        self.next = (self.next + 1) % LENGTH;
        self.last = self.last << 8 | u32::from(byte);
        let texts = self.encodings.texts.iter();
        let mut found = texts.filter(|(text, _)| self.ends(text));
        found.next().map(|(_, name)| *name)
    }

    fn ends(&self, text: &[u8; LENGTH]) -> bool {
        let end = text.last_chunk::<4>().map(|end| u32::from_be_bytes(*end));
        end == Some(self.last)
            && self.window[self.next..] == text[..LENGTH - self.next]
            && self.window[..self.next] == text[LENGTH - self.next..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const DIGITS: &[u8; 32] = b"0123456789abcdef0f1e2d3c4b5a6978";

    fn shows(text: &str) -> bool {
        let mut encodings = Encodings::default();
        encodings.add(DIGITS, "key");
        let mut scan = encodings.scan();
        text.bytes().any(|byte| scan.feed(byte) == Some("key"))
    }

    // Made with base64(1) and xxd(1).
    #[rstest]
    #[case::alone("MDEyMzQ1Njc4OWFiY2RlZjBmMWUyZDNjNGI1YTY5NzgK", true)]
    #[case::after_one_byte("LTAxMjM0NTY3ODlhYmNkZWYwZjFlMmQzYzRiNWE2OTc4Cg==", true)]
    #[case::after_two_bytes("eS0wMTIzNDU2Nzg5YWJjZGVmMGYxZTJkM2M0YjVhNjk3OAo=", true)]
    #[case::broken("MDEyMzQ1Njc4OWFi\nY2RlZjBmMWUyZDNj\nNGI1YTY5NzgK", true)]
    #[case::hexadecimal(
        "303132333435363738396162636465663066316532643363346235613639373830a",
        true
    )]
    #[case::spaced(
        "30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66 30 66 31 65 32 64 33 63",
        true
    )]
    #[case::another("MDEyMzQ1Njc4OWFiY2RlZjBmMWUyZDNjNGI1YTY5Nzg".split_at(20).1, false)]
    #[case::nothing("", false)]
    fn an_encoding_is_found(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(shows(text), expected);
    }
}
