//! Differences that are known, each with a reason: data of `data/known.yaml`.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

use crate::compare::Difference;
use crate::exercise::Exercise;

/// A difference that is known.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Known {
    /// A name of its own.
    pub name: String,
    /// Why it is so, and why it may stay so.
    pub reason: String,
    /// Of which resource, as an expression; absent: of any.
    #[serde(default)]
    pub resource: Option<Expression>,
    /// Of what is asked (`patch apply status`), as an expression; absent: of anything.
    #[serde(default)]
    pub asked: Option<Expression>,
    /// Where, as an expression.
    pub part: Expression,
    /// What the real server says, as an expression over its text (JSON where it is none).
    #[serde(default)]
    pub real: Option<Expression>,
    /// What the embedded server says.
    #[serde(default)]
    pub embedded: Option<Expression>,
    /// What may differ in texts that are the same otherwise, as an expression; absent: anything. Its groups whose names begin
    /// with `keep` may not.
    #[serde(default)]
    pub but: Option<Expression>,
    /// Whether it need not be there in both.
    #[serde(default)]
    pub may_lack: bool,
}

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Expression(Regex);

static ALL: LazyLock<Vec<Known>> = LazyLock::new(|| {
    formats::yaml::from_str(include_str!("../data/known.yaml")).expect("a test reads this file")
});

/// All of them.
#[must_use]
pub fn all() -> &'static [Known] {
    &ALL
}

/// The name of the known difference that explains a difference.
#[must_use]
pub fn explanation(
    known: &'static [Known],
    exercise: &Exercise,
    difference: &Difference,
) -> Option<&'static str> {
    known.iter().find(|known| known.explains(exercise, difference)).map(|known| known.name.as_str())
}

impl Known {
    fn explains(&self, exercise: &Exercise, difference: &Difference) -> bool {
        let fits = |wanted: &Option<Expression>, text: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.covers(text))
        };
        fits(&self.resource, &exercise.resource)
            && fits(&self.asked, &exercise.words())
            && self.part.covers(&difference.part)
            && fits(&self.real, &text(&difference.real))
            && fits(&self.embedded, &text(&difference.embedded))
            && self.but.as_ref().is_none_or(|but| {
                let mark = if self.may_lack { "" } else { "\u{0}" };
                but.marked(&difference.real, mark) == but.marked(&difference.embedded, mark)
            })
    }
}

impl Expression {
    fn covers(&self, text: &str) -> bool {
        self.0.find(text).is_some_and(|found| found.len() == text.len())
    }

    /// The text of a value with a mark where the expression finds something, but for what is kept of that.
    fn marked(&self, value: &Value, mark: &str) -> String {
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
    fn every_known_difference_has_a_name_of_its_own_and_a_reason() {
        let names: BTreeSet<&str> = all().iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names.len(), all().len());
        assert!(all().iter().all(|known| known.reason.len() > 40), "a reason is a sentence");
    }

    #[test]
    fn a_difference_is_explained_by_what_fits_as_a_whole() {
        let text = "name: one\nreason: r\nresource: pods\nasked: patch .*\npart: body/message\nreal: a.*\n";
        let known: Known = formats::yaml::from_str(text).unwrap();
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
        let known = Known { but: Some(but), real: None, ..known };
        let told = |real: &str| Difference {
            embedded: json!("so: quoted b, end"),
            ..difference("body/message", real)
        };
        assert!(known.explains(&exercise, &told("so: quoted a, end")));
        assert!(!known.explains(&exercise, &told("so: quoted a, other")));
        assert!(!known.explains(&exercise, &told("so: , end")), "it is there in both");
        let lacking = Known { may_lack: true, ..known.clone() };
        assert!(lacking.explains(&exercise, &told("so: , end")));
        let but: Expression = serde_json::from_value(json!("(?<keep>\\w+): quoted \\w+")).unwrap();
        let keeping = Known { but: Some(but), ..known.clone() };
        assert!(keeping.explains(&exercise, &told("so: quoted a, end")));
        assert!(!keeping.explains(&exercise, &told("no: quoted a, end")));
        let other = Exercise { resource: "nodes".to_owned(), ..exercise };
        assert!(!known.explains(&other, &difference("body/message", "abc")));
    }
}
