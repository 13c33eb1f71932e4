//! Public keys of SSH, as Go's `ssh.ParseAuthorizedKey` reads them, with two exceptions: a certificate of a key is no key
//! here, and a point need not be on its curve.

use formats::base64;

/// Blanks between the words of a line.
const BLANKS: [char; 2] = [' ', '\t'];
/// Largest exponent of RSA, in bits.
const MOST_EXPONENT_BITS: usize = 24;
/// Length of the modulus of DSA, in bits.
const DSA_BITS: usize = 1024;

/// Whether a line of the text has a key, alone or after options; other lines are ignored.
pub(super) fn has_key(text: &str) -> bool {
    text.split('\n').map(|line| line.split('\r').next().unwrap_or_default().trim()).any(line_has_key)
}

fn line_has_key(line: &str) -> bool {
    let after_word = |line: &str| line.find(BLANKS).is_some_and(|end| is_key_and_comment(&line[end..]));
    !line.starts_with('#') && (after_word(line) || after_word(after_options(line)))
}

/// What follows the options at the start of a line: blanks in quotes do not end them.
fn after_options(line: &str) -> &str {
    let (mut is_quoted, mut before) = (false, ' ');
    for (index, character) in line.char_indices() {
        if !is_quoted && BLANKS.contains(&character) {
            return line[index..].trim_start_matches(BLANKS);
        }
        if character == '"' && before != '\\' {
            is_quoted = !is_quoted;
        }
        before = character;
    }
    ""
}

fn is_key_and_comment(text: &str) -> bool {
    let text = text.trim();
    let word = text.split(BLANKS).next().unwrap_or_default();
    base64::decode(word).is_ok_and(|blob| is_key(&blob))
}

/// Whether the blob is a key of a known algorithm, and nothing else.
fn is_key(blob: &[u8]) -> bool {
    let mut blob = Blob(blob);
    let known = match blob.string() {
        Some(b"ssh-rsa") => blob.rsa(),
        Some(b"ssh-dss") => blob.dsa(),
        Some(b"ssh-ed25519") => blob.ed25519(),
        Some(b"sk-ssh-ed25519@openssh.com") => blob.ed25519().and_then(|()| blob.string().map(drop)),
        Some(b"ecdsa-sha2-nistp256" | b"ecdsa-sha2-nistp384" | b"ecdsa-sha2-nistp521") => blob.point(false),
        Some(b"sk-ecdsa-sha2-nistp256@openssh.com") => {
            blob.point(true).and_then(|()| blob.string().map(drop))
        }
        _ => None,
    };
    known.is_some() && blob.0.is_empty()
}

/// What is left of a key's fields, each of which begins with its length.
struct Blob<'a>(&'a [u8]);

impl<'a> Blob<'a> {
    fn string(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (string, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(string)
    }

    /// An exponent that is odd and from 3 on, and a modulus.
    fn rsa(&mut self) -> Option<()> {
        let exponent = self.string()?;
        let value = exponent.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        let is_good = bits(exponent)? <= MOST_EXPONENT_BITS && value >= 3 && value % 2 == 1;
        self.string().filter(|_| is_good).map(drop)
    }

    fn dsa(&mut self) -> Option<()> {
        let modulus = self.string()?;
        (0..3).try_for_each(|_| self.string().map(drop))?;
        (bits(modulus)? == DSA_BITS).then_some(())
    }

    fn ed25519(&mut self) -> Option<()> {
        self.string().filter(|key| key.len() == 32).map(drop)
    }

    /// A curve, and a point that has its form; of a security key, the curve is always the same.
    fn point(&mut self, of_security_key: bool) -> Option<()> {
        let size = match self.string()? {
            b"nistp256" => 32,
            b"nistp384" if !of_security_key => 48,
            b"nistp521" if !of_security_key => 66,
            _ => return None,
        };
        self.string().filter(|point| point.first() == Some(&4) && point.len() == 1 + 2 * size).map(drop)
    }
}

/// Length of a number that is not negative, in bits; `None` if it is negative.
fn bits(number: &[u8]) -> Option<usize> {
    let start = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
    let digits = &number[start..];
    let is_negative = start == 0 && number.first().is_some_and(|first| first & 0x80 != 0);
    let unused = digits.first().map_or(0, |first| first.leading_zeros());
    (!is_negative).then(|| digits.len() * 8 - usize::try_from(unused).unwrap_or_default())
}
