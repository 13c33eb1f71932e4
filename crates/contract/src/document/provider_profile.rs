//! Provider profiles: the objects that a control plane's namespace has beside the object of a case, as Gardener and a provider
//! write them (contracts/README.md, Provider profiles).

use std::collections::{BTreeMap, BTreeSet};

use formats::yaml::Node;
use schema::Kinds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Error, SourceFile, target::Metadata};

/// The placeholders that have a value in every case.
const GIVEN: [&str; 3] = ["provider", "kubernetes", "namespace"];

/// A file with Gardener's own objects, `kind: ControlPlaneNamespace`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NamespaceFile {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `ControlPlaneNamespace`.
    pub kind: String,
    /// Name of the file.
    pub metadata: Metadata,
    /// The namespace.
    pub spec: ControlPlaneNamespace,
}

/// The namespace of a control plane as Gardener writes it, whatever the provider is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ControlPlaneNamespace {
    /// Component of the contracts whose cases have these objects: `controlplane`.
    pub component: String,
    /// Name of the namespace in cases: `shoot--dev--app`.
    pub namespace: String,
    /// The Shoot's version of Kubernetes in cases whose objects tell none: `1.27.5`.
    pub kubernetes: String,
    /// Values of `<name>` in objects; profiles have their own.
    #[serde(default)]
    pub values: BTreeMap<String, Value>,
    /// The objects.
    pub objects: Vec<Value>,
}

/// A file with a profile, `kind: ProviderProfile`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProfileFile {
    /// `conformance.gardener.cloud/v1alpha1`.
    pub api_version: String,
    /// `ProviderProfile`.
    pub kind: String,
    /// Name of the provider: `gcp`.
    pub metadata: Metadata,
    /// The profile.
    pub spec: ProviderProfile,
}

/// What a provider adds to the namespace of a control plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProviderProfile {
    /// Component of the contracts whose cases have these objects: `controlplane`.
    pub component: String,
    /// What Gardener's objects and labels call the provider; default: the profile's name.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<String>,
    /// Where the provider's types and keys are from.
    pub source: String,
    /// Features that the provider's released webhooks have.
    #[serde(default)]
    pub features: Vec<String>,
    /// What the provider's released webhooks change on purpose although no clause mentions it, as `extras` of a target file.
    #[serde(default)]
    pub extras: Vec<String>,
    /// Values of `<name>` in objects, over those of the namespace.
    #[serde(default)]
    pub values: BTreeMap<String, Value>,
    /// Objects; one of the namespace with the same kind and name is merged with it.
    pub objects: Vec<Value>,
}

/// The namespace and the profiles of a component's contracts.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    /// Gardener's own objects.
    pub namespace: ControlPlaneNamespace,
    /// The profiles by name.
    pub by_name: BTreeMap<String, ProviderProfile>,
}

/// A value of a file without a valid position or content: message and remedy.
pub(crate) type Fault = (String, String);

impl Profiles {
    /// The profile of this name or type, with its name.
    #[must_use]
    pub fn find(&self, provider: &str) -> Option<(&str, &ProviderProfile)> {
        let is_meant = |(name, profile): &(&String, &ProviderProfile)| {
            *name == provider || profile.type_of(name) == provider
        };
        self.by_name.iter().find(is_meant).map(|(name, profile)| (name.as_str(), profile))
    }

    /// What Gardener's objects call this provider; an unknown one is called by its name.
    #[must_use]
    pub fn type_of<'a>(&'a self, provider: &'a str) -> &'a str {
        self.find(provider).map_or(provider, |(name, profile)| profile.type_of(name))
    }

    /// The names of all profiles.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.by_name.keys().map(String::as_str).collect()
    }
}

impl ProviderProfile {
    /// The type of a profile with this name.
    #[must_use]
    pub fn type_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.provider_type.as_deref().unwrap_or(name)
    }
}

/// Reads the objects of a file for `clusterObjects` of a target file; each belongs to this namespace.
///
/// # Errors
/// When the file is not YAML, holds no object, or holds one that is incomplete, twice there or not of this namespace.
pub fn read_objects(file: &SourceFile, namespace: &str) -> Result<Vec<Value>, Error> {
    let unreadable = |error: formats::yaml::Error| file.error(error.mark, 1, error.message, None);
    let nodes = formats::yaml::parse(&file.text).map_err(unreadable)?;
    let nodes: Vec<&Node> = nodes.iter().filter(|node| !node.is_null()).collect();
    let mut objects: Vec<Value> = Vec::new();
    for node in &nodes {
        let wrong = |(message, remedy): Fault| file.error(node.start, 1, message, Some(remedy));
        let object: Value = node.read().map_err(unreadable)?;
        check_object(&object, namespace).map_err(wrong)?;
        if let Some(other) = objects.iter().find(|other| is_same(other, &object)) {
            let message = format!("the file has {} twice", describe(other));
            return Err(wrong((message, "remove one of the two".to_owned())));
        }
        objects.push(object);
    }
    if objects.is_empty() {
        let remedy = "write at least one object, or remove the file from `clusterObjects`".to_owned();
        return Err(file.error(super::first(), 0, "the file has no object", Some(remedy)));
    }
    Ok(objects)
}

/// Checks that an object is complete and belongs to the namespace of control planes.
pub(crate) fn check_object(object: &Value, namespace: &str) -> Result<(), Fault> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let metadata = &object["metadata"];
    if version.is_empty() || kind.is_empty() || text(&metadata["name"]).is_empty() {
        let message = "apiVersion, kind or metadata.name of the object is missing".to_owned();
        return Err((message, "write the whole object, as the API server has it".to_owned()));
    }
    let what = describe(object);
    let is_namespaced =
        Kinds::gardener().of_object(&version, &kind).is_none_or(|resource| resource.namespaced);
    if is_namespaced {
        let other = metadata["namespace"].as_str().filter(|other| *other != namespace);
        return other.map_or(Ok(()), |other| {
            let remedy =
                format!("remove `metadata.namespace`, or write {namespace}: the tool puts the object there");
            Err((format!("{what} is in the namespace {other}, not in {namespace}"), remedy))
        });
    }
    if kind != "Cluster" {
        let remedy = "name its file in `needs` of the target file: `clusterObjects` are of one namespace";
        return Err((format!("{what} is in no namespace"), remedy.to_owned()));
    }
    if metadata["name"] != namespace {
        let remedy = format!("name the Cluster as its namespace: `metadata: {{name: {namespace}}}`");
        return Err((format!("{what} is of another namespace than {namespace}"), remedy));
    }
    Ok(())
}

/// Whether two objects have the same kind and name.
#[must_use]
pub fn is_same(one: &Value, other: &Value) -> bool {
    one["apiVersion"] == other["apiVersion"]
        && one["kind"] == other["kind"]
        && one["metadata"]["name"] == other["metadata"]["name"]
}

/// `Secret cloudprovider`.
#[must_use]
pub fn describe(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// The first placeholder of a value that none of these names has.
pub(crate) fn unknown_placeholder(value: &Value, known: &BTreeSet<&str>) -> Option<String> {
    match value {
        Value::String(text) => placeholders(text).find(|name| !known.contains(name)).map(str::to_owned),
        Value::Array(items) => items.iter().find_map(|item| unknown_placeholder(item, known)),
        Value::Object(fields) => fields.values().find_map(|field| unknown_placeholder(field, known)),
        _ => None,
    }
}

/// The names in `<…>` of a text.
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('<').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('>')?;
        let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric());
        is_name.then_some(name)
    })
}

/// The names that placeholders may have.
pub(crate) fn known_placeholders<'a>(
    values: impl IntoIterator<Item = &'a BTreeMap<String, Value>>,
) -> BTreeSet<&'a str> {
    let named = values.into_iter().flat_map(BTreeMap::keys).map(String::as_str);
    GIVEN.into_iter().chain(named).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn profiles() -> Profiles {
        let profile = |provider_type: Option<&str>| ProviderProfile {
            component: "controlplane".to_owned(),
            provider_type: provider_type.map(str::to_owned),
            source: "x".to_owned(),
            features: Vec::new(),
            extras: Vec::new(),
            values: BTreeMap::new(),
            objects: Vec::new(),
        };
        let namespace = ControlPlaneNamespace {
            component: "controlplane".to_owned(),
            namespace: "shoot--dev--app".to_owned(),
            kubernetes: "1.27.5".to_owned(),
            values: BTreeMap::new(),
            objects: Vec::new(),
        };
        let by_name = [("aws", None), ("equinix-metal", Some("equinixmetal"))];
        let by_name = by_name.map(|(name, of)| (name.to_owned(), profile(of)));
        Profiles { namespace, by_name: by_name.into() }
    }

    #[test]
    fn a_profile_is_found_by_its_name_or_its_type() {
        let table = [
            ("aws", Some("aws"), "aws"),
            ("equinix-metal", Some("equinix-metal"), "equinixmetal"),
            ("equinixmetal", Some("equinix-metal"), "equinixmetal"),
            ("acme", None, "acme"),
        ];
        for (provider, name, provider_type) in table {
            let profiles = profiles();
            let found = profiles.find(provider).map(|(name, _)| name);
            assert_eq!((found, profiles.type_of(provider)), (name, provider_type), "{provider}");
        }
    }

    #[test]
    fn objects_of_a_file_belong_to_the_namespace() {
        let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: a";
        let cluster = "apiVersion: extensions.gardener.cloud/v1alpha1\nkind: Cluster\nmetadata: {name: ";
        let table = [
            (format!("{head}}}\n"), None),
            (format!("{head}, namespace: shoot--dev--app}}\n"), None),
            (format!("{cluster}shoot--dev--app}}\n"), None),
            ("apiVersion: a/v1\nkind: Own\nmetadata: {name: a}\n".to_owned(), None),
            (format!("{head}}}\n---\n{head}, namespace: garden}}\n"), Some((5, "not in shoot--dev--app"))),
            (format!("{head}}}\n---\n{head}}}\n"), Some((5, "the file has Secret a twice"))),
            (format!("{cluster}other}}\n"), Some((1, "Cluster other is of another namespace"))),
            ("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n".to_owned(), Some((1, "is in no namespace"))),
            ("\nkind: Secret\n".to_owned(), Some((2, "apiVersion, kind or metadata.name"))),
            ("# nothing\n".to_owned(), Some((1, "the file has no object"))),
            ("a: [\n".to_owned(), Some((1, "unclosed"))),
        ];
        for (text, wanted) in table {
            let read = read_objects(&SourceFile::new("own.yaml", text.as_str()), "shoot--dev--app");
            let Some((line, words)) = wanted else {
                assert_eq!(
                    read.map(|objects| objects.len()).map_err(|error| error.to_string()),
                    Ok(1),
                    "{text}"
                );
                continue;
            };
            let error = read.unwrap_err();
            assert_eq!((error.location.line, error.message.contains(words)), (line, true), "{text}: {error}");
        }
    }

    #[test]
    fn a_placeholder_without_a_value_is_found_at_any_depth() {
        let values = BTreeMap::from([("region".to_owned(), json!("a"))]);
        let known = known_placeholders([&values]);
        let table = [
            (json!({"a": ["<region>-<provider> <kubernetes>"]}), None),
            (json!({"a": ["<region>", "x <zone> y"]}), Some("zone")),
            (json!("a < b > c, <>, <a b>"), None),
        ];
        for (value, wanted) in table {
            assert_eq!(unknown_placeholder(&value, &known).as_deref(), wanted, "{value}");
        }
    }
}
