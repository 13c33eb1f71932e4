//! The query parameters of a request, parsed when they are needed.

use std::collections::BTreeMap;

use webhook::field::{Error, ErrorKind, Shown, quote};

use crate::http::status::Status;

/// The parameters of a request, decoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(BTreeMap<String, Vec<String>>);

impl Query {
    /// Parses the text after the `?`.
    pub(crate) fn parse(text: &str) -> Self {
        let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.entry(decode(key, true)).or_default().push(decode(value, true));
        }
        Self(parameters)
    }

    /// The first value of a parameter; empty if absent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(|values| values.first()).map_or("", String::as_str)
    }

    /// Whether a flag is set, as Go reads it: any value but `false` and `0`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.optional_flag(name).unwrap_or(false)
    }

    /// The value of a flag; absent if the parameter is.
    pub(crate) fn optional_flag(&self, name: &str) -> Option<bool> {
        let value = self.0.get(name)?.first()?;
        Some(!matches!(value.to_lowercase().as_str(), "false" | "0"))
    }

    /// The value of an integer parameter; absent if the parameter is.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, Status> {
        let value = self.text(name);
        let wrong =
            || Status::bad_request(format!("strconv.ParseInt: parsing {}: invalid syntax", quote(value)));
        if value.is_empty() { Ok(None) } else { value.parse().map(Some).map_err(|_| wrong()) }
    }

    /// Whether the request is a dry run; [`Self::dry_run_error`] validates the value.
    pub(crate) fn dry_run(&self) -> bool {
        self.0.contains_key("dryRun")
    }

    /// Validates `dryRun`.
    pub(crate) fn dry_run_error(&self) -> Option<Error> {
        dry_run_error(self.0.get("dryRun").map_or(&[], Vec::as_slice))
    }
}

/// Validates dry-run directives: only `All` is allowed.
pub(crate) fn dry_run_error(directives: &[String]) -> Option<Error> {
    let has_invalid = directives.iter().any(|directive| directive != "All");
    let found: Vec<String> = directives.iter().map(|directive| formats::json::quoted(directive)).collect();
    let value = Shown::verbatim(format!("[{}]", found.join(",")));
    has_invalid.then(|| Error {
        kind: ErrorKind::NotSupported,
        field: "dryRun".to_owned(),
        value: Some(value),
        detail: "supported values: \"All\"".to_owned(),
    })
}

/// Decodes percent-encoding and, in a query, plus signs.
pub(crate) fn decode(text: &str, plus: bool) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], hex) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 2;
            }
            (b'+', _) if plus => decoded.push(b' '),
            (byte, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let query = Query::parse("labelSelector=a%3Db%2Cc+in+%28d%29&watch=1&limit=5&dryRun=All&x&y=100%25");
        assert_eq!(query.text("labelSelector"), "a=b,c in (d)");
        assert!(query.flag("watch"));
        assert_eq!(query.integer("limit"), Ok(Some(5)));
        assert!(query.dry_run() && query.dry_run_error().is_none());
        assert_eq!((query.text("x"), query.text("y"), query.text("z")), ("", "100%", ""));
    }

    #[test]
    fn wrong_values_are_bad_requests() {
        let query = Query::parse("limit=x&dryRun=Some");
        assert_eq!(query.integer("limit").unwrap_err().code, 400);
        let wrong = query.dry_run_error().map(|error| error.to_string());
        assert_eq!(
            wrong.as_deref(),
            Some("dryRun: Unsupported value: [\"Some\"]: supported values: \"All\"")
        );
    }
}
