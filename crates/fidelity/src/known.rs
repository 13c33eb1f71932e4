//! Known differences, each with a reason, from `data/known.yaml`.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

use crate::compare::Difference;
use crate::exercise::Exercise;

/// A known difference. All expressions must match the whole text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnownDifference {
    /// A unique name.
    pub name: String,
    /// Why the servers differ, and why that is acceptable.
    pub reason: String,
    /// Matches the resource; any resource if absent.
    #[serde(default)]
    pub resource: Option<Expression>,
    /// Matches the operation, such as `patch apply status`; any operation if absent.
    #[serde(default)]
    pub asked: Option<Expression>,
    /// Matches the part of the answer.
    pub part: Expression,
    /// Matches the real server's value (as JSON if it is not a text).
    #[serde(default)]
    pub real: Option<Expression>,
    /// Matches the embedded server's value.
    #[serde(default)]
    pub embedded: Option<Expression>,
    /// Matches what may differ within two texts that must otherwise be equal; anything if absent. The groups whose names begin with
    /// `keep` must be equal, too.
    #[serde(default)]
    pub but: Option<Expression>,
    /// Whether what `but` matches may be missing in one of the texts.
    #[serde(default)]
    pub may_lack: bool,
}

/// A regular expression whose `.` matches newlines.
#[derive(Clone, Debug)]
pub struct Expression(Regex);

static ALL: LazyLock<Vec<KnownDifference>> = LazyLock::new(|| {
    formats::yaml::from_str(include_str!("../data/known.yaml")).expect("a test reads this file")
});

/// All known differences.
#[must_use]
pub fn all() -> &'static [KnownDifference] {
    &ALL
}

/// The name of the known difference that explains a difference.
#[must_use]
pub fn explanation(
    known: &'static [KnownDifference],
    exercise: &Exercise,
    difference: &Difference,
) -> Option<&'static str> {
    known.iter().find(|known| known.explains(exercise, difference)).map(|known| known.name.as_str())
}

impl KnownDifference {
    fn explains(&self, exercise: &Exercise, difference: &Difference) -> bool {
        let matches = |expression: &Option<Expression>, text: &str| {
            expression.as_ref().is_none_or(|expression| expression.matches(text))
        };
        matches(&self.resource, &exercise.resource)
            && matches(&self.asked, &exercise.operation())
            && self.part.matches(&difference.part)
            && matches(&self.real, &text(&difference.real))
            && matches(&self.embedded, &text(&difference.embedded))
            && self.but.as_ref().is_none_or(|but| {
                let mark = if self.may_lack { "" } else { "\u{0}" };
                but.replace(&difference.real, mark) == but.replace(&difference.embedded, mark)
            })
    }
}

impl Expression {
    /// Whether the expression matches the whole text.
    fn matches(&self, text: &str) -> bool {
        self.0.find(text).is_some_and(|found| found.len() == text.len())
    }

    /// The text of a value in which each match is replaced by its `keep` groups and a mark.
    fn replace(&self, value: &Value, mark: &str) -> String {
        let names: Vec<&str> =
            self.0.capture_names().flatten().filter(|name| name.starts_with("keep")).collect();
        let kept = |found: &Captures<'_>| {
            let kept = names.iter().filter_map(|name| found.name(name)).map(|kept| kept.as_str());
            kept.chain([mark]).collect::<String>()
        };
        self.0.replace_all(&text(value), kept).into_owned()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let read = Regex::new(&format!("(?s){text}"));
        read.map(Self).map_err(serde::de::Error::custom)
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn every_known_difference_has_a_unique_name_and_a_reason() {
        let names: BTreeSet<&str> = all().iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names.len(), all().len());
        assert!(all().iter().all(|known| known.reason.len() > 40), "a reason is a sentence");
    }

    #[test]
    fn expressions_must_match_whole_texts() {
        let text = "name: one\nreason: r\nresource: pods\nasked: patch .*\npart: body/message\nreal: a.*\n";
        let known: KnownDifference = formats::yaml::from_str(text).unwrap();
        let exercise = Exercise {
            resource: "pods".to_owned(),
            verb: "patch".to_owned(),
            form: "merge".to_owned(),
            ..Exercise::default()
        };
        let difference = |part: &str, real: &str| Difference {
            part: part.to_owned(),
            real: json!(real),
            embedded: json!("b"),
        };
        assert!(known.explains(&exercise, &difference("body/message", "abc")));
        assert!(!known.explains(&exercise, &difference("body/message/x", "abc")));
        assert!(!known.explains(&exercise, &difference("body/message", "xabc")));
        let but: Expression = serde_json::from_value(json!("quoted \\w+")).unwrap();
        let known = KnownDifference { but: Some(but), real: None, ..known };
        let texts = |real: &str| Difference {
            embedded: json!("so: quoted b, end"),
            ..difference("body/message", real)
        };
        assert!(known.explains(&exercise, &texts("so: quoted a, end")));
        assert!(!known.explains(&exercise, &texts("so: quoted a, other")));
        assert!(!known.explains(&exercise, &texts("so: , end")), "the match must be in both texts");
        let lacking = KnownDifference { may_lack: true, ..known.clone() };
        assert!(lacking.explains(&exercise, &texts("so: , end")));
        let but: Expression = serde_json::from_value(json!("(?<keep>\\w+): quoted \\w+")).unwrap();
        let keeping = KnownDifference { but: Some(but), ..known.clone() };
        assert!(keeping.explains(&exercise, &texts("so: quoted a, end")));
        assert!(!keeping.explains(&exercise, &texts("no: quoted a, end")));
        let other = Exercise { resource: "nodes".to_owned(), ..exercise };
        assert!(!known.explains(&other, &difference("body/message", "abc")));
    }
}
