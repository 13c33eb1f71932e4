//! Assigns a separate namespace to a case where possible, and finds out which cases would see each other's objects.
//!
//! The namespace of the object under test (or of `given.namespace`) is the case's *home*. It is renamed to a generated name in
//! every object in it, unless another text of the case mentions it: then the name is kept. The name of a shoot's control plane
//! namespace is unique: it is renamed wherever objects mention it, and renamed back in the answer.

pub(crate) mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use contract::case::{Case, Given, Sending, When};
use contract::gardener::decision::Question;
use schema::Kinds;
use serde_json::{Value, json};

use crate::exchange::FieldCause;
use crate::gardener::own_profile;
use crate::observation::Observation;
use names::mentions;

/// Prefix of the names of control planes' namespaces, before the project's name.
const OF_SHOOT: &str = "shoot--";
/// A namespace name that no case has.
const FRESH: &str = "its own";

/// How a case must be isolated from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// Other cases do not see its objects.
    Shared,
    /// Other cases would see its facts: it gets a separate server.
    Alone,
}

/// The objects of a case in their final namespaces.
#[derive(Clone, Debug)]
pub struct PlacedCase {
    /// The namespace of the object under test; empty if it is cluster-scoped and the case has no namespace.
    pub namespace: String,
    /// The name that was replaced, if any.
    pub renamed_from: Option<String>,
    /// The objects, renamed.
    pub given: Given,
}

/// How the case must be isolated from others; on a server (`writes_old`) old objects are written, too.
#[must_use]
pub fn isolation(case: &Case, writes_old: bool) -> Isolation {
    let home = home(case);
    let facts = &case.given;
    let moved = home.as_deref().filter(|home| is_movable(case, home));
    let renamed = moved.is_some() || home.is_none();
    let elsewhere = facts.cluster.iter().any(|fact| match scope(fact) {
        ObjectScope::Cluster if moved.is_some() && fact["metadata"]["name"].as_str() == moved => false,
        ObjectScope::Cluster => !own_profile::is_own(case, fact),
        ObjectScope::Namespace(namespace) => namespace.is_some() && namespace != home,
    });
    let old = writes_old && has_old(case);
    let writes = !facts.cluster.is_empty() || facts.namespace.is_some() || old;
    let subject = facts.object.as_ref().or(facts.old.as_ref());
    // A webhook for a cluster-scoped object may read facts of all namespaces.
    let sees_all = old || !facts.cluster.is_empty();
    let everywhere =
        sees_all && subject.is_some_and(|subject| matches!(scope(subject), ObjectScope::Cluster));
    if elsewhere || everywhere || (writes && !renamed) { Isolation::Alone } else { Isolation::Shared }
}

/// What other cases in the cluster see of a case on a server: cluster-scoped kinds, and namespaces that keep their names.
pub(crate) fn seen_by_others(case: &Case) -> BTreeSet<String> {
    let mut placed = assign_namespace(case, FRESH);
    let mut seen = BTreeSet::from([placed.namespace.clone()]);
    for object in objects(&mut placed.given) {
        seen.insert(match scope(object) {
            ObjectScope::Cluster => format!("{} {}", object["apiVersion"], object["kind"]),
            ObjectScope::Namespace(namespace) => namespace.unwrap_or_default(),
        });
    }
    seen.retain(|name| !name.is_empty() && name != FRESH);
    seen
}

/// Whether nothing but the namespace and its surroundings is written before the request, so that cases may share it.
pub(crate) fn writes_no_objects(case: &Case) -> bool {
    let is_request = matches!(case.when, When::Admission { .. } | When::Decision(_));
    is_request && !has_old(case) && case.given.cluster.is_empty()
}

/// Whether an old object is written before the request.
pub(crate) fn has_old(case: &Case) -> bool {
    match &case.when {
        When::Admission { operation, .. } => matches!(operation.as_str(), "UPDATE" | "DELETE"),
        When::Decision(decision) => {
            matches!(&decision.asks, Question::Admission { operation } if operation == "UPDATE")
        }
        When::DeleteCollection { .. }
        | When::Registration { .. }
        | When::Configuration
        | When::Process(_)
        | When::Emitted(_)
        | When::Steps(_) => false,
    }
}

/// Moves the case's objects to the namespace `fresh` where possible.
#[must_use]
pub fn assign_namespace(case: &Case, fresh: &str) -> PlacedCase {
    let home = home(case);
    let renamed = home.clone().filter(|home| is_movable(case, home));
    let namespace = match (&home, &renamed) {
        (Some(kept), None) => kept.clone(),
        _ => fresh.to_owned(),
    };
    let mut given = case.given.clone();
    for object in objects(&mut given) {
        set_namespace(object, home.as_deref(), &namespace);
        if let Some(old) = &renamed {
            names::replace(object, old, &namespace);
        }
        if let Some(old) = own_profile::name(case) {
            own_profile::rename(object, old, fresh);
        }
    }
    if let Some(object) = &mut given.namespace {
        if let Some(old) = &renamed {
            names::replace(object, old, &namespace);
        }
        object["metadata"]["name"] = json!(namespace);
        if let Some(label) = object.pointer_mut("/metadata/labels/kubernetes.io~1metadata.name") {
            *label = json!(namespace);
        }
    }
    PlacedCase { namespace, renamed_from: renamed, given }
}

impl PlacedCase {
    /// The objects that its namespace has beside those of the case.
    pub(crate) fn surroundings(&self) -> impl Iterator<Item = Value> + '_ {
        let objects = self.given.surroundings.iter().flat_map(|objects| objects.iter());
        objects.cloned().map(|mut object| {
            set_namespace(&mut object, self.renamed_from.as_deref(), &self.namespace);
            if let Some(old) = &self.renamed_from {
                names::replace(&mut object, old, &self.namespace);
            }
            object
        })
    }

    /// All objects to write before the request: those of the whole cluster first, because webhooks of the target may look for
    /// them when objects of the namespace are written.
    pub(crate) fn facts(&self) -> Vec<Value> {
        let facts = self.given.cluster.iter().cloned();
        let is_of_cluster = |object: &Value| object["metadata"]["namespace"].is_null();
        let (of_cluster, of_namespaces): (Vec<Value>, Vec<Value>) = facts.partition(is_of_cluster);
        of_cluster.into_iter().chain(self.surroundings()).chain(of_namespaces).collect()
    }

    /// The observation with the case's namespace name.
    #[must_use]
    pub fn with_original_names(&self, mut seen: Observation) -> Observation {
        let (Some(old), new) = (&self.renamed_from, &self.namespace) else { return seen };
        let answer = &mut seen.answer;
        for object in seen.input.iter_mut().chain(&mut answer.object) {
            names::replace(object, new, old);
        }
        let causes = answer.causes.iter_mut();
        let of_causes = causes.flat_map(|FieldCause { field, message, .. }| [field, message]);
        for text in of_causes.chain(&mut answer.message).chain(&mut answer.warnings) {
            names::replace_text(text, new, old);
        }
        seen
    }
}

enum ObjectScope {
    Cluster,
    Namespace(Option<String>),
}

fn scope(object: &Value) -> ObjectScope {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
    match Kinds::gardener().of_object(text("apiVersion"), text("kind")) {
        Some(resource) if !resource.namespaced => ObjectScope::Cluster,
        _ => ObjectScope::Namespace(namespace),
    }
}

fn home(case: &Case) -> Option<String> {
    let given = &case.given;
    let subject = given.object.iter().chain(given.old.iter());
    let named = subject.filter_map(|object| match scope(object) {
        ObjectScope::Namespace(namespace) => namespace,
        ObjectScope::Cluster => None,
    });
    let namespace =
        given.namespace.iter().filter_map(|object| object["metadata"]["name"].as_str().map(str::to_owned));
    let overridden = match &case.when {
        When::Admission { sending: Sending { request, .. }, .. } => {
            request.get("namespace").and_then(Value::as_str).map(str::to_owned)
        }
        When::DeleteCollection { .. }
        | When::Registration { .. }
        | When::Configuration
        | When::Process(_)
        | When::Decision(_)
        | When::Emitted(_)
        | When::Steps(_) => None,
    };
    let fact = given.cluster.iter().filter_map(|object| match scope(object) {
        ObjectScope::Namespace(namespace) => namespace,
        ObjectScope::Cluster => None,
    });
    named.chain(namespace).chain(overridden).chain(fact).next()
}

/// Whether the namespace may be renamed.
fn is_movable(case: &Case, home: &str) -> bool {
    let is_in_request = || mentions(&format!("{:?}{}", case.when, case.config), home);
    is_free(case, home) || (home.starts_with(OF_SHOOT) && !is_in_request())
}

/// Whether only the fields that are renamed mention the namespace.
fn is_free(case: &Case, home: &str) -> bool {
    // Well-known namespaces keep their names.
    if home.starts_with("kube-") || home == "default" {
        return false;
    }
    let mut given = case.given.clone();
    if let Some(metadata) = given.namespace.as_mut().and_then(|object| object.get_mut("metadata")) {
        metadata["name"] = Value::Null;
        if let Some(label) = metadata.pointer_mut("/labels/kubernetes.io~1metadata.name") {
            *label = Value::Null;
        }
    }
    let mut texts = String::new();
    for object in objects(&mut given) {
        if let Some(namespace) = object.pointer_mut("/metadata/namespace") {
            *namespace = Value::Null;
        }
        texts.push_str(&object.to_string());
    }
    texts.push_str(&given.namespace.map(|object| object.to_string()).unwrap_or_default());
    write!(texts, "{:?}{:?}", case.then, case.when).expect("writing to memory does not fail");
    !mentions(&texts, home)
}

fn objects(given: &mut Given) -> impl Iterator<Item = &mut Value> {
    given.cluster.iter_mut().chain(given.old.iter_mut()).chain(given.object.iter_mut())
}

fn set_namespace(object: &mut Value, home: Option<&str>, namespace: &str) {
    let ObjectScope::Namespace(named) = scope(object) else { return };
    if named.is_none() || named.as_deref() == home {
        if !object["metadata"].is_object() {
            object["metadata"] = json!({});
        }
        object["metadata"]["namespace"] = json!(namespace);
    }
}

/// Labels of the namespace that a request is in, as kube-apiserver sees them.
#[must_use]
pub fn namespace_labels(placed: &PlacedCase) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    if placed.namespace.is_empty() {
        return labels;
    }
    labels.insert("kubernetes.io/metadata.name".to_owned(), placed.namespace.clone());
    let given = placed.given.namespace.as_ref().and_then(|object| object["metadata"]["labels"].as_object());
    for (key, value) in given.into_iter().flatten() {
        labels.insert(key.clone(), value.as_str().unwrap_or_default().to_owned());
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Answer;
    use contract::case::Then;
    use contract::model::Location;

    fn case(given: Given) -> Case {
        Case {
            name: "a".to_owned(),
            inputs: Vec::new(),
            config: Value::Null,
            given,
            when: When::Admission { operation: "CREATE".to_owned(), sending: Sending::default() },
            then: Then::default(),
            location: Location::default(),
        }
    }

    fn account(namespace: Option<&str>) -> Value {
        let mut object = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "app"}});
        if let Some(namespace) = namespace {
            object["metadata"]["namespace"] = json!(namespace);
        }
        object
    }

    fn pod(namespace: &str, text: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace}, "spec": {"hostname": text}})
    }

    #[test]
    fn a_case_gets_a_namespace_of_its_own() {
        let given = Given {
            cluster: vec![account(None), account(Some("garden"))],
            namespace: Some(
                json!({"metadata": {"name": "garden", "labels": {"kubernetes.io/metadata.name": "garden", "a": "b"}}}),
            ),
            object: Some(pod("garden", "gardener")),
            ..Given::default()
        };
        let case = case(given);
        assert_eq!(isolation(&case, false), Isolation::Shared);
        let placed = assign_namespace(&case, "case-1");
        assert_eq!(placed.namespace, "case-1");
        assert_eq!(placed.renamed_from.as_deref(), Some("garden"));
        assert_eq!(placed.given.cluster, vec![account(Some("case-1")), account(Some("case-1"))]);
        assert_eq!(placed.given.object, Some(pod("case-1", "gardener")));
        let labels = BTreeMap::from(["a=b", "kubernetes.io/metadata.name=case-1"].map(|label| {
            let (key, value) = label.split_once('=').unwrap();
            (key.to_owned(), value.to_owned())
        }));
        assert_eq!(namespace_labels(&placed), labels);
    }

    #[test]
    fn a_namespace_that_other_texts_mention_keeps_its_name() {
        let given = Given {
            cluster: vec![account(None)],
            object: Some(pod("garden", "garden--app")),
            ..Given::default()
        };
        let case = case(given);
        assert_eq!(isolation(&case, false), Isolation::Alone);
        let placed = assign_namespace(&case, "case-1");
        assert_eq!((placed.namespace.as_str(), placed.renamed_from), ("garden", None));
        assert_eq!(placed.given.cluster, vec![account(Some("garden"))]);
    }

    #[test]
    fn a_control_planes_namespace_is_renamed_everywhere_and_renamed_back_in_the_answer() {
        let cluster = |name: &str| json!({"apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Cluster", "metadata": {"name": name}});
        let given = |name: &str| Given {
            cluster: vec![account(Some(name)), cluster(name)],
            object: Some(pod(name, &format!("etcd.{name}.svc"))),
            ..Given::default()
        };
        let case = case(given("shoot--dev--app"));
        assert_eq!(isolation(&case, true), Isolation::Shared);
        let placed = assign_namespace(&case, "case-1");
        assert_eq!(placed.namespace, "case-1");
        assert_eq!(placed.given.cluster, given("case-1").cluster);
        assert_eq!(placed.given.object, given("case-1").object);
        let text = str::to_owned;
        let refused = |name: &str| FieldCause {
            field: format!("spec[{name}]"),
            reason: text("FieldValueInvalid"),
            message: format!("in {name}"),
        };
        let seen = |name: &str| Observation {
            called: Some(true),
            input: given(name).object,
            answer: Answer {
                message: Some(format!("\"{name}\" is wrong")),
                causes: vec![refused(name)],
                warnings: vec![format!("{name}: beware")],
                object: given(name).object,
                ..Answer::default()
            },
        };
        assert_eq!(placed.with_original_names(seen("case-1")), seen("shoot--dev--app"));
        let request = serde_json::Map::from_iter([(text("namespace"), json!("shoot--dev--app"))]);
        let sending = Sending { request, ..Sending::default() };
        let in_request =
            Case { when: When::Admission { operation: text("CREATE"), sending }, ..case.clone() };
        let configured = Case { config: json!({"namespace": "shoot--dev--app"}), ..case };
        for kept in [in_request, configured] {
            assert_eq!(isolation(&kept, true), Isolation::Alone);
            assert_eq!(assign_namespace(&kept, "case-1").renamed_from, None);
        }
    }

    #[test]
    fn a_profile_that_only_its_shoot_mentions_is_renamed() {
        let profile = |name: &str| json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": name}});
        let shoot = |name: &str| {
            let metadata = json!({"name": "app", "namespace": "garden-dev"});
            json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "metadata": metadata, "spec": {"cloudProfileName": name}})
        };
        let given = |named: &str| Given {
            cluster: vec![profile("local")],
            object: Some(shoot(named)),
            ..Given::default()
        };
        let own = case(given("local"));
        assert_eq!(isolation(&own, true), Isolation::Shared);
        let placed = assign_namespace(&own, "case-1").given;
        assert_eq!(placed.cluster, vec![profile("case-1")]);
        assert_eq!(placed.object.unwrap()["spec"]["cloudProfileName"], "case-1");
        let elsewhere = assign_namespace(&case(given("gone")), "case-1").given;
        assert_eq!(elsewhere.object.unwrap()["spec"]["cloudProfileName"], "gone");
        let message = contract::expect::Expect::Value(json!("of \"local\""));
        let asserted =
            Case { then: Then { message: Some(message), ..Then::default() }, ..case(given("local")) };
        assert_eq!(isolation(&asserted, true), Isolation::Alone);
        assert_eq!(assign_namespace(&asserted, "case-1").given.cluster, vec![profile("local")]);
    }

    #[test]
    fn others_see_cluster_scoped_kinds_and_namespaces_that_keep_their_names() {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
        let given = |cluster: Vec<Value>, home: &str| Given {
            cluster,
            object: Some(pod(home, "")),
            ..Given::default()
        };
        let table = [
            (given(vec![account(None)], "garden"), vec![]),
            (given(vec![node.clone()], "garden"), vec!["\"v1\" \"Node\""]),
            (given(vec![account(Some("elsewhere"))], "garden"), vec!["elsewhere"]),
            (given(Vec::new(), "kube-system"), vec!["kube-system"]),
            (Given { object: Some(node), ..Given::default() }, vec!["\"v1\" \"Node\""]),
        ];
        for (given, want) in table {
            let case = case(given);
            assert_eq!(seen_by_others(&case).iter().map(String::as_str).collect::<Vec<_>>(), want);
        }
    }

    #[test]
    fn only_a_creation_without_facts_leaves_no_object_behind() {
        let text = str::to_owned;
        let of =
            |operation: &str| When::Admission { operation: text(operation), sending: Sending::default() };
        let bare = Given { object: Some(pod("garden", "")), ..Given::default() };
        let table = [
            (of("CREATE"), bare.clone(), true),
            (of("UPDATE"), bare.clone(), false),
            (of("DELETE"), bare.clone(), false),
            (of("CREATE"), Given { cluster: vec![account(None)], ..bare.clone() }, false),
            (of("CREATE"), Given { namespace: Some(json!({"metadata": {}})), ..bare.clone() }, true),
            (When::DeleteCollection { resource: text("pods") }, bare, false),
        ];
        for (when, given, want) in table {
            let case = Case { when, ..case(given) };
            assert_eq!(writes_no_objects(&case), want, "{:?}", case.when);
        }
    }

    #[test]
    fn facts_that_others_would_see_are_isolated() {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
        let elsewhere = account(Some("elsewhere"));
        for fact in [node, elsewhere] {
            let given = Given { cluster: vec![fact], object: Some(pod("garden", "")), ..Given::default() };
            assert_eq!(isolation(&case(given), false), Isolation::Alone);
        }
        let given = Given { object: Some(pod("kube-system", "")), ..Given::default() };
        assert_eq!(isolation(&case(given), false), Isolation::Shared);
    }
}
