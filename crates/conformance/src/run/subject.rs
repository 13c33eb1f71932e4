//! The subject of a request, as the target sees it.

use contract::case::When;
use contract::gardener::decision::Question;
use serde_json::{Map, Value};
use substrate::cluster::{ClusterError, collection_of, resource};
use webhook::review::{GroupVersionKind, GroupVersionResource, Operation};

use crate::exchange::Subject;
use crate::place::PlacedCase;
use crate::plan::LocatedCase;

/// Why a case has no request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SubjectError {
    /// Unknown operation.
    #[error("unknown operation {0:?}, expected CREATE, UPDATE, DELETE or CONNECT")]
    Operation(String),
    /// There is no object.
    #[error("the case has neither an object nor an old object")]
    NoObject,
    /// The kind is unknown.
    #[error(transparent)]
    Kind(#[from] ClusterError),
}

/// The subject of a case's request.
pub(super) fn subject(located: LocatedCase<'_>, placed: &PlacedCase) -> Result<Subject, SubjectError> {
    let (operation, request) = match &located.case.when {
        When::DeleteCollection { resource } => return collection(resource, &placed.namespace),
        When::Admission { operation, sending } => (operation, &sending.request),
        When::Decision(decision) => match &decision.asks {
            Question::Admission { operation } => (operation, &Map::new()),
            _ => return Err(SubjectError::NoObject),
        },
        When::Registration { .. }
        | When::Configuration
        | When::Process(_)
        | When::Steps(_)
        | When::Emitted(_) => return Err(SubjectError::NoObject),
    };
    let operation = parse(operation)?;
    let given = &placed.given;
    match of(operation, given.object.clone(), given.old.clone()) {
        // The request sets its kind itself.
        Err(SubjectError::NoObject) if !request.is_empty() => Ok(bare(operation)),
        subject => subject,
    }
}

/// The subject of a request about an object; without an old object, the old object is the same.
pub(crate) fn of(
    operation: Operation,
    object: Option<Value>,
    old: Option<Value>,
) -> Result<Subject, SubjectError> {
    let (object, old_object) = match operation {
        Operation::Create | Operation::Connect => (object, None),
        Operation::Update => (object.clone(), old.or(object)),
        Operation::Delete => (None, old.or(object)),
    };
    let any = object.as_ref().or(old_object.as_ref()).ok_or(SubjectError::NoObject)?;
    let served = &resource_of(any)?;
    let metadata = |field: &str| any["metadata"][field].as_str().unwrap_or_default().to_owned();
    let namespace = if served.namespaced { metadata("namespace") } else { own_namespace(&served.kind, any) };
    Ok(Subject {
        kind: kind(served),
        resource: plural(served),
        namespaced: served.namespaced,
        name: metadata("name"),
        namespace,
        operation,
        object,
        old_object,
    })
}

/// The subject of the deletion of all objects of a resource, `<plural>[.<group>]`, in a namespace.
pub(crate) fn collection(name: &str, namespace: &str) -> Result<Subject, SubjectError> {
    let served = collection_of(name)?;
    Ok(Subject {
        kind: kind(served),
        resource: plural(served),
        namespaced: served.namespaced,
        name: String::new(),
        namespace: if served.namespaced { namespace.to_owned() } else { String::new() },
        operation: Operation::Delete,
        object: None,
        old_object: None,
    })
}

fn bare(operation: Operation) -> Subject {
    Subject {
        kind: GroupVersionKind::default(),
        resource: GroupVersionResource::default(),
        namespaced: false,
        name: String::new(),
        namespace: String::new(),
        operation,
        object: None,
        old_object: None,
    }
}

/// The resource of an object; if its version is not served, the resource of another version.
fn resource_of(object: &Value) -> Result<schema::Resource, ClusterError> {
    let unknown = match resource(object) {
        Ok(found) => return Ok(found.clone()),
        Err(error) => error,
    };
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let api_version = text("apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let mut all = schema::Kinds::gardener().resources();
    let other = all.find(|other| other.group == group && other.kind == text("kind"));
    other.map(|other| schema::Resource { version: version.to_owned(), ..other.clone() }).ok_or(unknown)
}

/// The namespace of a Namespace is its own name; other cluster-scoped objects have none.
fn own_namespace(kind: &str, object: &Value) -> String {
    if kind == "Namespace" {
        object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
    } else {
        String::new()
    }
}

fn kind(served: &schema::Resource) -> GroupVersionKind {
    GroupVersionKind {
        group: served.group.clone(),
        version: served.version.clone(),
        kind: served.kind.clone(),
    }
}

fn plural(served: &schema::Resource) -> GroupVersionResource {
    GroupVersionResource {
        group: served.group.clone(),
        version: served.version.clone(),
        resource: served.plural.clone(),
    }
}

fn parse(operation: &str) -> Result<Operation, SubjectError> {
    match operation {
        "CREATE" => Ok(Operation::Create),
        "UPDATE" => Ok(Operation::Update),
        "DELETE" => Ok(Operation::Delete),
        "CONNECT" => Ok(Operation::Connect),
        other => Err(SubjectError::Operation(other.to_owned())),
    }
}
