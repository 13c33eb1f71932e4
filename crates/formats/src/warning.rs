//! The `Warning` header of an API server: RFC 7234 §5.5.

/// The text of a header value, without quotes and escapes: `text` for `299 - "text"`.
#[must_use]
pub fn text(value: &str) -> String {
    let quoted = value.find('"').map_or(value, |at| &value[at..]);
    serde_json::from_str(quoted).unwrap_or_else(|_| quoted.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn the_text_is_the_quoted_part_without_escapes() {
        assert_eq!(text(r#"299 - "unknown field \"spec.x\"""#), r#"unknown field "spec.x""#);
        assert_eq!(text(r#"299 - "a\q""#), r"a\q");
        assert_eq!(text("no quotes"), "no quotes");
    }
}
