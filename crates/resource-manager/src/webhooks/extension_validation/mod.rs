//! Validates extension resources when they are created and updated:
//! `contracts/resource-manager/webhooks/extension-validation`.

mod address;
mod backupbucket;
mod backupentry;
mod bastion;
mod comparison;
mod containerruntime;
mod controlplane;
mod decoding;
mod difference;
mod dnsrecord;
mod domain;
mod etcd;
mod extension;
mod immutable;
mod infrastructure;
mod metadata;
mod network;
mod operatingsystemconfig;
mod printed;
mod required;
mod shape;
mod worker;

use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use comparison::{member, text};
use shape::{Field, Shape};

/// Name of the webhook.
pub const NAME: &str = "extension-validation";

/// A kind, the type of its specification, and its rules.
#[derive(Debug)]
pub struct ExtensionKind {
    /// Kind, as `BackupBucket`.
    pub name: &'static str,
    /// API group.
    pub group: &'static str,
    /// Plural resource name.
    pub resource: &'static str,
    namespaced: bool,
    spec: &'static [Field],
    immutable: &'static [&'static [&'static str]],
    frozen: Frozen,
    rules: fn(&Value, &mut Vec<Error>),
}

/// How an update of the specification is refused while the object is being deleted.
#[derive(Clone, Copy, Debug)]
enum Frozen {
    /// Forbidden.
    Forbidden,
    /// As an immutable field.
    Immutable,
}

/// All kinds, by name.
pub static KINDS: [ExtensionKind; 12] = [
    backupbucket::KIND,
    backupentry::KIND,
    bastion::KIND,
    containerruntime::KIND,
    controlplane::KIND,
    dnsrecord::KIND,
    etcd::KIND,
    extension::KIND,
    infrastructure::KIND,
    network::KIND,
    operatingsystemconfig::KIND,
    worker::KIND,
];

const VERSION: &str = "v1alpha1";
const EXTENSIONS: &str = "extensions.gardener.cloud";

impl ExtensionKind {
    /// The path of its webhook: `/validate-<group>-<version>-<kind>`, dots as dashes, in lower case.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/validate-{}-{VERSION}-{}", self.group.replace('.', "-"), self.name.to_lowercase())
    }

    /// Validates a new object, or the update of an old one: its metadata and its specification (GRM-EXV-312 to -316).
    ///
    /// # Errors
    /// 400 when an object cannot be decoded, 422 with one cause per invalid field.
    pub fn validate(&self, old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
        self.decode(new)?;
        let mut errors = Vec::new();
        if let Some(old) = old {
            self.decode(old)?;
            self.validate_change(old, new, &mut errors);
        }
        metadata::validate(member(Some(new), "metadata"), self.namespaced, &mut errors);
        (self.rules)(new, &mut errors);
        if errors.is_empty() {
            return Ok(());
        }
        let name = text(member(member(Some(new), "metadata"), "name"));
        Err(Rejection::invalid(self.group, self.name, name, &errors))
    }

    /// GRM-EXV-317 to -319, GRM-EXV-322.
    fn decode(&self, object: &Value) -> Result<(), Rejection> {
        let want = format!("{}/{VERSION}", self.group);
        for (field, want) in [("apiVersion", want.as_str()), ("kind", self.name)] {
            decoding::check(Shape::Text, &object[field], field)?;
            let found = text(member(Some(object), field));
            if !found.is_empty() && found != want {
                return Err(Rejection::undecodable(format!("unable to decode {field} {found} into {want}")));
            }
        }
        decoding::check(metadata::SHAPE, &object["metadata"], "metadata")?;
        decoding::check(Shape::Struct(self.spec), &object["spec"], "spec")
    }

    fn validate_change(&self, old: &Value, new: &Value, errors: &mut Vec<Error>) {
        let part = |object, name| member(Some(object), name);
        metadata::validate_update(part(new, "metadata"), part(old, "metadata"), errors);
        let spec = Shape::Struct(self.spec);
        let (new_spec, old_spec) = (part(new, "spec"), part(old, "spec"));
        let at = Path::new("spec");
        let deleting = member(part(new, "metadata"), "deletionTimestamp").is_some();
        if deleting && !comparison::equal(spec, new_spec, old_spec) {
            let difference = difference::differences(spec, new_spec, old_spec).join(",");
            errors.push(match self.frozen {
                Frozen::Forbidden => Error::forbidden(&at, &difference),
                Frozen::Immutable => Error::invalid(&at, difference.as_str(), "field is immutable"),
            });
            return;
        }
        for path in self.immutable {
            immutable::check_path(self.spec, path, (new_spec, old_spec), &at, errors);
        }
    }
}
