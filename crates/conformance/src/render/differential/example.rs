//! One input whose answers differ: the object by kind and name, the part that differs, and what else the difference needs.

use serde_json::{Map, Value};
use substrate::facts;

use crate::difference::{Sides, diff_of_changes, segments};
use crate::differential::outcome::{Example, Group, Subject, SubjectOutcome};
use crate::observation::format_value;
use crate::render::failure::diff_line;
use crate::render::lines::{line, prefixed};
use crate::render::plural;
use crate::render::style::View;
use crate::report::ValueChange;

/// Number of lines of one part of the input that are shown; a verbose view shows all.
const LINES: usize = 16;
/// Where differences of objects begin.
const OBJECT: &str = "object.";

/// The example of a group.
pub(super) fn write(out: &mut String, found: &SubjectOutcome, group: &Group, view: &View<'_>) {
    let example = &group.example;
    if let Some(words) = described(&found.subject, example) {
        prefixed(out, ("    given  ", 11), &words, view);
    }
    values(out, example, view);
    for (title, value) in parts(found, example) {
        part(out, &title, &value, view);
    }
}

/// `Deployment kube-apiserver in namespace diff-0001-0 · UPDATE · dry run`; for controllers the object that differs and the step
/// after which it does.
fn described(subject: &Subject, example: &Example) -> Option<String> {
    let given = &example.given;
    let mut words = match subject {
        Subject::Webhook(_) => {
            let what = match object(given) {
                Some(object) => named(object),
                None => format!("all {}", given["collection"].as_str()?),
            };
            vec![what, given["operation"].as_str()?.to_owned()]
        }
        Subject::Controller(_) => {
            let steps = segments(&example.at);
            let cluster = match steps.first().map(String::as_str) {
                Some("sourceCluster") => "source cluster",
                Some("targetCluster") => "target cluster",
                _ => return None,
            };
            let (kind, keys) = steps.get(1)?.split_once('[')?;
            let keys = keys.trim_end_matches(']').split(',');
            let names: Vec<&str> = keys.filter_map(|key| Some(key.split_once('=')?.1)).collect();
            let step = match given["afterStep"].as_u64() {
                None | Some(0) => "after the start".to_owned(),
                Some(step) => format!("after step {step}"),
            };
            vec![format!("{kind} {} in the {cluster}", names.join("/")), step]
        }
    };
    if given["dryRun"] == true {
        words.push("dry run".to_owned());
    }
    if given["review"] == "v1beta1" {
        words.push("review v1beta1".to_owned());
    }
    if given["instance"].as_str().is_some_and(|instance| instance != "seed") {
        words.push(format!("instance {}", given["instance"].as_str().unwrap_or_default()));
    }
    Some(words.join(" · "))
}

/// The object of a request, or the one that it deletes.
fn object(given: &Value) -> Option<&Value> {
    given.get("object").or_else(|| given.get("oldObject"))
}

/// `Deployment kube-apiserver in namespace shoot--dev--app`.
fn named(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().map(str::to_owned);
    let name = name.unwrap_or_else(|| format!("{}…", text(&metadata["generateName"])));
    let namespace = metadata["namespace"].as_str().map(|name| format!(" in namespace {name}"));
    format!("{} {name}{}", text(&object["kind"]), namespace.unwrap_or_default())
}

/// What differs; of a value that differs as a whole also what the request has there.
fn values(out: &mut String, example: &Example, view: &View<'_>) {
    let text = |value: &Option<Value>| value.as_ref().map(|value| in_words(&example.at, value));
    let path = match example.at.strip_prefix(OBJECT) {
        Some(path) => path.to_owned(),
        None => within_object(&example.at),
    };
    let change = ValueChange { path, before: text(&example.a), after: text(&example.b) };
    let lines = diff_of_changes(&[change], Sides::TARGETS);
    for piece in &lines {
        diff_line(out, piece, view);
    }
    let is_whole = lines.iter().all(|line| line.depth == 0);
    if let Some(input) = example.input.as_ref().filter(|_| is_whole) {
        prefixed(out, ("    in the request: ", 20), &format_value(Some(input)), view);
    }
}

/// `targetCluster.ConfigMap[name=a].data.b` → `data.b`; any other path as it is.
fn within_object(path: &str) -> String {
    let steps = segments(path);
    match steps.first().map(String::as_str) {
        Some("sourceCluster" | "targetCluster") if steps.len() > 2 => steps[2..].join("."),
        _ => path.to_owned(),
    }
}

/// A value as text; of a part of the answer in words.
fn in_words(path: &str, value: &Value) -> String {
    match (path, value) {
        ("called", Value::Bool(true)) => "the registration sends this request".to_owned(),
        ("called", Value::Bool(false)) => "the registration does not send this request".to_owned(),
        ("answer" | "allowed", Value::Object(answer)) if answer.contains_key("allowed") => {
            let message = answer.get("message").and_then(Value::as_str);
            let message = message.map(|message| format!(": {message}")).unwrap_or_default();
            if answer["allowed"] == true {
                return "allowed".to_owned();
            }
            let code = answer.get("code").and_then(Value::as_u64);
            format!("refused{}{message}", code.map(|code| format!(" with {code}")).unwrap_or_default())
        }
        _ => format_value(Some(value)),
    }
}

/// The parts of the smallest input that are not yet printed, each with its title.
fn parts(found: &SubjectOutcome, example: &Example) -> Vec<(String, Value)> {
    let given = &example.given;
    let mut parts = Vec::new();
    if let Subject::Webhook(_) = found.subject {
        if let Some(object) = object(given) {
            parts.push(("object".to_owned(), rest(object)));
        }
        if let (Some(_), Some(old)) = (given.get("object"), given.get("oldObject")) {
            let is_same = rest(old) == given.get("object").map_or(Value::Null, rest);
            let title = if is_same { "before it: the same" } else { "before it" };
            let value = if is_same { Value::Null } else { rest(old) };
            parts.push((title.to_owned(), value));
        }
        if let Some(namespace) = given.get("namespace") {
            parts.push(("namespace".to_owned(), rest(namespace)));
        }
        for fact in given["cluster"].as_array().into_iter().flatten() {
            parts.push((format!("in the cluster: {}", named(fact)), rest(fact)));
        }
    } else if let Some(given) = given.as_object() {
        let said = ["config", "afterStep", "outcomes", "manifestsTwice"];
        let world = given.iter().filter(|(name, _)| !said.contains(&name.as_str()));
        parts.extend(world.map(|(name, value)| (name.clone(), value.clone())));
    }
    let config = given.get("config").filter(|config| config.as_object().is_some_and(|map| !map.is_empty()));
    if let Some(config) = config {
        match found.configuration_read_by.as_slice() {
            [] => {}
            [one] => parts.push((format!("configuration, which {one} alone reads"), config.clone())),
            _ => parts.push(("configuration".to_owned(), config.clone())),
        }
    }
    parts.retain(|(title, value)| !value.is_null() || title.contains(": "));
    parts
}

/// An object without its kind and name and without what a server sets; null if nothing is left.
fn rest(object: &Value) -> Value {
    let mut object = facts::stripped(object);
    let Some(fields) = object.as_object_mut() else { return object };
    fields.retain(|name, _| name != "apiVersion" && name != "kind");
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| !matches!(name.as_str(), "name" | "namespace" | "generateName"));
    }
    fields.retain(|_, value| {
        !value.is_null() && value.as_object().is_none_or(|map: &Map<_, _>| !map.is_empty())
    });
    if fields.is_empty() { Value::Null } else { object }
}

fn part(out: &mut String, title: &str, value: &Value, view: &View<'_>) {
    line(out, &format!("    {title}"));
    if value.is_null() {
        return;
    }
    let text = formats::yaml::to_string(value).unwrap_or_else(|_| value.to_string());
    let lines: Vec<&str> = text.lines().collect();
    let shown = if view.verbose { lines.len() } else { LINES };
    for text in lines.iter().take(shown) {
        line(out, &format!("      {text}"));
    }
    if lines.len() > shown {
        line(out, &format!("      … {} (-v shows them)", plural(lines.len() - shown, "more line")));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::render::style::Plain;

    fn shown(subject: Subject, read_by: Vec<&'static str>, example: Example) -> String {
        let group = Group { place: "p".to_owned(), inputs: 1, explanation: None, example };
        let found = SubjectOutcome {
            subject,
            contract: "c".to_owned(),
            configuration_read_by: read_by,
            compared: 1,
            not_served: 0,
            differing: 1,
            effects: std::collections::BTreeMap::new(),
            silent: None,
            groups: Vec::new(),
        };
        let mut out = String::new();
        let view = View { width: 80, quiet: false, verbose: false, style: &Plain, report: None };
        write(&mut out, &found, &group, &view);
        out
    }

    fn unit() -> Example {
        let text = |flags: &str| json!(format!("[Service]\nExecStart=/kubelet --v=2{flags}\n"));
        let object = json!({"apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "OperatingSystemConfig",
            "metadata": {"name": "pool-a", "namespace": "diff-1", "uid": "u", "managedFields": [{}]},
            "spec": {"purpose": "reconcile"}});
        Example {
            at: "object.spec.units[name=kubelet.service].content".to_owned(),
            input: Some(text("")),
            a: Some(text("")),
            b: Some(text(" --cloud-provider=external")),
            given: json!({"operation": "CREATE", "dryRun": true, "review": "v1", "instance": "seed", "object": object,
                "config": {"provider": "local"}}),
        }
    }

    #[test]
    fn kind_name_and_the_part_that_differs_are_shown() {
        let text = shown(Subject::Webhook("w".to_owned()), vec!["a"], unit());
        let want = "    given  OperatingSystemConfig pool-a in namespace diff-1 · CREATE · dry run
    kubelet.service:
      ExecStart:
  +     --cloud-provider=external  only b
    object
      spec:
        purpose: reconcile
    configuration, which a alone reads
      provider: local
";
        assert_eq!(text, want);
    }

    #[test]
    fn a_configuration_that_no_target_reads_is_not_shown() {
        let text = shown(Subject::Webhook("w".to_owned()), Vec::new(), unit());
        assert!(!text.contains("provider: local"), "{text}");
    }

    #[test]
    fn an_answer_is_shown_in_words_and_a_whole_value_beside_that_of_the_request() {
        let refused = Example {
            at: "allowed".to_owned(),
            input: None,
            a: Some(json!({"allowed": true, "code": 200, "message": null})),
            b: Some(json!({"allowed": false, "code": 422, "message": "no"})),
            given: json!({"operation": "DELETE", "oldObject": {"kind": "Pod", "metadata": {"name": "p"}}}),
        };
        let text = shown(Subject::Webhook("w".to_owned()), Vec::new(), refused);
        assert_eq!(
            text,
            "    given  Pod p · DELETE\n  - allowed: allowed  a\n  + allowed: refused with 422: no  b\n"
        );
        let replicas = Example {
            at: "object.spec.replicas".to_owned(),
            input: Some(json!(1)),
            a: Some(json!(3)),
            b: None,
            given: json!({"operation": "UPDATE", "object": {"kind": "K", "metadata": {"name": "n"}},
                "oldObject": {"kind": "K", "metadata": {"name": "n"}, "spec": {"replicas": 2}}}),
        };
        let text = shown(Subject::Webhook("w".to_owned()), Vec::new(), replicas);
        let want = "    given  K n · UPDATE\n  - spec.replicas: 3  only a\n    in the request: 1\n    before it\n      \
                    spec:\n        replicas: 2\n";
        assert_eq!(text, want);
    }

    #[test]
    fn an_object_of_a_cluster_is_named_with_the_step() {
        let example = Example {
            at: "targetCluster.ConfigMap[namespace=default,name=a].data.k".to_owned(),
            input: None,
            a: Some(json!("x")),
            b: Some(json!("y")),
            given: json!({"afterStep": 2, "outcomes": ["ApplySucceeded"], "steps": [[{"delete": "configmap/a"}]]}),
        };
        let text = shown(Subject::Controller("m".to_owned()), vec!["a", "b"], example);
        let want = "    given  ConfigMap default/a in the target cluster · after step 2\n  - data.k: x  a\n  + data.k: y  b\n    \
                    steps\n      - - delete: configmap/a\n";
        assert_eq!(text, want);
    }
}
