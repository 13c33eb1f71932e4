//! Field selectors as text: `metadata.name=a,status.phase!=Running`.

use std::fmt;
use std::str::FromStr;

use super::ParseError;

/// Selects by fields; all terms must hold. An empty selector selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    /// The terms, in order of their text.
    pub terms: Vec<FieldTerm>,
}

/// One comparison of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTerm {
    /// Dotted path, such as `metadata.name`.
    pub field: String,
    /// Whether the values must be equal (`=`), or must differ (`!=`).
    pub equal: bool,
    /// Value compared with.
    pub value: String,
}

impl FieldSelector {
    /// Whether an object is selected; `lookup` returns its fields. An unknown field counts as the empty text.
    pub fn matches<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.terms.iter().all(|term| (lookup(&term.field).unwrap_or_default() == term.value) == term.equal)
    }

    /// The value that `field` must have according to an `=` term.
    #[must_use]
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.equal && term.field == field).map(|term| term.value.as_str())
    }
}

impl FromStr for FieldSelector {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parts = split(text);
        parts.sort_unstable();
        let terms = parts.into_iter().filter(|part| !part.is_empty()).map(|part| parse_term(text, part));
        Ok(Self { terms: terms.collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let operator = if term.equal { "=" } else { "!=" };
            let value = term.value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            write!(f, "{comma}{}{operator}{value}", term.field)?;
        }
        Ok(())
    }
}

/// Splits at commas that are not escaped.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (index, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn parse_term(text: &str, part: &str) -> Result<FieldTerm, ParseError> {
    let operators = ["!=", "==", "="];
    let found = part.char_indices().find_map(|(index, _)| {
        operators
            .iter()
            .find(|operator| part[index..].starts_with(**operator))
            .map(|operator| (index, *operator))
    });
    let (index, operator) =
        found.ok_or_else(|| ParseError(format!("invalid selector: '{text}'; can't understand '{part}'")))?;
    let value = unescape(&part[index + operator.len()..])?;
    Ok(FieldTerm { field: part[..index].to_owned(), equal: operator != "!=", value })
}

fn unescape(value: &str) -> Result<String, ParseError> {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                other => {
                    let other = other.map(String::from).unwrap_or_default();
                    return Err(ParseError(format!(
                        "invalid field selector: invalid escape sequence: \\{other}"
                    )));
                }
            },
            // Kubernetes prints the code point instead of the character; clients may depend on it.
            ',' | '=' => {
                let number = u32::from(character);
                return Err(ParseError(format!(
                    "invalid field selector: unescaped character in value: {number}"
                )));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_read_sorted_and_printed() {
        let table = [
            ("", "", 0),
            ("metadata.name=a", "metadata.name=a", 1),
            ("b!=2,a==1", "a=1,b!=2", 2),
            ("a=", "a=", 1),
            ("a=x\\,y\\=z\\\\", "a=x\\,y\\=z\\\\", 1),
            (",a=b,", "a=b", 1),
        ];
        for (text, printed, terms) in table {
            let selector: FieldSelector = text.parse().unwrap();
            assert_eq!((selector.to_string().as_str(), selector.terms.len()), (printed, terms), "{text}");
            assert_eq!(selector.to_string().parse::<FieldSelector>().unwrap(), selector, "{text}");
        }
    }

    #[test]
    fn malformed_selectors_are_rejected_with_kubernetes_messages() {
        let table = [
            ("a", "invalid selector: 'a'; can't understand 'a'"),
            ("a=b=c", "invalid field selector: unescaped character in value: 61"),
            ("a=\\x", "invalid field selector: invalid escape sequence: \\x"),
            ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
        ];
        for (text, error) in table {
            assert_eq!(text.parse::<FieldSelector>().unwrap_err().to_string(), error);
        }
    }

    #[test]
    fn all_terms_must_hold_and_an_unknown_field_is_empty() {
        let lookup = |field: &str| (field == "metadata.name").then_some("a");
        let table = [
            ("", true),
            ("metadata.name=a", true),
            ("metadata.name!=a", false),
            ("metadata.name=a,spec.nodeName=", true),
            ("metadata.name=a,spec.nodeName=x", false),
            ("spec.nodeName!=x", true),
        ];
        for (text, selected) in table {
            assert_eq!(text.parse::<FieldSelector>().unwrap().matches(lookup), selected, "{text}");
        }
        let selector: FieldSelector = "metadata.name=a,b!=c".parse().unwrap();
        assert_eq!((selector.exact("metadata.name"), selector.exact("b")), (Some("a"), None));
    }
}
