//! What the plugins of Shoots share: forms of errors, what they look up, and how they change an object.

use std::collections::BTreeSet;

use api::garden::{GROUP, Project, Shoot};
use api::gardener::SHOOT_TASKS;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use webhook::field::{Error, quote};
use webhook::rejection::Rejection;
use webhook::strategy::ObjectReader;

use super::Attributes;

/// The resource of Shoots.
pub(super) const SHOOTS: &str = "shoots.core.gardener.cloud";
/// What an object that is no Shoot gets.
pub(super) const NO_SHOOT: &str = "could not convert resource into Shoot object";

/// A kind of the garden that the original reads from a cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedKind {
    /// `seeds.core.gardener.cloud`.
    resource: &'static str,
    /// What the cache calls it: `seed.core.gardener.cloud`.
    singular: &'static str,
}

pub(super) const CLOUD_PROFILES: CachedKind = CachedKind {
    resource: "cloudprofiles.core.gardener.cloud",
    singular: "cloudprofile.core.gardener.cloud",
};
pub(super) const EXPOSURE_CLASSES: CachedKind = CachedKind {
    resource: "exposureclasses.core.gardener.cloud",
    singular: "exposureclass.core.gardener.cloud",
};
pub(super) const QUOTAS: CachedKind =
    CachedKind { resource: "quotas.core.gardener.cloud", singular: "quota.core.gardener.cloud" };
pub(super) const SECRET_BINDINGS: CachedKind = CachedKind {
    resource: "secretbindings.core.gardener.cloud",
    singular: "secretbinding.core.gardener.cloud",
};
pub(super) const SEEDS: CachedKind =
    CachedKind { resource: "seeds.core.gardener.cloud", singular: "seed.core.gardener.cloud" };

impl CachedKind {
    /// The object of a name.
    ///
    /// # Errors
    /// The cache's text when there is none.
    pub(super) fn get<T: DeserializeOwned>(
        self,
        objects: &dyn ObjectReader,
        namespace: &str,
        name: &str,
    ) -> Result<T, String> {
        let found = objects.get(self.resource, namespace, name);
        let found = found.ok_or_else(|| format!("{} {} not found", self.singular, quote(name)))?;
        serde_json::from_value(found).map_err(|error| error.to_string())
    }
}

/// All objects of a resource.
///
/// # Errors
/// The text about one that is not of this type.
pub(super) fn list<T: DeserializeOwned>(
    objects: &dyn ObjectReader,
    resource: &str,
) -> Result<Vec<T>, String> {
    let read = |object| serde_json::from_value(object).map_err(|error| error.to_string());
    objects.list(resource).into_iter().map(read).collect()
}

/// The Project of a namespace.
///
/// # Errors
/// The original's text when there is none.
pub(super) fn project_of(objects: &dyn ObjectReader, namespace: &str) -> Result<Project, String> {
    let projects: Vec<Project> = list(objects, "projects.core.gardener.cloud")?;
    let has_namespace = |project: &Project| project.spec.namespace.as_deref() == Some(namespace);
    let missing = || format!("Project.core.gardener.cloud {} not found", quote(namespace));
    projects.into_iter().find(has_namespace).ok_or_else(missing)
}

/// Whether the body of the request is a Shoot.
pub(super) fn is_shoot(attributes: &Attributes<'_>) -> bool {
    attributes.kind == "Shoot"
}

/// The object of a request as a Shoot.
///
/// # Errors
/// 400 with this text when there is none, or it is none.
pub(super) fn read_shoot(object: Option<&Value>, otherwise: &str) -> Result<Shoot, Rejection> {
    let shoot = object.and_then(|object| serde_json::from_value(object.clone()).ok());
    shoot.ok_or_else(|| Rejection::status(400, "BadRequest", otherwise, Map::new()))
}

/// 403 about the object of the request.
pub(super) fn forbidden(attributes: &Attributes<'_>, object: Option<&Value>, text: &str) -> Rejection {
    let of_object = |field: &str| object.and_then(|object| object["metadata"][field].as_str());
    let names = [Some(attributes.name), of_object("name"), of_object("generateName")];
    let name = names.into_iter().flatten().find(|name| !name.is_empty()).unwrap_or("Unknown");
    forbidden_for(attributes, name, text)
}

/// 403 about the object of this name.
pub(super) fn forbidden_for(attributes: &Attributes<'_>, name: &str, text: &str) -> Rejection {
    let message = format!("{} {} is forbidden: {text}", attributes.resource, quote(name));
    let (plural, group) = attributes.resource.split_once('.').unwrap_or((attributes.resource, ""));
    let details = [("name", name), ("group", group), ("kind", plural)];
    let details = details.into_iter().map(|(field, text)| (field.to_owned(), json!(text))).collect();
    Rejection::status(403, "Forbidden", message, details)
}

/// Names the object of the request in a 403 that names none.
pub(super) fn about(attributes: &Attributes<'_>, object: Option<&Value>, rejection: Rejection) -> Rejection {
    if rejection.reason == "Forbidden" && rejection.details.is_none() {
        return forbidden(attributes, object, &rejection.message);
    }
    rejection
}

/// 422 with field errors of a Shoot.
pub(super) fn invalid(shoot: &Shoot, errors: &[Error]) -> Rejection {
    Rejection::invalid(GROUP, "Shoot", shoot.metadata.name.as_deref().unwrap_or_default(), errors)
}

/// 500 `InternalError`.
pub(super) fn internal(text: &str) -> Rejection {
    let details = Map::from_iter([("causes".to_owned(), json!([{"message": text}]))]);
    Rejection::status(500, "InternalError", internal_text(text), details)
}

/// The text of a 500 `InternalError`, for an error that wraps it.
pub(super) fn internal_text(text: &str) -> String {
    format!("Internal error occurred: {text}")
}

/// Field errors as Go prints a list of them: with brackets, separated by blanks.
pub(super) fn listed(errors: &[Error]) -> String {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    format!("[{}]", texts.join(" "))
}

/// Checks version and kind of a plugin's configuration.
///
/// # Errors
/// When it is of another version or kind.
pub(super) fn configuration(document: &Value, api_version: &str) -> Result<(), String> {
    let text = |field: &str| document[field].as_str().unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if (version, kind) == (api_version, "Configuration") {
        return Ok(());
    }
    Err(format!("no kind {} is registered for version {}", quote(kind), quote(version)))
}

/// Adds tasks to the Shoot's annotation, behind those that it has.
pub(super) fn add_tasks(shoot: &mut Shoot, tasks: &[&str]) {
    let annotations = shoot.metadata.annotations.get_or_insert_default();
    let known = annotations.get(SHOOT_TASKS).filter(|text| !text.is_empty()).cloned();
    let mut all: Vec<String> = known.iter().flat_map(|text| text.split(',')).map(str::to_owned).collect();
    for task in tasks {
        if all.iter().all(|known| known != task) {
            all.push((*task).to_owned());
        }
    }
    annotations.insert(SHOOT_TASKS.to_owned(), all.join(","));
}

/// Writes to a raw Shoot what changed between two forms of it, so that unknown fields survive.
///
/// # Errors
/// 500 when they cannot be written.
pub(super) fn write_changes(raw: &mut Value, before: &Shoot, after: &Shoot) -> Result<(), Rejection> {
    let written = |shoot: &Shoot| {
        let failed =
            |error: serde_json::Error| Rejection::errored(500, format!("failed to write the Shoot: {error}"));
        serde_json::to_value(shoot).map_err(failed)
    };
    apply(raw, &written(before)?, &written(after)?);
    Ok(())
}

fn apply(raw: &mut Value, before: &Value, after: &Value) {
    match (raw, before, after) {
        (Value::Object(fields), Value::Object(before), Value::Object(after)) => {
            let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
            for name in names {
                match (before.get(name), after.get(name)) {
                    (Some(old), Some(new)) if old != new => {
                        apply(fields.entry(name.clone()).or_insert(Value::Null), old, new);
                    }
                    (None, Some(new)) => {
                        fields.insert(name.clone(), new.clone());
                    }
                    (Some(_), None) => {
                        fields.remove(name);
                    }
                    _ => {}
                }
            }
        }
        (Value::Array(items), Value::Array(before), Value::Array(after))
            if items.len() == before.len() && before.len() == after.len() =>
        {
            for ((item, old), new) in
                items.iter_mut().zip(before).zip(after).filter(|((_, old), new)| old != new)
            {
                apply(item, old, new);
            }
        }
        (raw, _, after) => *raw = after.clone(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use webhook::field::Path;
    use webhook::review::Operation;

    use super::*;
    use crate::admission::shoot_testing::Stored;

    #[rstest]
    #[case::asked("app", json!({"metadata": {"name": "other"}}), "app")]
    #[case::named("", json!({"metadata": {"name": "other", "generateName": "x-"}}), "other")]
    #[case::generated("", json!({"metadata": {"generateName": "x-"}}), "x-")]
    #[case::neither("", json!({}), "Unknown")]
    fn a_403_names_the_request_or_the_object(#[case] asked: &str, #[case] object: Value, #[case] want: &str) {
        let stored = Stored::default();
        let attributes = Attributes { name: asked, ..stored.attributes(Operation::Create) };
        let rejection = about(&attributes, Some(&object), Rejection::forbidden("no"));
        let details = json!({"name": want, "group": "core.gardener.cloud", "kind": "shoots"});
        let message = format!("shoots.core.gardener.cloud \"{want}\" is forbidden: no");
        assert_eq!((rejection.code, rejection.message.as_str()), (403, message.as_str()));
        assert_eq!(rejection.details.clone().map(Value::Object), Some(details));
        assert_eq!(about(&attributes, None, rejection.clone()), rejection);
    }

    #[test]
    fn errors_have_the_forms_of_the_original() {
        let error = internal("a");
        assert_eq!((error.code, error.message.as_str()), (500, "Internal error occurred: a"));
        let again = internal(&internal_text("a"));
        assert_eq!(again.message, "Internal error occurred: Internal error occurred: a");
        let required = Error::required(&Path::new("a"), "b");
        assert_eq!(listed(std::slice::from_ref(&required)), "[a: Required value: b]");
        let twice = "[a: Required value: b a: Required value: b]";
        assert_eq!(listed(&[required.clone(), required]), twice);
    }

    #[rstest]
    #[case::none(json!({}), "a,b")]
    #[case::empty(json!({"shoot.gardener.cloud/tasks": ""}), "a,b")]
    #[case::others(json!({"shoot.gardener.cloud/tasks": "x,b"}), "x,b,a")]
    fn tasks_are_added_behind_the_others(#[case] annotations: Value, #[case] want: &str) {
        let object = json!({"metadata": {"annotations": annotations}});
        let mut shoot: Shoot = serde_json::from_value(object).unwrap();
        add_tasks(&mut shoot, &["a", "b"]);
        assert_eq!(shoot.metadata.annotations.unwrap()[SHOOT_TASKS], want);
    }

    #[test]
    fn a_project_is_found_by_its_namespace() {
        let stored = Stored::default();
        let name = project_of(&stored, "garden-dev").unwrap().metadata.name;
        assert_eq!(name.as_deref(), Some("dev"));
        let missing = project_of(&stored, "garden-x").unwrap_err();
        assert_eq!(missing, "Project.core.gardener.cloud \"garden-x\" not found");
        let missing = SEEDS.get::<Value>(&stored, "", "x").unwrap_err();
        assert_eq!(missing, "seed.core.gardener.cloud \"x\" not found");
    }

    #[test]
    fn only_changes_are_written() {
        let mut raw = json!({"metadata": {"name": "a", "future": 1}, "spec": {"new": true, "purpose": "x",
            "region": "r", "provider": {"type": "p", "workers": [{"name": "w", "later": 1, "zones": null}]}}});
        let before: Shoot = serde_json::from_value(raw.clone()).unwrap();
        let mut after = before.clone();
        after.spec.purpose = None;
        after.spec.seed_name = Some("s".to_owned());
        after.spec.provider.workers[0].zones = vec!["z".to_owned()];
        add_tasks(&mut after, &["t"]);
        write_changes(&mut raw, &before, &after).unwrap();
        let want = json!({
            "metadata": {"name": "a", "future": 1, "annotations": {"shoot.gardener.cloud/tasks": "t"}},
            "spec": {"new": true, "region": "r", "seedName": "s",
                "provider": {"type": "p", "workers": [{"name": "w", "later": 1, "zones": ["z"]}]}},
        });
        assert_eq!(raw, want);
    }
}
