//! Label selectors in kubectl's notation: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>1`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::{LabelSelector, Operator, Requirement};
use crate::name;

/// Reason a selector text is invalid, with Kubernetes' message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub(super) String);

impl FromStr for LabelSelector {
    type Err = ParseError;

    /// Parses a text. `a=b` goes to `matchLabels` unless it already has the key; everything else goes to
    /// `matchExpressions`, sorted by key.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut selector = Self::default();
        for (requirement, exact) in Parser::new(text).requirements()? {
            match requirement.values.as_slice() {
                [value] if exact && !selector.match_labels.contains_key(&requirement.key) => {
                    selector.match_labels.insert(requirement.key, value.clone());
                }
                _ => selector.match_expressions.push(requirement),
            }
        }
        selector.match_expressions.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(selector)
    }
}

impl fmt::Display for LabelSelector {
    /// Writes the requirements sorted by key; parsing the text gives the same selector.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equal = self.match_labels.iter().map(|(key, value)| (key, format!("{key}={value}")));
        let others =
            self.match_expressions.iter().map(|requirement| (&requirement.key, requirement.to_string()));
        let mut parts: Vec<_> = equal.chain(others).collect();
        parts.sort_by(|a, b| a.0.cmp(b.0));
        let parts: Vec<_> = parts.into_iter().map(|(_, text)| text).collect();
        f.write_str(&parts.join(","))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: BTreeSet<&str> = self.values.iter().map(String::as_str).collect();
        let values = values.into_iter().collect::<Vec<_>>().join(",");
        let key = &self.key;
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Gt => write!(f, "{key}>{values}"),
            Operator::Lt => write!(f, "{key}<{values}"),
        }
    }
}

/// A word, or an operator's sign, a bracket or a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Sign(&'a str),
    End,
}

impl Token<'_> {
    fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Sign(text) => text,
            Self::End => "",
        }
    }
}

const SIGNS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn scan(text: &str) -> Vec<Token<'_>> {
    let special = |character: char| "=!(),><".contains(character);
    let blank = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(blank);
    while !rest.is_empty() {
        let length = if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(&rest[..sign.len()]));
            sign.len()
        } else {
            let end = rest.find(|character| special(character) || blank(character)).unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..end]));
            end
        };
        rest = rest[length..].trim_start_matches(blank);
    }
    tokens.push(Token::End);
    tokens
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self { tokens: scan(text), at: 0 }
    }

    /// Parses all requirements; true marks those written with `=` or `==`.
    fn requirements(mut self) -> Result<Vec<(Requirement, bool)>, ParseError> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::Word(_) | Token::Sign("!") => {
                    let requirement = self.requirement();
                    requirements.push(
                        requirement.map_err(|e| ParseError(format!("unable to parse requirement: {e}")))?,
                    );
                }
                Token::End => return Ok(requirements),
                other @ Token::Sign(_) => return Err(expected(other, "!, identifier, or 'end of string'")),
            }
            match self.next() {
                Token::End => return Ok(requirements),
                Token::Sign(",") => match self.peek() {
                    Token::Word(_) | Token::Sign("!") => {}
                    other => return Err(expected(other, "identifier after ','")),
                },
                other => return Err(expected(other, "',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<(Requirement, bool), ParseError> {
        let absent = self.peek() == Token::Sign("!");
        if absent {
            self.next();
        }
        let key = match self.next() {
            Token::Word(key) => key.to_owned(),
            other => return Err(expected(other, "identifier")),
        };
        check("", &key, &name::label_key(&key))?;
        if absent || matches!(self.peek(), Token::End | Token::Sign(",")) {
            let operator = if absent { Operator::DoesNotExist } else { Operator::Exists };
            return Ok((Requirement { key, operator, values: Vec::new() }, false));
        }
        let sign = self.next();
        let (operator, values) = match sign {
            Token::Word("in") => (Operator::In, self.list()?),
            Token::Word("notin") => (Operator::NotIn, self.list()?),
            Token::Sign("=" | "==") => (Operator::In, self.value()?),
            Token::Sign("!=") => (Operator::NotIn, self.value()?),
            Token::Sign(">") => (Operator::Gt, self.value()?),
            Token::Sign("<") => (Operator::Lt, self.value()?),
            other => return Err(expected(other, "in, notin, =, ==, !=, gt, lt")),
        };
        let requirement = Requirement { key, operator, values: values.into_iter().collect() };
        check_values(&requirement)?;
        Ok((requirement, matches!(sign, Token::Sign("=" | "=="))))
    }

    /// Parses the value after an operator sign; a missing value is the empty text.
    fn value(&mut self) -> Result<BTreeSet<String>, ParseError> {
        let value = match self.peek() {
            Token::End | Token::Sign(",") => "",
            Token::Word(value) => {
                self.next();
                value
            }
            other @ Token::Sign(_) => return Err(expected(other, "identifier")),
        };
        Ok(BTreeSet::from([value.to_owned()]))
    }

    /// Parses `(a,b)`; a missing value is the empty text.
    fn list(&mut self) -> Result<BTreeSet<String>, ParseError> {
        match self.next() {
            Token::Sign("(") => {}
            other => return Err(ParseError(format!("found '{}' expected: '('", other.text()))),
        }
        let mut values = BTreeSet::new();
        loop {
            let value = match self.peek() {
                Token::Word(value) => {
                    self.next();
                    value.to_owned()
                }
                Token::Sign("," | ")") => String::new(),
                other => return Err(expected(other, "',', ')' or identifier")),
            };
            values.insert(value);
            match self.next() {
                Token::Sign(",") => {}
                Token::Sign(")") => return Ok(values),
                other => return Err(expected(other, "',' or ')'")),
            }
        }
    }

    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.at).copied().unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }
}

fn expected(found: Token<'_>, what: &str) -> ParseError {
    ParseError(format!("found '{}', expected: {what}", found.text()))
}

fn check_values(requirement: &Requirement) -> Result<(), ParseError> {
    let key = &requirement.key;
    for (index, value) in requirement.values.iter().enumerate() {
        let bound = matches!(requirement.operator, Operator::Gt | Operator::Lt);
        if bound && value.parse::<i64>().is_err() {
            let errors = ["for 'Gt', 'Lt' operators, the value must be an integer".to_owned()];
            check(&format!("values[{index}]"), value, &errors)?;
        }
        check(&format!("values[{index}][{key}]"), value, &name::label_value(value))?;
    }
    Ok(())
}

fn check(field: &str, value: &str, errors: &[String]) -> Result<(), ParseError> {
    if errors.is_empty() {
        return Ok(());
    }
    let field = if field.is_empty() { "<nil>" } else { field };
    Err(ParseError(format!("{field}: Invalid value: {value:?}: {}", errors.join("; "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> std::collections::BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn texts_are_parsed_and_printed() {
        let table = [
            ("", ""),
            ("a=b", "a=b"),
            (" a == b ", "a=b"),
            ("a", "a"),
            ("!a", "!a"),
            ("a=", "a="),
            ("a!=b", "a notin (b)"),
            ("b=1,a=2", "a=2,b=1"),
            ("a=1,a=2", "a=1,a in (2)"),
            ("a in (c,b,,b)", "a in (,b,c)"),
            ("a in ()", "a in ()"),
            ("a notin (in,notin)", "a notin (in,notin)"),
            ("a>1,a<9", "a>1,a<9"),
            ("x.y/z in(a),!w", "!w,x.y/z in (a)"),
            ("a=b,c!=d,e in (f,g),!h", "a=b,c notin (d),e in (f,g),!h"),
        ];
        for (text, printed) in table {
            let selector: LabelSelector = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(selector.to_string(), printed, "{text}");
            assert_eq!(selector.to_string().parse::<LabelSelector>().unwrap(), selector, "{text}");
        }
    }

    #[test]
    fn malformed_selectors_are_rejected_with_kubernetes_messages() {
        let table = [
            (",", "found ',', expected: !, identifier, or 'end of string'"),
            ("a,", "found '', expected: identifier after ','"),
            ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
            ("a=b c", "found 'c', expected: ',' or 'end of string'"),
            ("a in b", "unable to parse requirement: found 'b' expected: '('"),
            ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
            ("a=(", "unable to parse requirement: found '(', expected: identifier"),
            ("!", "unable to parse requirement: found '', expected: identifier"),
            (
                "a>x",
                "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value \
                 must be an integer",
            ),
        ];
        for (text, error) in table {
            assert_eq!(text.parse::<LabelSelector>().unwrap_err().to_string(), error, "{text}");
        }
        for text in ["-a", "a=-b", "a/b/c=d", "a in (b,-)"] {
            let error = text.parse::<LabelSelector>().unwrap_err().to_string();
            assert!(error.contains(": Invalid value: "), "{text}: {error}");
        }
    }

    #[test]
    fn requirements_select() {
        let object = labels(&[("a", "b"), ("n", "5"), ("e", "")]);
        let table = [
            ("", true),
            ("a=b", true),
            ("a=c", false),
            ("a!=b", false),
            ("z!=b", true),
            ("e=", true),
            ("z=", false),
            ("a in (b,c)", true),
            ("z in (b)", false),
            ("a notin (b)", false),
            ("z notin (b)", true),
            ("a", true),
            ("!a", false),
            ("!z", true),
            ("n>4,n<6", true),
            ("n>5", false),
            ("a>1", false),
            ("z<1", false),
            ("a=b,z", false),
        ];
        for (text, selected) in table {
            assert_eq!(text.parse::<LabelSelector>().unwrap().matches(&object), selected, "{text}");
        }
    }
}
