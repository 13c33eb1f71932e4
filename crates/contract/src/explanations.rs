//! Explanations: why the answers of a target differ from those of another implementation, matched with each difference
//! that a differential run finds.

use serde_json::Value;

use crate::expect::{Change, Expect, Path, Rules, holds, outside};
use crate::model::Location;

/// A file of kind `Explanations`, about one target.
#[derive(Clone, Debug)]
pub struct Explanations {
    /// Name of the target that differs.
    pub name: String,
    /// Its version; absent: every version.
    pub version: Option<String>,
    /// The explanations, in order; the first that fits counts.
    pub entries: Vec<Explanation>,
}

/// One reason for differences. Absent conditions always hold.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// Webhooks that it applies to; empty and without controllers: all.
    pub webhooks: Vec<String>,
    /// Controllers that it applies to; empty: none.
    pub controllers: Vec<String>,
    /// Paths that it applies to, as prefixes: `object.spec.tolerations`, `message`, `causes`; for controllers
    /// `targetCluster.ConfigMap`, `sourceCluster.ManagedResource[].status`.
    pub at: Vec<String>,
    /// Condition on the request's value; only for paths in the object.
    pub input: Option<Expect>,
    /// Condition on the value in the other implementation's answer; `$unchanged` compares with the input.
    pub ours: Option<Expect>,
    /// Condition on the value in the answer of the target that differs.
    pub theirs: Option<Expect>,
    /// Condition on the case: `operation`, `dryRun`, `review`, `instance`, `config`, `namespace`, `cluster`, `object`,
    /// `oldObject`; for controllers `config`, `sourceCluster`, `targetCluster`, `steps`.
    pub given: Option<Expect>,
    /// The clause whose `differs` states the difference, if there is one.
    pub clause: Option<String>,
    /// Why, in a sentence.
    pub reason: String,
    /// Its position.
    pub location: Location,
}

/// The webhook or controller whose answers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectName<'a> {
    /// A webhook.
    Webhook(&'a str),
    /// A controller.
    Controller(&'a str),
}

/// A difference between two answers.
#[derive(Clone, Copy, Debug)]
pub struct Difference<'a> {
    /// The webhook or controller whose answers differ.
    pub subject: SubjectName<'a>,
    /// The path: `object` and the path below it, a part of the answer such as `message`, or cluster, kind and object.
    pub place: &'a Path,
    /// The value in the request.
    pub input: Option<&'a Value>,
    /// The value in the other implementation's answer.
    pub ours: Option<&'a Value>,
    /// The value in the answer of the target that differs.
    pub theirs: Option<&'a Value>,
    /// The case, as [`Explanation::given`] describes it.
    pub given: &'a Value,
}

impl Explanations {
    /// Whether they are about this target.
    #[must_use]
    pub fn speak_of(&self, name: &str, version: Option<&str>) -> bool {
        self.name == name && self.version.as_deref().is_none_or(|own| Some(own) == version)
    }
}

impl Explanation {
    /// Whether it applies to this webhook or controller.
    #[must_use]
    pub fn applies_to(&self, subject: SubjectName<'_>) -> bool {
        match subject {
            SubjectName::Webhook(_) if self.webhooks.is_empty() => self.controllers.is_empty(),
            SubjectName::Webhook(name) => self.webhooks.iter().any(|own| own == name),
            SubjectName::Controller(name) => self.controllers.iter().any(|own| own == name),
        }
    }

    /// Whether it explains a difference.
    #[must_use]
    pub fn explains(&self, difference: &Difference<'_>) -> bool {
        let rules = Rules::unknown();
        let Difference { subject, place, input, ours, theirs, given } = *difference;
        let change = Change { path: place.clone(), before: None, after: None };
        let keeps = |expect: &Option<Expect>, got: Option<&Value>| {
            expect.as_ref().is_none_or(|expect| holds(expect, input, got, &rules))
        };
        self.applies_to(subject)
            && outside(&self.at, &[change]).is_empty()
            && keeps(&self.input, input)
            && keeps(&self.ours, ours)
            && keeps(&self.theirs, theirs)
            && self.given.as_ref().is_none_or(|expect| holds(expect, Some(given), Some(given), &rules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::SourceFile;
    use crate::expect::Step;
    use crate::load;
    use serde_json::json;

    const HEAD: &str = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Explanations\n\
                        target: {name: x, version: v1}\nexplanations:\n";

    fn read(entry: &str) -> load::Loaded {
        load::read(&[SourceFile::new("contracts/explained/x-v1.yaml", format!("{HEAD}- {entry}\n"))])
    }

    #[test]
    fn a_difference_is_explained_where_every_condition_holds() {
        let place = Path(["object", "spec", "size"].map(|name| Step::Field(name.to_owned())).to_vec());
        let given = json!({"operation": "CREATE", "object": {"kind": "Pod"}});
        let (input, theirs) = (json!("1"), json!("2"));
        let difference = Difference {
            subject: SubjectName::Webhook("w"),
            place: &place,
            input: Some(&input),
            ours: Some(&input),
            theirs: Some(&theirs),
            given: &given,
        };
        let table = [
            ("{at: object.spec, reason: r}", true),
            ("{at: object.spec.size, webhooks: [v, w], reason: r}", true),
            ("{at: object.spec.other, reason: r}", false),
            ("{at: object.spec, controllers: w, reason: r}", false),
            ("{at: object.spec, controllers: c, webhooks: w, reason: r}", true),
            ("{at: [message, object], webhooks: v, reason: r}", false),
            ("{at: object, ours: $unchanged, theirs: \"2\", input: $present, reason: r}", true),
            ("{at: object, theirs: $unchanged, reason: r}", false),
            ("{at: object, input: $absent, reason: r}", false),
            ("{at: object, given: {operation: CREATE, object: {kind: Pod}}, reason: r}", true),
            ("{at: object, given: {operation: UPDATE}, reason: r}", false),
        ];
        for (entry, want) in table {
            let loaded = read(entry);
            assert_eq!(loaded.errors.len(), 0, "{entry}: {:?}", loaded.errors);
            let [explanations] = loaded.records.explanations.as_slice() else { unreachable!("one file") };
            assert!(explanations.speak_of("x", Some("v1")) && !explanations.speak_of("x", Some("v2")));
            assert_eq!(explanations.entries[0].explains(&difference), want, "{entry}");
        }
    }

    #[test]
    fn errors_have_a_line() {
        let table = [
            ("{at: object, because: r}", "no key \"because\""),
            ("{at: object}", "reason is missing"),
            ("{reason: r}", "at is missing"),
            ("{at: \"object[\", reason: r}", "is not a valid path"),
            ("{at: object, theirs: $gone, reason: r}", "$gone"),
        ];
        for (entry, words) in table {
            let errors = read(entry).errors;
            assert!(errors.iter().any(|error| error.message.contains(words)), "{entry}: {errors:?}");
            assert!(errors.iter().all(|error| error.location.line == 5), "{entry}: {errors:?}");
        }
    }
}
