//! Where a JSON value stops being one, in Go's words.

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A character stands where it must not.
    Syntax {
        /// Which one, from 0, in bytes.
        offset: usize,
        /// What Go says.
        message: String,
    },
    /// The text ends before the value.
    Unfinished,
}

/// The fault of the first value of a text; nothing where it has none.
pub(super) fn fault(text: &[u8]) -> Option<Fault> {
    Scanner { text, at: 0, open: Vec::new() }.value().err()
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Closing characters of the lists and maps around.
    open: Vec<u8>,
}

type Scanned = Result<(), Fault>;

impl Scanner<'_> {
    /// One value with all that is in it; without recursion, as a text may nest as deep as it is long.
    fn value(&mut self) -> Scanned {
        loop {
            match self.begin()? {
                Begun::Scalar => {}
                Begun::Empty => {
                    self.at += 1;
                    self.open.pop();
                }
                Begun::Inside => continue,
            }
            if self.end()? {
                return Ok(());
            }
        }
    }

    /// A scalar whole, or the beginning of a list or map up to its first value.
    fn begin(&mut self) -> Result<Begun, Fault> {
        match self.peek()? {
            b'{' => {
                self.at += 1;
                self.open.push(b'}');
                if self.peek()? == b'}' {
                    return Ok(Begun::Empty);
                }
                self.key().map(|()| Begun::Inside)
            }
            b'[' => {
                self.at += 1;
                self.open.push(b']');
                Ok(if self.peek()? == b']' { Begun::Empty } else { Begun::Inside })
            }
            b'"' => self.string().map(|()| Begun::Scalar),
            b'-' | b'0'..=b'9' => self.number().map(|()| Begun::Scalar),
            b't' => self.literal("true").map(|()| Begun::Scalar),
            b'f' => self.literal("false").map(|()| Begun::Scalar),
            b'n' => self.literal("null").map(|()| Begun::Scalar),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    /// What follows a value: the end of what is around it, any number of times, or the next value. True at the very end.
    fn end(&mut self) -> Result<bool, Fault> {
        while let Some(close) = self.open.last().copied() {
            match (self.peek()?, close) {
                (b',', b'}') => {
                    self.at += 1;
                    return self.key().map(|()| false);
                }
                (b',', _) => {
                    self.at += 1;
                    return Ok(false);
                }
                (found, _) if found == close => {
                    self.at += 1;
                    self.open.pop();
                }
                (_, b'}') => return Err(self.unexpected("after object key:value pair")),
                _ => return Err(self.unexpected("after array element")),
            }
        }
        Ok(true)
    }

    fn key(&mut self) -> Scanned {
        if self.peek()? != b'"' {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        self.string()?;
        if self.peek()? != b':' {
            return Err(self.unexpected("after object key"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Scanned {
        self.at += 1;
        loop {
            match self.here()? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.escape()?,
                0..=0x1f => return Err(self.unexpected("in string literal")),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Scanned {
        self.at += 1;
        match self.here()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => self.at += 1,
            b'u' => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.here()?.is_ascii_hexdigit() {
                        return Err(self.unexpected("in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.unexpected("in string escape code")),
        }
        Ok(())
    }

    fn number(&mut self) -> Scanned {
        if self.here()? == b'-' {
            self.at += 1;
        }
        match self.here()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.is(b".") {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
        }
        if self.is(b"eE") {
            self.at += 1;
            if self.is(b"+-") {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn digit(&mut self, context: &str) -> Scanned {
        if !self.here()?.is_ascii_digit() {
            return Err(self.unexpected(context));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn literal(&mut self, word: &str) -> Scanned {
        for wanted in word.bytes() {
            if self.here()? != wanted {
                let context = format!("in literal {word} (expecting {})", quoted(wanted));
                return Err(self.unexpected(&context));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn is(&self, any: &[u8]) -> bool {
        self.text.get(self.at).is_some_and(|byte| any.contains(byte))
    }

    /// The byte that is read next.
    fn here(&self) -> Result<u8, Fault> {
        self.text.get(self.at).copied().ok_or(Fault::Unfinished)
    }

    /// The byte that is read next, white space skipped.
    fn peek(&mut self) -> Result<u8, Fault> {
        while self.is(b" \t\r\n") {
            self.at += 1;
        }
        self.here()
    }

    fn unexpected(&self, context: &str) -> Fault {
        let found = quoted(self.text.get(self.at).copied().unwrap_or_default());
        Fault::Syntax { offset: self.at, message: format!("invalid character {found} {context}") }
    }
}

enum Begun {
    /// It has begun and ended.
    Scalar,
    /// It has begun, and its end is next.
    Empty,
    /// It has begun, and its first value is next.
    Inside,
}

/// A byte as Go quotes it: beyond ASCII it stands for the character of its number.
fn quoted(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        0x07 => "'\\a'".to_owned(),
        0x08 => "'\\b'".to_owned(),
        0x0b => "'\\v'".to_owned(),
        0x0c => "'\\f'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        0..=0x1f | 0x7f => format!("'\\x{byte:02x}'"),
        0x80..=0xa0 | 0xad => format!("'\\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}
