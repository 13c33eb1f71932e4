//! Describes expectations on one line.

use serde_json::Value;

use super::scalar::bare;
use super::{Expect, Operator};

/// Describes an expectation: `2`, `absent`, `matches ".*immutable"`, `[a, b]`.
#[must_use]
pub fn words(expect: &Expect) -> String {
    match expect {
        Expect::Value(Value::Null) => "absent".to_owned(),
        Expect::Value(value) => bare(value),
        Expect::Map(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, expect)| format!("{name}: {}", words(expect))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Expect::Keyed { items, .. } => {
            let items: Vec<String> = items
                .iter()
                .map(|item| {
                    let key: Vec<String> =
                        item.key.iter().map(|(name, value)| format!("{name}={}", bare(value))).collect();
                    format!("{}: {}", key.join(","), words(&item.expect))
                })
                .collect();
            format!("[{}]", items.join(", "))
        }
        Expect::List { items, ordered } => {
            format!("{}{}", list(items), if *ordered { "" } else { " in any order" })
        }
        Expect::Operator(operator) => operator_words(operator),
    }
}

fn operator_words(operator: &Operator) -> String {
    match operator {
        Operator::Absent => "absent".to_owned(),
        Operator::Present => "present".to_owned(),
        Operator::Changed => "changed".to_owned(),
        Operator::Unchanged => "unchanged".to_owned(),
        Operator::UnchangedBut(but) => format!("unchanged except {}", but.join(", ")),
        Operator::Parameter { name, .. } => format!("the value that the target states for {name}"),
        Operator::UnchangedLike(patterns) => format!("{} unchanged", patterns.join(", ")),
        Operator::Any => "anything".to_owned(),
        Operator::Matches { regex, .. } => format!("matches {regex:?}"),
        Operator::Contains(parts) => format!("contains {}", list(parts)),
        Operator::Exactly(items) => format!("exactly {}", list(items)),
        Operator::OneOf(values) => {
            format!("one of {}", values.iter().map(bare).collect::<Vec<_>>().join(", "))
        }
        Operator::Count(number) => format!("{number} elements"),
        Operator::Each(expect) => format!("each {}", words(expect)),
        Operator::AbsentOr(expect) => format!("absent, or {}", words(expect)),
        Operator::NotMatches { regex, .. } => format!("does not match {regex:?}"),
        Operator::AnyKey(patterns) => format!("at least one of {}", patterns.join(", ")),
        Operator::NoKey(patterns) => format!("none of {}", patterns.join(", ")),
        Operator::Filled => "not empty".to_owned(),
        Operator::Between(low, high) => format!("between {} and {}", bare(low), bare(high)),
        Operator::Cel { expression, .. } => {
            format!("true for {expression}")
        }
        Operator::Opened(notation, content) => {
            let name = format!("{notation:?}").to_lowercase();
            format!("{name} of {}", words(content))
        }
    }
}

fn list(items: &[Expect]) -> String {
    format!("[{}]", items.iter().map(words).collect::<Vec<_>>().join(", "))
}
