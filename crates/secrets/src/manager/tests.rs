//! Runs against a namespace, one after the other, as the original's unit tests of its manager do.

mod lifetimes;
mod names;
mod takeover;

use std::time::Duration;

use rstest::rstest;

use super::*;
use crate::fixture::FixedMaterial;
use crate::options::{RotationStrategy, Signer};
use crate::request::{CertificateContent, KubeconfigContent, TokenUser};

const IDENTITY: &str = "test";
const NOW: i64 = 1_700_000_000;
const DAY: i64 = 24 * 60 * 60;
const NOTHING: [PlannedWrite; 0] = [];

/// The Secrets of a namespace, between the runs of a manager.
#[derive(Clone, Default)]
struct Namespace {
    secrets: BTreeMap<String, ManagedSecret>,
    rotations: BTreeMap<String, Timestamp>,
    renews_authorities: bool,
}

/// What a run did.
struct Run {
    manager: SecretsManager,
    /// Names of the current Secrets, by request.
    names: BTreeMap<String, String>,
    /// What was written before the end of the run.
    writes: Vec<PlannedWrite>,
    /// What was deleted at the end of the run.
    deleted: Vec<String>,
}

impl Namespace {
    fn manager(&self, now: i64) -> SecretsManager {
        let setup = Setup {
            namespace: "garden".to_owned(),
            identity: IDENTITY.to_owned(),
            renews_authorities: self.renews_authorities,
            rotations: self.rotations.clone(),
        };
        SecretsManager::new(setup, self.secrets.values().cloned(), at(now)).unwrap()
    }

    /// Answers requests, writes what is planned, and cleans up.
    fn run(&mut self, now: i64, requests: &[(SecretRequest, GenerateOptions)]) -> Run {
        let mut manager = self.manager(now);
        let mut material = FixedMaterial::new();
        let mut names = BTreeMap::new();
        let mut writes = Vec::new();
        for (request, options) in requests {
            let generated = manager.generate(request, options, at(now), &mut material).unwrap();
            names.insert(request.name.clone(), generated.secret.name.clone());
            writes.extend(generated.writes);
        }
        let deletions = manager.clean_up();
        for write in writes.iter().chain(&deletions) {
            self.apply(write);
        }
        let deleted = deletions
            .into_iter()
            .map(|write| match write {
                PlannedWrite::Delete { name } => name,
                other => panic!("not a deletion: {other:?}"),
            })
            .collect();
        Run { manager, names, writes, deleted }
    }

    fn apply(&mut self, write: &PlannedWrite) {
        match write {
            PlannedWrite::Create(secret) => {
                let before = self.secrets.insert(secret.name.clone(), secret.clone());
                assert!(before.is_none(), "{} exists", secret.name);
            }
            PlannedWrite::Patch { name, patch } => {
                let secret = self.secrets.get_mut(name).unwrap();
                secret.immutable |= patch["immutable"] == true;
                for (key, value) in patch["metadata"]["labels"].as_object().into_iter().flatten() {
                    match value.as_str() {
                        Some(value) => secret.labels.insert(key.clone(), value.to_owned()),
                        None => secret.labels.remove(key),
                    };
                }
            }
            PlannedWrite::Delete { name } => assert!(self.secrets.remove(name).is_some(), "{name} is gone"),
        }
    }

    fn rotate(&mut self, request: &str, begun: i64) {
        self.rotations.insert(request.to_owned(), at(begun));
    }

    fn put(&mut self, secret: ManagedSecret) {
        self.secrets.insert(secret.name.clone(), secret);
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn certificate(name: &str, kind: CertificateKind) -> SecretRequest {
    let content = CertificateContent { common_name: name.to_owned(), ..CertificateContent::new(kind) };
    SecretRequest::new(name, Content::Certificate(content))
}

fn password() -> SecretRequest {
    let content = Content::BasicAuth { user: "foo".to_owned(), password_length: 3 };
    SecretRequest::new("config", content)
}

fn keep_old() -> GenerateOptions {
    GenerateOptions { rotation: RotationStrategy::KeepOld, ..GenerateOptions::default() }
}

fn signed_by(authority: &str, choice: AuthorityChoice) -> GenerateOptions {
    GenerateOptions { signer: Some(Signer::new(authority).choosing(choice)), ..GenerateOptions::default() }
}

/// An authority, and what it signs.
fn chain(authority: GenerateOptions, choice: AuthorityChoice) -> Vec<(SecretRequest, GenerateOptions)> {
    vec![
        (certificate("ca", CertificateKind::Authority), authority),
        (certificate("server", CertificateKind::Server), signed_by("ca", choice)),
        (certificate("both", CertificateKind::ServerAndClient), signed_by("ca", choice)),
        (certificate("client", CertificateKind::Client), signed_by("ca", choice)),
    ]
}

/// One request of each kind.
fn each_kind() -> Vec<(SecretRequest, GenerateOptions)> {
    let kubeconfig = KubeconfigContent {
        context: "garden".to_owned(),
        server: "host".to_owned(),
        authorities: b"ca".to_vec(),
        token: String::new(),
        token_file: "/token".to_owned(),
    };
    let users = BTreeMap::from([("user".to_owned(), TokenUser::default())]);
    let mut all = chain(keep_old(), AuthorityChoice::ByKind);
    all.extend([
        (
            password(),
            GenerateOptions { validity: Some(Duration::from_hours(365 * 24)), ..GenerateOptions::default() },
        ),
        (SecretRequest::new("key", Content::RsaKey { bits: 4096, for_ssh: false }), keep_old()),
        (SecretRequest::new("encryption", Content::EtcdEncryptionKey { length: 32 }), keep_old()),
        (SecretRequest::new("vpn", Content::VpnKey), GenerateOptions::default()),
        (SecretRequest::new("kubeconfig", Content::Kubeconfig(kubeconfig)), keep_old()),
        (
            SecretRequest::new("tokens", Content::StaticTokens(users)),
            GenerateOptions { persist: true, ..keep_old() },
        ),
    ]);
    all
}

#[test]
fn a_second_run_writes_nothing() {
    let mut namespace = Namespace::default();
    let first = namespace.run(NOW, &each_kind());
    // One for each request, and the bundles of the authority and of the key.
    assert_eq!(first.writes.len(), 12);
    assert!(
        first.writes.iter().all(|write| matches!(write, PlannedWrite::Create(secret) if secret.immutable))
    );
    let second = namespace.run(NOW + 60, &each_kind());
    assert_eq!(second.writes, NOTHING);
    assert_eq!(second.deleted, Vec::<String>::new());
    assert_eq!(second.names, first.names);
}

/// Whatever the last write of a run was, the next one finishes its work, and the one after that has nothing to do.
#[test]
fn a_run_that_was_cut_off_is_finished_by_the_next() {
    let mut begun = Namespace::default();
    let old = begun.run(NOW, &each_kind()).names["ca"].clone();
    begun.rotate("ca", NOW + DAY);
    for start in [Namespace::default(), begun] {
        let is_rotation = !start.secrets.is_empty();
        let whole = start.clone().run(NOW + DAY, &each_kind());
        for cut in 0..=whole.writes.len() {
            let mut namespace = start.clone();
            for write in &whole.writes[..cut] {
                namespace.apply(write);
            }
            let next = namespace.run(NOW + DAY + 60, &each_kind());
            assert_eq!(next.writes.len(), whole.writes.len() - cut, "{cut}");
            let kept = next.manager.get("ca", Some(SecretClass::Old)).map(|secret| secret.name.clone());
            assert_eq!(kept, is_rotation.then(|| old.clone()), "{cut}");
            assert_eq!(namespace.run(NOW + DAY + 120, &each_kind()).writes, NOTHING, "{cut}");
        }
    }
}

#[test]
fn a_changed_request_makes_a_new_secret() {
    let mut namespace = Namespace::default();
    let first = namespace.run(NOW, &[(password(), GenerateOptions::default())]);
    let longer = Content::BasicAuth { user: "foo".to_owned(), password_length: 4 };
    let second = namespace.run(NOW, &[(SecretRequest::new("config", longer), GenerateOptions::default())]);
    assert_ne!(second.names, first.names);
    assert_eq!(second.deleted, [first.names["config"].clone()]);
}

/// The original's unit test of `Generate`: this name for an authority with this common name.
#[test]
fn an_authority_has_a_bundle() {
    let content = CertificateContent {
        common_name: "my-ca-common-name".to_owned(),
        ..CertificateContent::new(CertificateKind::Authority)
    };
    let request = SecretRequest::new("config", Content::Certificate(content));
    let run = Namespace::default().run(NOW, &[(request, GenerateOptions::default())]);
    assert_eq!(run.names["config"], "config-54620669");
    let current = run.manager.get("config", Some(SecretClass::Current)).unwrap();
    let bundle = run.manager.get("config", None).unwrap();
    assert_eq!(bundle.data.get("bundle.crt"), current.data.get("ca.crt"));
    assert_eq!(bundle.label(labels::BUNDLE_FOR), "config");
    assert_eq!(bundle.label(labels::NAME), "config-bundle");
    assert_eq!(run.manager.get("config", Some(SecretClass::Old)), None);
}

#[test]
fn an_authority_s_name_can_be_without_checksum() {
    let options = GenerateOptions { keeps_authority_name: true, ..GenerateOptions::default() };
    let run = Namespace::default().run(NOW, &[(certificate("ca", CertificateKind::Authority), options)]);
    assert_eq!(run.names["ca"], "ca");
}

/// All of a rotation: which authority signs what, what is in the bundle, and what goes.
#[test]
fn a_rotation_has_three_stages() {
    let mut namespace = Namespace::default();
    let begin = namespace.run(NOW, &chain(keep_old(), AuthorityChoice::ByKind));
    let old = begin.names["ca"].clone();

    namespace.rotate("ca", NOW + DAY);
    let prepared = namespace.run(NOW + DAY, &chain(keep_old(), AuthorityChoice::ByKind));
    assert_ne!(prepared.names["ca"], old);
    assert_eq!(prepared.names["server"], begin.names["server"]);
    assert_eq!(prepared.names["both"], begin.names["both"]);
    assert_ne!(prepared.names["client"], begin.names["client"]);
    let get = |class| prepared.manager.get("ca", class).unwrap();
    let (current, kept) = (get(Some(SecretClass::Current)), get(Some(SecretClass::Old)));
    assert_eq!(kept.name, old);
    let both = [current.data.get("ca.crt"), kept.data.get("ca.crt")].concat();
    assert_eq!(get(None).data.get("bundle.crt"), both);
    assert!(!prepared.deleted.contains(&old));
    assert_eq!(namespace.run(NOW + DAY, &chain(keep_old(), AuthorityChoice::ByKind)).writes, NOTHING);

    let completing = GenerateOptions { ignore_old: true, ..keep_old() };
    let completed = namespace.run(NOW + 2 * DAY, &chain(completing, AuthorityChoice::ByKind));
    assert_eq!(completed.names["ca"], prepared.names["ca"]);
    assert_ne!(completed.names["server"], begin.names["server"]);
    assert_eq!(completed.names["client"], prepared.names["client"]);
    assert!(completed.deleted.contains(&old), "{:?}", completed.deleted);
    let bundle = completed.manager.get("ca", None).unwrap();
    let current = completed.manager.get("ca", Some(SecretClass::Current)).unwrap();
    assert_eq!(bundle.data.get("bundle.crt"), current.data.get("ca.crt"));
}

#[rstest]
#[case::by_kind(AuthorityChoice::ByKind, [true, true, false])]
#[case::current(AuthorityChoice::Current, [false, false, false])]
#[case::old(AuthorityChoice::Old, [true, true, true])]
fn the_choice_of_the_authority_decides_what_stays(#[case] choice: AuthorityChoice, #[case] stays: [bool; 3]) {
    let mut namespace = Namespace::default();
    let before = namespace.run(NOW, &chain(keep_old(), choice));
    namespace.rotate("ca", NOW + DAY);
    let after = namespace.run(NOW + DAY, &chain(keep_old(), choice));
    let same = ["server", "both", "client"].map(|name| before.names[name] == after.names[name]);
    assert_eq!(same, stays);
}

#[test]
fn a_rotation_in_place_keeps_nothing() {
    let mut namespace = Namespace::default();
    let before = namespace.run(NOW, &[(password(), GenerateOptions::default())]);
    namespace.rotate("config", NOW + 1);
    let after = namespace.run(NOW + 1, &[(password(), GenerateOptions::default())]);
    assert!(after.names["config"].starts_with(&before.names["config"]), "only the end is another one");
    assert_eq!(after.manager.get("config", Some(SecretClass::Old)), None);
    assert_eq!(after.deleted, [before.names["config"].clone()]);
}

#[test]
fn secrets_of_others_are_left_alone() {
    let mut namespace = Namespace::default();
    for (name, identity, manager) in
        [("webhook", "other", labels::MANAGER), ("foreign", IDENTITY, "somebody"), ("free", "", "")]
    {
        namespace.put(secret(name, &[(labels::IDENTITY, identity), (labels::MANAGED_BY, manager)]));
    }
    let run = namespace.run(NOW, &[(password(), GenerateOptions::default())]);
    assert_eq!(run.deleted, Vec::<String>::new());
    assert_eq!(namespace.secrets.len(), 4);
    namespace.put(secret("stale", &[(labels::IDENTITY, IDENTITY), (labels::MANAGED_BY, labels::MANAGER)]));
    assert_eq!(namespace.run(NOW, &[]).deleted, [run.names["config"].as_str(), "stale"]);
}

/// The original's unit test "should reconcile the secret".
#[test]
fn labels_and_immutability_are_restored() {
    let mut namespace = Namespace::default();
    let name = namespace.run(NOW, &[(password(), GenerateOptions::default())]).names["config"].clone();
    let wanted = namespace.secrets[&name].clone();
    let changed = namespace.secrets.get_mut(&name).unwrap();
    changed.immutable = false;
    changed.labels.insert("foreign".to_owned(), "x".to_owned());
    changed.labels.remove(labels::CHECKSUM_OF_CONFIG);
    let run = namespace.run(NOW, &[(password(), GenerateOptions::default())]);
    let checksum = wanted.label(labels::CHECKSUM_OF_CONFIG);
    let patch = json!({
        "immutable": true,
        "metadata": {"labels": {"foreign": null, "checksum-of-config": checksum}},
    });
    assert_eq!(run.writes, [PlannedWrite::Patch { name: name.clone(), patch }]);
    assert_eq!(namespace.secrets[&name], wanted);
}

#[rstest]
#[case::unknown(
    certificate("a", CertificateKind::Server),
    "failed applying generate options for config a: secrets for name \"ca\" not found in internal store"
)]
#[case::not_signed(
    password(),
    "failed applying generate options for config config: only a certificate is signed"
)]
fn a_signer_that_cannot_sign_is_an_error(#[case] request: SecretRequest, #[case] want: &str) {
    let mut manager = Namespace::default().manager(NOW);
    let options = signed_by("ca", AuthorityChoice::ByKind);
    let error = manager.generate(&request, &options, at(NOW), &mut FixedMaterial::new()).unwrap_err();
    let shown = chain_of(&error);
    assert!(shown.starts_with(want), "{shown}");
}

/// An error with its causes.
fn chain_of(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", chain_of(source)))
}

/// A Secret with these labels.
fn secret(name: &str, given: &[(&str, &str)]) -> ManagedSecret {
    ManagedSecret {
        name: name.to_owned(),
        namespace: "garden".to_owned(),
        labels: given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        data: SecretData::default(),
        immutable: true,
        created: Some(NOW),
    }
}
