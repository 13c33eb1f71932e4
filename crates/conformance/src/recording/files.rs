//! A recorded review as files: a contract with one clause, and its fixtures.

use contract::document::API_VERSION;
use contract::load::{spelled, spelled_text};
use serde::Serialize;
use serde_json::{Map, Value, json};
use webhook::registration::Phase;
use webhook::review::Operation;

use super::difference;
use crate::exchange::{Answer, Subject};

/// The suite of all recordings in a folder, and the label of its contracts.
pub const SUITE: &str = "recorded";

/// A file of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// `contracts/001-create-deployment-a.yaml`.
    pub path: String,
    /// YAML.
    pub text: String,
}

/// A recorded review and the webhook's answer.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Number in the recording, from 1.
    pub number: usize,
    /// The webhook's name in contracts.
    pub webhook: String,
    /// The webhook's component.
    pub component: String,
    /// Mutating or validating.
    pub phase: Phase,
    /// The subject of the request.
    pub subject: Subject,
    /// The object's namespace.
    pub namespace: Option<Value>,
    /// Objects in the cluster that the webhook may have read.
    pub cluster: Vec<Value>,
    /// Its answer.
    pub answer: Answer,
    /// The webhook's name in its registration.
    pub by: String,
    /// The day of the answer: `2026-11-22`.
    pub on: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Contract {
    api_version: &'static str,
    kind: &'static str,
    metadata: Value,
    spec: RecordedSpec,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordedSpec {
    form: &'static str,
    source: Value,
    target: RecordedTarget,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    only_touches: Vec<String>,
    exempt: Value,
    clauses: [Clause; 1],
}

#[derive(Serialize)]
struct RecordedTarget {
    webhook: String,
    handles: [String; 1],
}

#[derive(Serialize)]
struct Clause {
    id: String,
    text: String,
    binds: &'static str,
    given: Map<String, Value>,
    when: Value,
    then: Map<String, Value>,
}

impl Recorded {
    /// `CREATE Deployment a/b`.
    #[must_use]
    pub fn title(&self) -> String {
        let subject = &self.subject;
        let of = if subject.namespaced { format!("{}/", subject.namespace) } else { String::new() };
        let name = if subject.name.is_empty() { "(name to be generated)" } else { &subject.name };
        format!("{} {} {of}{name}", self.operation(), subject.kind.kind)
    }

    /// Its outcome: `3 places changed`, `refused`, `unchanged`.
    #[must_use]
    pub fn outcome(&self) -> String {
        match self.places().len() {
            _ if !self.answer.allowed => "refused".to_owned(),
            0 if self.phase == Phase::Validating => "allowed".to_owned(),
            0 => "unchanged".to_owned(),
            1 => "1 place changed".to_owned(),
            places => format!("{places} places changed"),
        }
    }

    /// Its files.
    ///
    /// # Errors
    /// If it cannot be written as YAML.
    pub fn files(&self) -> Result<Vec<File>, serde_json::Error> {
        let stem = format!("{SUITE}-{:03}", self.number);
        let mut files = Vec::new();
        let mut keep = |what: &str, object: &Value| -> Result<Value, serde_json::Error> {
            let name = format!("{stem}-{what}");
            let text = formats::yaml::to_string(&spelled(object))?;
            files.push(File { path: format!("fixtures/{name}.yaml"), text });
            Ok(json!({"like": name}))
        };
        let mut given = Map::new();
        let single = [
            ("namespace", "namespace", self.namespace.as_ref()),
            ("object", "object", self.subject.object.as_ref()),
            ("old", "before", self.subject.old_object.as_ref()),
        ];
        for (field, what, object) in single {
            if let Some(object) = object {
                given.insert(field.to_owned(), keep(what, object)?);
            }
        }
        if !self.cluster.is_empty() {
            let kept = self.cluster.iter().enumerate();
            let kept = kept.map(|(at, object)| keep(&format!("fact-{}", at + 1), object));
            given.insert("cluster".to_owned(), kept.collect::<Result<_, _>>()?);
        }
        let contract = self.contract(&stem, given);
        let (title, by, on) = (self.title(), &self.by, &self.on);
        let head = format!("# {title}, as {by} answered it on {on}; `replay` sends it again.\n");
        let text = head + formats::yaml::to_string(&contract)?.trim_start_matches("---\n");
        files.push(File { path: format!("{}.yaml", self.file_name()), text });
        Ok(files)
    }

    fn contract(&self, stem: &str, given: Map<String, Value>) -> Contract {
        let subject = &self.subject;
        let resource = &subject.resource;
        let version = match resource.group.as_str() {
            "" => resource.version.clone(),
            group => format!("{group}/{}", resource.version),
        };
        let target = RecordedTarget {
            webhook: self.webhook.clone(),
            handles: [format!("{version} {}", resource.resource)],
        };
        let clause = Clause {
            id: format!("REC-{:03}", self.number),
            text: format!("{} is answered as it was when it was recorded", spelled_text(&self.title())),
            binds: "both",
            given,
            when: json!({"admission": self.operation()}),
            then: self.then(),
        };
        Contract {
            api_version: API_VERSION,
            kind: "Contract",
            metadata: json!({"name": stem, "labels": {"component": self.component, SUITE: "true"}}),
            spec: RecordedSpec {
                form: if self.phase == Phase::Mutating { "mutation" } else { "validation" },
                source: json!({"document": self.by, "version": self.on, "section": "as recorded"}),
                target,
                only_touches: self.places(),
                exempt: json!({"unrelatedUntouched": "a recording does not tell what a webhook is not about"}),
                clauses: [clause],
            },
        }
    }

    fn then(&self) -> Map<String, Value> {
        let answer = &self.answer;
        let mut then = Map::new();
        if answer.allowed {
            match self.changed() {
                Some((before, after)) => {
                    then.insert(
                        "object".to_owned(),
                        difference::difference(before, after).unwrap_or_else(unchanged),
                    );
                }
                None => drop(then.insert("allowed".to_owned(), json!(true))),
            }
        } else {
            let text = |text: &Option<String>| text.as_deref().map(|text| json!(spelled_text(text)));
            let status = [
                ("code", answer.code.map(|code| json!(code))),
                ("reason", text(&answer.reason)),
                ("message", text(&answer.message)),
            ];
            then.insert("allowed".to_owned(), json!(false));
            then.extend(status.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        if !answer.warnings.is_empty() {
            then.insert("warnings".to_owned(), spelled(&json!(answer.warnings)));
        }
        then
    }

    /// The object before and after, where a webhook could change it.
    fn changed(&self) -> Option<(&Value, &Value)> {
        let can_change = self.phase == Phase::Mutating && self.answer.allowed;
        can_change.then_some(())?;
        Some((self.subject.object.as_ref()?, self.answer.object.as_ref()?))
    }

    fn places(&self) -> Vec<String> {
        self.changed().map(|(before, after)| difference::places(before, after)).unwrap_or_default()
    }

    fn operation(&self) -> &'static str {
        match self.subject.operation {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
            Operation::Connect => "CONNECT",
        }
    }

    /// `001-create-deployment-kube-apiserver`.
    fn file_name(&self) -> String {
        let subject = &self.subject;
        let text = format!("{:03}-{}-{}-{}", self.number, self.operation(), subject.kind.kind, subject.name);
        let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
        text.to_lowercase().chars().map(plain).collect::<String>().trim_end_matches(['-', '.']).to_owned()
    }
}

fn unchanged() -> Value {
    json!("$unchanged")
}

/// The suite that includes everything recorded.
#[must_use]
pub fn suite() -> File {
    let text = format!(
        "# Everything that was recorded into this folder.\n\
         apiVersion: {API_VERSION}\n\
         kind: Suite\n\
         metadata: {{name: {SUITE}}}\n\
         spec:\n\
         \x20 description: reviews as they were recorded\n\
         \x20 include:\n\
         \x20 - {{label: {SUITE}=true}}\n"
    );
    File { path: "suite.yaml".to_owned(), text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::case::When;
    use contract::document::SourceFile;
    use contract::expect::{Mismatch, compare};
    use contract::load::{Loaded, read};
    use webhook::review::{GroupVersionKind, GroupVersionResource};

    fn recorded(before: &Value, after: &Value) -> Recorded {
        let text = |text: &str| text.to_owned();
        Recorded {
            number: 7,
            webhook: text("controlplane"),
            component: text("controlplane"),
            phase: Phase::Mutating,
            subject: Subject {
                kind: GroupVersionKind { group: text("apps"), version: text("v1"), kind: text("Deployment") },
                resource: GroupVersionResource {
                    group: text("apps"),
                    version: text("v1"),
                    resource: text("deployments"),
                },
                namespaced: true,
                name: text("a"),
                namespace: text("n"),
                operation: Operation::Create,
                object: Some(before.clone()),
                old_object: None,
            },
            namespace: Some(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})),
            cluster: vec![
                json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}}),
            ],
            answer: Answer { allowed: true, object: Some(after.clone()), ..Answer::default() },
            by: text("controlplane.aws"),
            on: text("2026-11-22"),
        }
    }

    fn deployment(containers: &Value) -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n"},
            "spec": {"selector": {}, "template": {"spec": {"containers": containers}}},
        })
    }

    fn loaded(recorded: &Recorded) -> Loaded {
        let files = recorded.files().unwrap();
        let source = |file: &File| SourceFile::new(format!("contracts/{}", file.path), file.text.as_str());
        let loaded = read(&files.iter().map(source).collect::<Vec<_>>());
        assert!(loaded.errors.is_empty(), "{files:?} {:?}", loaded.errors);
        loaded
    }

    fn mismatches(loaded: &Loaded, answer: &Value) -> Vec<Mismatch> {
        let contract = &loaded.catalog.contracts[0];
        let case = &contract.clauses[0].cases[0];
        let input = case.given.object.as_ref().unwrap();
        compare(case.then.object.as_ref().unwrap(), Some(input), Some(answer), &contract.rules(input))
    }

    #[test]
    fn a_recording_is_a_case_that_its_own_answer_passes_and_another_one_fails() {
        let before = deployment(&json!([{"name": "a", "command": ["$(x)", "<y>"]}, {"name": "b"}]));
        let after = deployment(&json!([{"name": "a", "command": ["$(x)", "<z>"]}, {"name": "c"}]));
        let recorded = recorded(&before, &after);
        assert_eq!(recorded.title(), "CREATE Deployment n/a");
        assert_eq!(recorded.outcome(), "3 places changed");
        let loaded = loaded(&recorded);
        let contract = &loaded.catalog.contracts[0];
        let case = &contract.clauses[0].cases[0];
        assert_eq!(case.given.object, Some(before.clone()));
        assert_eq!(case.given.cluster, recorded.cluster);
        assert_eq!(case.given.namespace, recorded.namespace);
        assert!(matches!(&case.when, When::Admission { operation, .. } if operation == "CREATE"));
        assert_eq!(mismatches(&loaded, &after), []);
        assert_eq!(mismatches(&loaded, &before).len(), 3);
        let kept = contract.only_touches.clone();
        assert_eq!(
            kept,
            ["a].command", "b]", "c]"].map(|end| format!("spec.template.spec.containers[{end}"))
        );
    }

    #[test]
    fn an_unchanged_or_refused_object_is_expected_as_such() {
        let object = deployment(&json!([{"name": "a"}]));
        let mut alone = recorded(&object, &object);
        assert_eq!(alone.outcome(), "unchanged");
        assert_eq!(alone.then(), *json!({"object": "$unchanged"}).as_object().unwrap());
        alone.phase = Phase::Validating;
        assert_eq!(alone.outcome(), "allowed");
        assert_eq!(alone.then(), *json!({"allowed": true}).as_object().unwrap());
        loaded(&alone);
        alone.answer = Answer {
            code: Some(422),
            reason: Some("Invalid".to_owned()),
            message: Some("<a> is no b".to_owned()),
            warnings: vec!["$w".to_owned()],
            ..Answer::default()
        };
        let want = json!({
            "allowed": false, "code": 422, "reason": "Invalid", "message": "<<a>> is no b", "warnings": ["$$w"],
        });
        assert_eq!(alone.then(), *want.as_object().unwrap());
        assert_eq!(alone.outcome(), "refused");
        let loaded = loaded(&alone);
        let then = &loaded.catalog.contracts[0].clauses[0].cases[0].then;
        assert_eq!((then.allowed, then.code), (Some(false), Some(422)));
    }

    #[test]
    fn a_deletion_has_the_old_object() {
        let object = deployment(&json!([{"name": "a"}]));
        let mut deleted = recorded(&object, &object);
        deleted.subject.operation = Operation::Delete;
        deleted.subject.old_object = deleted.subject.object.take();
        deleted.answer = Answer { allowed: true, ..Answer::default() };
        let loaded = loaded(&deleted);
        let case = &loaded.catalog.contracts[0].clauses[0].cases[0];
        assert_eq!(case.given.old, Some(object));
        assert_eq!(case.then.allowed, Some(true));
    }
}
