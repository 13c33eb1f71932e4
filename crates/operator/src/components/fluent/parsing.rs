//! Parsers of log lines, and filters that apply one.

use serde_json::{Value, json};

use super::selected;

/// A filter that parses the line of records whose tag matches.
pub(super) fn parser_filter(name: &str, matched: &str, parser: &str) -> Value {
    selected("ClusterFilter", name, &json!({ "match": matched, "filters": [parser_item(parser)] }))
}

/// The step of a filter that parses the line and keeps the other fields.
pub(super) fn parser_item(parser: &str) -> Value {
    json!({ "parser": { "keyName": "log", "parser": parser, "reserveData": true } })
}

/// A parser of lines in JSON.
pub(super) fn json_parser(name: &str, time_key: &str, time_format: &str) -> Value {
    let settings = json!({ "timeKey": time_key, "timeFormat": time_format });
    selected("ClusterParser", name, &json!({ "json": settings }))
}

/// A parser of lines by a regular expression, whose group `time` is the time.
pub(super) fn regex_parser(name: &str, regex: &str, time_format: &str) -> Value {
    let settings = json!({ "regex": regex, "timeKey": "time", "timeFormat": time_format });
    selected("ClusterParser", name, &json!({ "regex": settings }))
}
