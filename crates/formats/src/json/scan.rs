//! Finds the end of a JSON value, or its first syntax error, which it reports with Go's message.

use crate::depth;

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A character is not allowed at its position.
    Syntax {
        /// Its offset in bytes, from 0.
        offset: usize,
        /// Go's message.
        message: String,
    },
    /// The text ends before the value does.
    Unfinished,
}

/// Where the first value of a text ends, in bytes.
///
/// # Errors
/// The first error in that value.
pub(super) fn end(text: &[u8]) -> Result<usize, Fault> {
    let mut scanner = Scanner { text, at: 0, open: Vec::new() };
    scanner.value()?;
    Ok(scanner.at)
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Closing characters of the enclosing lists and maps.
    open: Vec<u8>,
}

type Scanned = Result<(), Fault>;

impl Scanner<'_> {
    /// Scans one value with its content. Not recursive, because the nesting can be as deep as the text is long.
    fn value(&mut self) -> Scanned {
        loop {
            match self.begin()? {
                ValueStart::Scalar => {}
                ValueStart::Empty => {
                    self.at += 1;
                    self.open.pop();
                }
                ValueStart::Inside => continue,
            }
            if self.end()? {
                return Ok(());
            }
        }
    }

    /// Scans a scalar, or a list or map up to its first value.
    fn begin(&mut self) -> Result<ValueStart, Fault> {
        match self.peek()? {
            b'{' => {
                self.enter(b'}')?;
                if self.peek()? == b'}' {
                    return Ok(ValueStart::Empty);
                }
                self.key().map(|()| ValueStart::Inside)
            }
            b'[' => {
                self.enter(b']')?;
                Ok(if self.peek()? == b']' { ValueStart::Empty } else { ValueStart::Inside })
            }
            b'"' => self.string().map(|()| ValueStart::Scalar),
            b'-' | b'0'..=b'9' => self.number().map(|()| ValueStart::Scalar),
            b't' => self.literal("true").map(|()| ValueStart::Scalar),
            b'f' => self.literal("false").map(|()| ValueStart::Scalar),
            b'n' => self.literal("null").map(|()| ValueStart::Scalar),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    /// Scans an opening bracket.
    fn enter(&mut self, close: u8) -> Scanned {
        if self.open.len() == depth::DEEPEST {
            return Err(self.unexpected("exceeded max depth"));
        }
        self.at += 1;
        self.open.push(close);
        Ok(())
    }

    /// Scans what follows a value: closing brackets, then a comma and the next key. True at the end of the whole value.
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
            match self.current()? {
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
        match self.current()? {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => self.at += 1,
            b'u' => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.current()?.is_ascii_hexdigit() {
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
        if self.current()? == b'-' {
            self.at += 1;
        }
        match self.current()? {
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
        if !self.current()?.is_ascii_digit() {
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
            if self.current()? != wanted {
                let context = format!("in literal {word} (expecting {})", go_quoted(wanted));
                return Err(self.unexpected(&context));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn is(&self, any: &[u8]) -> bool {
        self.text.get(self.at).is_some_and(|byte| any.contains(byte))
    }

    /// The next byte.
    fn current(&self) -> Result<u8, Fault> {
        self.text.get(self.at).copied().ok_or(Fault::Unfinished)
    }

    /// The next byte after white space.
    fn peek(&mut self) -> Result<u8, Fault> {
        while self.is(b" \t\r\n") {
            self.at += 1;
        }
        self.current()
    }

    fn unexpected(&self, context: &str) -> Fault {
        let found = go_quoted(self.text.get(self.at).copied().unwrap_or_default());
        Fault::Syntax { offset: self.at, message: format!("invalid character {found} {context}") }
    }
}

enum ValueStart {
    /// A complete scalar.
    Scalar,
    /// A list or map whose closing bracket is next.
    Empty,
    /// A list or map whose first value is next.
    Inside,
}

/// A byte as Go quotes it: a byte beyond ASCII is the code point of that number.
pub(super) fn go_quoted(byte: u8) -> String {
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
