//! Secrets and InternalSecrets.

use api::garden::ManagedSeed;
use api::garden::reference::SecretReference;
use k8s_openapi::api::core::v1::Secret;
use webhook::field::quote;
use webhook::rejection::Rejection;

use super::{Restricted, forbidden, unreadable};
use crate::bootstrapping::{TOKEN_NAMESPACE, TOKEN_PREFIX, managed_seed_of_description};
use crate::gardenlet_config::seed_template;
use crate::graph::{INTERNAL_SECRET_SUFFIX, SECRET_SUFFIXES};

/// Prefix of the name of a Secret with credentials that an extension generated for a bucket.
const GENERATED_BUCKET_PREFIX: &str = "generated-bucket-";
const TOKEN_TYPE: &str = "bootstrap.kubernetes.io/token";
const USAGES: [&str; 2] = ["usage-bootstrap-authentication", "usage-bootstrap-signing"];
const EXTRA_GROUPS: &str = "auth-extra-groups";

impl Restricted<'_> {
    /// The first of these rules that is about the Secret decides. ADM-SRE-016, ADM-SRE-017, ADM-SRE-022 to -024.
    pub(super) fn secret(&self) -> Result<(), Rejection> {
        self.only_create()?;
        let (namespace, name) = (self.request.namespace.as_str(), self.request.name.as_str());
        if let Some(bucket) = name.strip_prefix(GENERATED_BUCKET_PREFIX) {
            let bucket = self.garden.find_backup_bucket(bucket);
            let bucket = bucket.map_err(|missing| forbidden(missing.to_string()))?;
            return self.check_seed([bucket.spec.seed_name.as_deref()]);
        }
        if let Some(shoot) = SECRET_SUFFIXES.iter().find_map(|suffix| without_suffix(name, suffix)) {
            return self.of_shoot(shoot);
        }
        if namespace == TOKEN_NAMESPACE && name.starts_with(TOKEN_PREFIX) {
            return self.bootstrap_token();
        }
        self.of_managed_seed()
    }

    /// An InternalSecret belongs to a Shoot of the client's seed. ADM-SRE-025.
    pub(super) fn internal_secret(&self) -> Result<(), Rejection> {
        self.only_create()?;
        let shoot = without_suffix(&self.request.name, INTERNAL_SECRET_SUFFIX);
        shoot.map_or_else(|| Err(self.foreign()), |shoot| self.of_shoot(shoot))
    }

    /// Only the seed that a Shoot shall be on counts, not the one that it is on.
    fn of_shoot(&self, name: &str) -> Result<(), Rejection> {
        let shoot = self.garden.find_shoot(&self.request.namespace, name);
        let shoot = shoot.map_err(|missing| forbidden(missing.to_string()))?;
        self.check_seed([shoot.spec.seed_name.as_deref()])
    }

    fn bootstrap_token(&self) -> Result<(), Rejection> {
        let secret: Secret = self.object()?;
        let invalid = |text: String| Rejection::errored(422, text);
        let kind = secret.type_.as_deref().unwrap_or_default();
        if kind != TOKEN_TYPE {
            return Err(invalid(format!("unexpected secret type: {}", quote(kind))));
        }
        let data = secret.data.unwrap_or_default();
        for usage in USAGES {
            if data.get(usage).is_none_or(|value| value.0 != b"true") {
                return Err(invalid(format!("{usage:?} must be set to 'true'")));
            }
        }
        if data.contains_key(EXTRA_GROUPS) {
            return Err(invalid(format!("{EXTRA_GROUPS:?} must not be set")));
        }
        let description = data.get("description").map(|value| String::from_utf8_lossy(&value.0).into_owned());
        let description = description.unwrap_or_default();
        let (namespace, name) = managed_seed_of_description(&description);
        self.bootstrap(namespace, name)
    }

    /// A Secret that a ManagedSeed's Seed will refer to, whose Shoot is on the client's seed.
    fn of_managed_seed(&self) -> Result<(), Rejection> {
        for managed_seed in self.garden.managed_seeds() {
            let shoot = self.garden.shoot_of(&managed_seed);
            let shoot = shoot.map_err(|missing| unreadable(missing.to_string()))?;
            if self.check_seed([shoot.spec.seed_name.as_deref()]).is_ok() && self.is_used_by(&managed_seed)? {
                return Ok(());
            }
        }
        Err(self.foreign())
    }

    fn is_used_by(&self, managed_seed: &ManagedSeed) -> Result<bool, Rejection> {
        let template = seed_template(managed_seed).map_err(|error| unreadable(error.to_string()))?;
        let backup = template.spec.backup.as_ref().map(|backup| &backup.secret_ref);
        let mut references = template.spec.secret_ref.iter().chain(backup);
        Ok(references.any(|reference| self.is_named_by(reference)))
    }

    fn is_named_by(&self, reference: &SecretReference) -> bool {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        (text(&reference.namespace), text(&reference.name))
            == (self.request.namespace.clone(), self.request.name.clone())
    }
}

/// The part before a dot and the suffix.
fn without_suffix<'a>(name: &'a str, suffix: &str) -> Option<&'a str> {
    name.strip_suffix(suffix)?.strip_suffix('.')
}
