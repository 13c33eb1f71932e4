//! Which Secret is used, made, kept as the old one, bundled, deleted.

mod lifetime;
mod renewal;
mod store;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::authority::SigningAuthority;
use crate::data;
use crate::error::{GenerateCause, GenerateError, SecretsManagerError};
use crate::labels;
use crate::material::Material;
use crate::naming::{self, Circumstances};
use crate::options::{AuthorityChoice, GenerateOptions};
use crate::request::{CertificateKind, Content, SecretRequest};
use crate::secret::{ManagedSecret, SecretData};

use store::KnownSecrets;

/// How a secrets manager begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// The namespace of all its Secrets.
    pub namespace: String,
    /// Its identity, such as `gardener-operator`: Secrets of others are left alone.
    pub identity: String,
    /// Whether authorities are renewed before they expire, as everything else is.
    pub renews_authorities: bool,
    /// When the last rotation began, by the name of the request; wins over the labels of existing Secrets.
    pub rotations: BTreeMap<String, Timestamp>,
}

/// Which Secret of a request is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretClass {
    /// The one in use.
    Current,
    /// The one before the last rotation.
    Old,
    /// Both together.
    Bundle,
}

/// What must be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedWrite {
    /// Create a Secret. If it exists already, [`SecretsManager::observe`] that one, and generate again.
    Create(ManagedSecret),
    /// Apply a JSON merge patch to a Secret: labels, and that it is immutable.
    Patch {
        /// Its name.
        name: String,
        /// The patch.
        patch: Value,
    },
    /// Delete a Secret; one that is gone already is no failure.
    Delete {
        /// Its name.
        name: String,
    },
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The Secret.
    pub secret: ManagedSecret,
    /// What must be written before it can be used, in this order; nothing if all is as it should be.
    pub writes: Vec<PlannedWrite>,
}

/// The secrets manager of one run: it begins with the Secrets of its namespace and learns what is generated.
///
/// It assumes that what it plans is written. If a write fails, the run fails and the next begins with a new manager.
#[derive(Clone, Debug)]
pub struct SecretsManager {
    namespace: String,
    identity: String,
    /// The Secrets of the namespace, by name.
    secrets: BTreeMap<String, ManagedSecret>,
    /// When the last rotation began, as the label's value, by the name of the request.
    rotations: BTreeMap<String, String>,
    /// What was generated, by the name of the request.
    known: BTreeMap<String, KnownSecrets>,
}

/// An authority that signs, with the checksum of its Secret's data.
struct ChosenSigner {
    authority: SigningAuthority,
    checksum: String,
}

/// One Secret to be had.
struct Pass<'a> {
    request: &'a SecretRequest,
    options: &'a GenerateOptions,
    signer: Option<&'a ChosenSigner>,
    /// Name of the request whose bundle it is.
    bundle_for: Option<&'a str>,
    now: Timestamp,
}

impl SecretsManager {
    /// Begins with all Secrets of a namespace, managed or not.
    ///
    /// # Errors
    /// If the lifetime of a managed Secret is malformed.
    pub fn new(
        setup: Setup,
        secrets: impl IntoIterator<Item = ManagedSecret>,
        now: Timestamp,
    ) -> Result<Self, SecretsManagerError> {
        let Setup { namespace, identity, renews_authorities, rotations: begun } = setup;
        let own = secrets.into_iter().filter(|secret| secret.namespace == namespace);
        let secrets: BTreeMap<String, ManagedSecret> =
            own.map(|secret| (secret.name.clone(), secret)).collect();
        let managed = secrets.values().filter(|secret| is_managed(secret, &identity));
        let mut rotations = renewal::rotations(managed, renews_authorities, now)?;
        rotations.extend(begun.into_iter().map(|(name, time)| (name, seconds(time).to_string())));
        Ok(Self { namespace, identity, secrets, rotations, known: BTreeMap::new() })
    }

    /// Answers a request: with the existing Secret if nothing changed that its name depends on, else with a new one.
    ///
    /// # Errors
    /// If the signer is unknown, a Secret's data or labels are malformed, or there is no material.
    pub fn generate(
        &mut self,
        request: &SecretRequest,
        options: &GenerateOptions,
        now: Timestamp,
        material: &mut dyn Material,
    ) -> Result<Generated, GenerateError> {
        let config = &request.name;
        let signer = self.signer(request, options).map_err(|cause| {
            GenerateError::new(format!("failed applying generate options for config {config}"), cause)
        })?;
        let mut writes = Vec::new();
        let pass = Pass { request, options, signer: signer.as_ref(), bundle_for: None, now };
        let secret = self.ensure(&pass, material, &mut writes)?;
        self.remember(config, &secret, options, now)?;
        if let Some(bundle) = self.bundle_request(request, signer.is_some()) {
            let options = GenerateOptions::default();
            let pass =
                Pass { request: &bundle, options: &options, signer: None, bundle_for: Some(config), now };
            let bundle = self.ensure(&pass, material, &mut writes).map_err(|error| {
                let step = format!("failed generating bundle secret for config {config}");
                GenerateError::new(step, GenerateCause::Bundle(Box::new(error)))
            })?;
            if let Some(known) = self.known.get_mut(config) {
                known.bundle = Some(bundle);
            }
        }
        Ok(Generated { secret, writes })
    }

    /// A Secret of a request that was generated before. Without a class the bundle, or the current one where there is none.
    #[must_use]
    pub fn get(&self, name: &str, class: Option<SecretClass>) -> Option<&ManagedSecret> {
        let known = self.known.get(name)?;
        match class {
            Some(SecretClass::Current) => Some(&known.current),
            Some(SecretClass::Old) => known.old.as_ref(),
            Some(SecretClass::Bundle) => known.bundle.as_ref(),
            None => Some(known.bundle.as_ref().unwrap_or(&known.current)),
        }
    }

    /// Deletes the managed Secrets that no request was answered with: to be called after all requests of a run.
    pub fn clean_up(&mut self) -> Vec<PlannedWrite> {
        let managed = self.secrets.values().filter(|secret| is_managed(secret, &self.identity));
        let stale = managed.filter(|secret| {
            let request = secret.labels.get(labels::BUNDLE_FOR).or_else(|| secret.labels.get(labels::NAME));
            let known = request.and_then(|name| self.known.get(name));
            known.is_none_or(|known| !known.has(&secret.name))
        });
        let stale: Vec<String> = stale.map(|secret| secret.name.clone()).collect();
        for name in &stale {
            self.secrets.remove(name);
        }
        stale.into_iter().map(|name| PlannedWrite::Delete { name }).collect()
    }

    /// Learns that a Secret exists, or is another one than it was.
    pub fn observe(&mut self, secret: ManagedSecret) {
        if secret.namespace == self.namespace {
            self.secrets.insert(secret.name.clone(), secret);
        }
    }

    /// The Secret of a request: an existing one, or a new one.
    fn ensure(
        &mut self,
        pass: &Pass<'_>,
        material: &mut dyn Material,
        writes: &mut Vec<PlannedWrite>,
    ) -> Result<ManagedSecret, GenerateError> {
        let config = &pass.request.name;
        let (name, mut desired) = self.metadata(pass)?;
        let failed = |what: &str, cause: GenerateCause| {
            let step = format!("failed {what} secret {}/{name} for config {config}", self.namespace);
            GenerateError::new(step, cause)
        };
        let existing = self.secrets.get(&name).cloned();
        let is_new = existing.is_none();
        let secret = match existing {
            Some(secret) => secret,
            None => self
                .new_secret(pass, &name, material)
                .map_err(|cause| failed("generating and creating new", cause))?,
        };
        lifetime::set(&mut desired, pass.request, &secret, pass.options.validity, pass.now)
            .map_err(|cause| failed("maintaining lifetime labels on", cause))?;
        let wanted = ManagedSecret { labels: desired, immutable: true, ..secret.clone() };
        if is_new {
            writes.push(PlannedWrite::Create(wanted.clone()));
        } else if let Some(patch) = patch(&secret, &wanted) {
            writes.push(PlannedWrite::Patch { name: name.clone(), patch });
        }
        self.secrets.insert(name, wanted.clone());
        Ok(wanted)
    }

    fn metadata(&self, pass: &Pass<'_>) -> Result<(String, BTreeMap<String, String>), GenerateError> {
        let config = &pass.request.name;
        let checksum =
            pass.request.checksum(pass.signer.map(|signer| &signer.authority)).map_err(|cause| {
                GenerateError::new(format!("failed computing object metadata for config {config}"), cause)
            })?;
        let circumstances = Circumstances {
            identity: &self.identity,
            checksum,
            authority_checksum: pass.signer.map(|signer| signer.checksum.as_str()),
            rotation: self.rotations.get(config).map_or("", String::as_str),
            persist: pass.options.persist,
            bundle_for: pass.bundle_for,
            keeps_authority_name: pass.options.keeps_authority_name,
        };
        Ok(naming::name_and_labels(pass.request, &circumstances))
    }

    /// A new Secret without labels; its data is made, or taken over from a Secret that says so.
    fn new_secret(
        &self,
        pass: &Pass<'_>,
        name: &str,
        material: &mut dyn Material,
    ) -> Result<ManagedSecret, GenerateCause> {
        let data = if let Some(data) = self.data_to_take_over(&pass.request.name)? {
            data
        } else {
            let signer = pass.signer.map(|signer| &signer.authority);
            data::make(pass.request, name, signer, pass.now, material)?
        };
        Ok(ManagedSecret {
            name: name.to_owned(),
            namespace: self.namespace.clone(),
            labels: BTreeMap::new(),
            data,
            immutable: true,
            created: Some(seconds(pass.now)),
        })
    }

    fn data_to_take_over(&self, config: &str) -> Result<Option<SecretData>, GenerateCause> {
        let mut all = self.secrets.values().filter(|secret| secret.label(labels::USE_DATA_FOR) == config);
        match (all.next(), all.next()) {
            (_, Some(_)) => Err(GenerateCause::SeveralToTakeOver(config.to_owned())),
            (only, None) => Ok(only.map(|secret| secret.data.clone())),
        }
    }

    fn signer(
        &self,
        request: &SecretRequest,
        options: &GenerateOptions,
    ) -> Result<Option<ChosenSigner>, GenerateCause> {
        let Some(signer) = &options.signer else { return Ok(None) };
        let kind = request.certificate().ok_or(GenerateCause::NotSigned)?.kind;
        let known = self.known.get(&signer.authority);
        let known = known.ok_or_else(|| GenerateCause::UnknownAuthority(signer.authority.clone()))?;
        let takes_old = match kind {
            CertificateKind::Client => signer.choice == AuthorityChoice::Old,
            CertificateKind::Server | CertificateKind::ServerAndClient => {
                signer.choice != AuthorityChoice::Current
            }
            CertificateKind::Authority => false,
        };
        let chosen = known.old.as_ref().filter(|_| takes_old).unwrap_or(&known.current);
        let (key, certificate) = (chosen.data.get("ca.key"), chosen.data.get("ca.crt"));
        let authority = SigningAuthority::load(&signer.authority, key, certificate)?;
        Ok(Some(ChosenSigner { authority, checksum: chosen.data.checksum() }))
    }

    /// Takes a Secret as the current one of its request, with the old one if that is kept.
    fn remember(
        &mut self,
        config: &str,
        secret: &ManagedSecret,
        options: &GenerateOptions,
        now: Timestamp,
    ) -> Result<(), GenerateError> {
        let name = format!("{}/{}", self.namespace, secret.name);
        store::check(secret).map_err(|cause| {
            let step = format!("failed adding current secret {name} for config {config} to internal store");
            GenerateError::new(step, cause)
        })?;
        let keeps_old = store::keeps_old(secret, options, now).map_err(|cause| {
            let step = format!("failed checking whether old secrets should be ignored for config {config}");
            GenerateError::new(step, cause)
        })?;
        let old = if keeps_old { self.newest_other(config, &secret.name) } else { None };
        if let Some(old) = &old {
            store::check(old).map_err(|cause| {
                let step = format!("failed adding old secrets for config {config} to internal store");
                GenerateError::new(step, cause)
            })?;
        }
        let before = self.known.remove(config);
        let bundle = before.as_ref().and_then(|known| known.bundle.clone());
        let old = old.or_else(|| before.and_then(|known| known.old));
        self.known.insert(config.to_owned(), KnownSecrets { current: secret.clone(), old, bundle });
        Ok(())
    }

    /// The newest Secret of a request besides its current one.
    fn newest_other(&self, config: &str, current: &str) -> Option<ManagedSecret> {
        let of_request = self.secrets.values().filter(|secret| {
            is_managed(secret, &self.identity)
                && secret.label(labels::NAME) == config
                && secret.name != current
        });
        store::newest(of_request).cloned()
    }

    /// The bundle that belongs to an authority or a key: of the current one and, while it is kept, the old one.
    fn bundle_request(&self, request: &SecretRequest, is_signed: bool) -> Option<SecretRequest> {
        let known = self.known.get(&request.name)?;
        let parts = |key: &str| -> Vec<Vec<u8>> {
            let both = std::iter::once(&known.current).chain(&known.old);
            both.map(|secret| secret.data.get(key).to_owned()).collect()
        };
        let content = match &request.content {
            Content::Certificate(_) if !is_signed => Content::CertificateBundle(parts("ca.crt")),
            Content::RsaKey { for_ssh: false, .. } => Content::KeyBundle(parts("id_rsa")),
            _ => return None,
        };
        Some(SecretRequest::new(&format!("{}{}", request.name, labels::BUNDLE_SUFFIX), content))
    }
}

fn is_managed(secret: &ManagedSecret, identity: &str) -> bool {
    secret.label(labels::MANAGED_BY) == labels::MANAGER && secret.label(labels::IDENTITY) == identity
}

/// The merge patch from a Secret to the wanted one; `None` if they are the same.
fn patch(secret: &ManagedSecret, wanted: &ManagedSecret) -> Option<Value> {
    let mut changes = Map::new();
    for (key, value) in &wanted.labels {
        if secret.labels.get(key) != Some(value) {
            changes.insert(key.clone(), json!(value));
        }
    }
    for key in secret.labels.keys().filter(|key| !wanted.labels.contains_key(*key)) {
        changes.insert(key.clone(), Value::Null);
    }
    let mut patch = Map::new();
    if !changes.is_empty() {
        patch.insert("metadata".to_owned(), json!({ "labels": changes }));
    }
    if !secret.immutable {
        patch.insert("immutable".to_owned(), json!(true));
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// Whole seconds since 1970.
fn seconds(time: Timestamp) -> i64 {
    time.as_second()
}

#[cfg(test)]
mod tests;
