//! Where a new token is written, and when the next one is due.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ObjectMeta;
use serde_json::{Map, Value, json};

use super::plan::{KUBECONFIG, State, TOKEN, TargetSecret, TokenField, data_without_token};

/// Maximum time of using a token, whatever its lifetime.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);
/// Percentage of the lifetime after which a token is renewed.
const SHARE: i32 = 80;

/// A token that the API server issued.
pub(super) struct IssuedToken {
    pub(super) token: String,
    /// When to renew it.
    pub(super) renew: Timestamp,
}

/// The writes for a token, in order, and log messages.
pub(super) struct Delivery {
    pub(super) writes: Vec<SecretWrite>,
    pub(super) log_messages: Vec<String>,
}

/// A write of a Secret.
#[derive(PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(super) enum SecretWrite {
    /// Create the Secret in the target.
    CreateTarget(Box<Secret>),
    /// Replace the Secret in the target.
    ReplaceTarget(Box<Secret>),
    /// Patch the source Secret, unless it has changed in the meantime.
    PatchSource(Value),
}

/// GRM-TRQ-007 and GRM-TRQ-008: how long to use a token; zero if it has expired.
pub(super) fn usable_time(now: Timestamp, expires: Timestamp) -> Duration {
    let life = expires.duration_since(now).min(LONGEST);
    Duration::try_from(life * SHARE / 100).unwrap_or_default()
}

/// The time after a duration, in whole seconds.
pub(super) fn timestamp(now: Timestamp, after: Duration) -> Timestamp {
    let then = now.checked_add(after).unwrap_or(Timestamp::MAX);
    Timestamp::from_second(then.as_second()).unwrap_or(then)
}

/// GRM-TRQ-006, and GRM-TRQ-015 to -017: writes the token to the target Secret or to the source Secret.
pub(super) fn deliver(state: &State, token_field: TokenField, issued: &IssuedToken) -> Delivery {
    let mut log_messages = Vec::new();
    let mut writes = Vec::new();
    let mut data = Map::new();
    if let Some(target) = &state.target {
        log_messages.push("Populating the token to the target secret".to_owned());
        let (key, value) = data_entry(token_field, &issued.token, &mut log_messages);
        writes.push(to_target(target, key, value));
        log_messages.push("Depopulating the token from the source secret".to_owned());
        data = data_without_token(&state.secret);
    } else {
        log_messages.push("Populating the token to the source secret".to_owned());
        let (key, value) = data_entry(token_field, &issued.token, &mut log_messages);
        data.insert(key.to_owned(), STANDARD.encode(value).into());
    }
    let mut patch = json!({"metadata": {
        "annotations": {api::resources::TOKEN_RENEW_TIMESTAMP: issued.renew.to_string()},
        "resourceVersion": state.secret.metadata.resource_version,
    }});
    if !data.is_empty() {
        patch["data"] = data.into();
    }
    writes.push(SecretWrite::PatchSource(patch));
    Delivery { writes, log_messages }
}

/// Key and value of the Secret's data, with the token.
fn data_entry(
    token_field: TokenField,
    token: &str,
    log_messages: &mut Vec<String>,
) -> (&'static str, String) {
    match token_field {
        TokenField::Token => {
            log_messages.push("Writing token to data".to_owned());
            (TOKEN, token.to_owned())
        }
        TokenField::Kubeconfig(kubeconfig) => {
            log_messages.push("Writing token as part of kubeconfig to data".to_owned());
            (KUBECONFIG, kubeconfig.with_token(token))
        }
    }
}

fn to_target(target: &TargetSecret, key: &str, value: String) -> SecretWrite {
    let value = ByteString(value.into_bytes());
    if let Some(found) = &target.secret {
        let mut changed = found.clone();
        changed.data.get_or_insert_default().insert(key.to_owned(), value);
        return SecretWrite::ReplaceTarget(Box::new(changed));
    }
    let metadata = ObjectMeta {
        namespace: Some(target.key.namespace.clone()),
        name: Some(target.key.name.clone()),
        ..ObjectMeta::default()
    };
    let data = Some(BTreeMap::from([(key.to_owned(), value)]));
    SecretWrite::CreateTarget(Box::new(Secret { metadata, data, ..Secret::default() }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;

    use super::super::kubeconfig::Kubeconfig;
    use super::super::plan::{ObjectKey, PlanError};
    use super::*;

    #[rstest]
    #[case::usual("12h", 34_560)]
    #[case::short("10m", 480)]
    #[case::a_day("24h", 69_120)]
    #[case::longer_than_a_day("100h", 69_120)]
    #[case::ended("-1h", 0)]
    fn a_token_is_used_for_eighty_percent_of_a_day_at_most(#[case] life: &str, #[case] seconds: u64) {
        let now: Timestamp = "2026-11-21T08:00:00Z".parse().unwrap();
        let life: SignedDuration = life.parse().unwrap();
        assert_eq!(usable_time(now, now + life), Duration::from_secs(seconds));
    }

    #[test]
    fn the_time_of_renewal_has_whole_seconds() {
        let now: Timestamp = "2026-11-21T08:00:00.7Z".parse().unwrap();
        let then = timestamp(now, Duration::from_millis(1_500));
        assert_eq!(then.to_string(), "2026-11-21T08:00:02Z");
    }

    fn state(data: &[(&str, &str)], target: Option<TargetSecret>) -> State {
        let bytes = |text: &str| ByteString(text.as_bytes().to_vec());
        let data = data.iter().map(|(key, text)| ((*key).to_owned(), bytes(text))).collect();
        let metadata = ObjectMeta { resource_version: Some("7".to_owned()), ..ObjectMeta::default() };
        let secret = Secret { metadata, data: Some(data), ..Secret::default() };
        State { secret: Arc::new(secret), account: Err(PlanError::Account("")), target }
    }

    fn target(secret: Option<Secret>) -> TargetSecret {
        TargetSecret { key: ObjectKey { namespace: "n".to_owned(), name: "a".to_owned() }, secret }
    }

    fn issued() -> IssuedToken {
        IssuedToken { token: "t".to_owned(), renew: "2026-11-21T08:00:00Z".parse().unwrap() }
    }

    /// The patch of the source, conditional on its resource version.
    fn patch(data: &Value) -> SecretWrite {
        let renew =
            json!({"serviceaccount.resources.gardener.cloud/token-renew-timestamp": "2026-11-21T08:00:00Z"});
        let mut patch = json!({"metadata": {"annotations": renew, "resourceVersion": "7"}});
        if !data.is_null() {
            patch["data"] = data.clone();
        }
        SecretWrite::PatchSource(patch)
    }

    #[test]
    fn a_token_stays_at_the_source() {
        let delivery = deliver(&state(&[("other", "o")], None), TokenField::Token, &issued());
        assert_eq!(delivery.writes, [patch(&json!({"token": "dA=="}))]);
        assert_eq!(
            delivery.log_messages,
            ["Populating the token to the source secret", "Writing token to data"]
        );
    }

    #[test]
    fn a_kubeconfig_is_written_completely() {
        let read = Kubeconfig::read(b"users: [{user: {}}]").unwrap();
        let delivery = deliver(&state(&[], None), TokenField::Kubeconfig(read), &issued());
        let text = "apiVersion: v1\nclusters: []\ncontexts: []\ncurrent-context: \"\"\nkind: Config\npreferences: {}\n\
                    users:\n- user:\n    token: t\n";
        assert_eq!(delivery.writes, [patch(&json!({"kubeconfig": STANDARD.encode(text)}))]);
    }

    #[rstest]
    #[case::to_be_made(None, &[])]
    #[case::there(Some(&[("other", "o")][..]), &[("other", "o")])]
    fn a_token_goes_to_the_target_first(
        #[case] found: Option<&[(&str, &str)]>,
        #[case] kept: &[(&str, &str)],
    ) {
        let found = found.map(|data| Secret::clone(&state(data, None).secret));
        let asking =
            state(&[("token", "old"), ("kubeconfig", "k"), ("other", "o")], Some(target(found.clone())));
        let delivery = deliver(&asking, TokenField::Token, &issued());
        let data = state(&[kept, &[("token", "t")]].concat(), None).secret.data.clone();
        let metadata = ObjectMeta {
            namespace: Some("n".to_owned()),
            name: Some("a".to_owned()),
            ..ObjectMeta::default()
        };
        let first = match found {
            None => SecretWrite::CreateTarget(Box::new(Secret { metadata, data, ..Secret::default() })),
            Some(found) => SecretWrite::ReplaceTarget(Box::new(Secret { data, ..found })),
        };
        assert_eq!(delivery.writes, [first, patch(&json!({"token": null, "kubeconfig": null}))]);
    }

    #[test]
    fn a_source_without_token_only_gets_the_time() {
        let delivery = deliver(&state(&[("other", "o")], Some(target(None))), TokenField::Token, &issued());
        assert_eq!(delivery.writes.last(), Some(&patch(&Value::Null)));
    }
}
