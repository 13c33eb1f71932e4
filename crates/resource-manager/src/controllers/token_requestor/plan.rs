//! The plan for a Secret with a token: wait, or renew it.

use std::sync::Arc;
use std::time::Duration;

use controller::store::UnknownNamespace;
use formats::duration::{DurationError, GoDuration};
use formats::time;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::ResourceExt as _;
use kube::api::ObjectMeta;
use serde_json::{Map, Value, json};

use super::kubeconfig::{Kubeconfig, KubeconfigError};

/// Default lifetime of a token.
const LIFETIME: GoDuration = GoDuration::from_seconds(12 * 60 * 60);
/// Key of the data that holds a token.
pub(super) const TOKEN: &str = "token";
/// Key of the data that holds a kubeconfig.
pub(super) const KUBECONFIG: &str = "kubeconfig";

/// Why a Secret cannot get a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The annotation with the ServiceAccount's name or namespace is missing or empty.
    #[error("annotation {0} does not name a service account")]
    Account(&'static str),
    /// The ServiceAccount is in a namespace that the instance does not watch.
    #[error("could not reconcile service account: {0}")]
    Namespace(#[from] UnknownNamespace),
    /// The kubeconfig has no user for the token.
    #[error("could not check whether token exists in secret data: {0}")]
    Kubeconfig(String),
    /// The renewal annotation is not a valid time.
    #[error("could not parse renew timestamp: {0:?} is not an RFC 3339 time")]
    Renew(String),
    /// The lifetime annotation is not a valid duration.
    #[error("could not parse token expiration duration: {0}")]
    Lifetime(#[source] DurationError),
}

/// Namespace and name of an object in the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectKey {
    pub(super) namespace: String,
    pub(super) name: String,
}

/// The state of one Secret.
pub(super) struct State {
    /// The source Secret.
    pub(super) secret: Arc<Secret>,
    /// The ServiceAccount, or why it is unknown.
    pub(super) account: Result<Account, PlanError>,
    /// The target Secret, if the token is not written to the source Secret.
    pub(super) target: Option<TargetSecret>,
}

/// A ServiceAccount of the target.
pub(super) struct Account {
    pub(super) key: ObjectKey,
    pub(super) found: Option<Arc<ServiceAccount>>,
}

/// The target Secret, by key, and its content if it exists.
pub(super) struct TargetSecret {
    pub(super) key: ObjectKey,
    pub(super) secret: Option<Secret>,
}

/// What to do for a Secret.
pub(super) enum TokenPlan {
    /// The token is still valid.
    Wait {
        /// Time until its renewal.
        left: Duration,
        /// Patch of the source for the waiting time.
        leftover: Option<Value>,
    },
    /// Request a new token.
    Renew(Renewal),
}

/// How to renew a token.
pub(super) struct Renewal {
    /// Its ServiceAccount.
    pub(super) account: ObjectKey,
    /// Write of the ServiceAccount before the request.
    pub(super) write: AccountWrite,
    /// Lifetime of the token.
    pub(super) seconds: i64,
    /// Where to write it in the data of a Secret.
    pub(super) token_field: TokenField,
}

/// Write of a ServiceAccount.
#[derive(Debug, PartialEq)]
pub(super) enum AccountWrite {
    /// None, because nothing differs.
    Keep,
    /// Create it.
    Create(Box<ServiceAccount>),
    /// Update it.
    Replace(Box<ServiceAccount>),
}

/// Where a token is stored in the data of a Secret.
pub(super) enum TokenField {
    /// Under its own key.
    Token,
    /// In a kubeconfig.
    Kubeconfig(Kubeconfig),
}

/// The ServiceAccount that a Secret names; GRM-TRQ-024.
///
/// # Errors
/// When an annotation is missing.
pub(super) fn account_of(secret: &Secret) -> Result<ObjectKey, PlanError> {
    let text = |key: &'static str| {
        annotation(secret, key).filter(|text| !text.is_empty()).ok_or(PlanError::Account(key))
    };
    let name = text(api::resources::SERVICE_ACCOUNT_NAME)?.to_owned();
    let namespace = text(api::resources::SERVICE_ACCOUNT_NAMESPACE)?.to_owned();
    Ok(ObjectKey { namespace, name })
}

/// GRM-TRQ-015 and GRM-TRQ-018: the target Secret; name and namespace annotations only count together.
pub(super) fn target_of(secret: &Secret) -> Option<ObjectKey> {
    let text = |key| annotation(secret, key).filter(|text| !text.is_empty()).map(str::to_owned);
    let name = text(api::resources::TARGET_SECRET_NAME)?;
    let namespace = text(api::resources::TARGET_SECRET_NAMESPACE)?;
    Some(ObjectKey { namespace, name })
}

/// Waits until the token is due, if there is one; an invalid Secret leads to no write.
///
/// # Errors
/// When annotations or the kubeconfig are invalid.
pub(super) fn plan(now: Timestamp, state: &State) -> Result<TokenPlan, PlanError> {
    let token_field = token_field(state).map_err(|error| PlanError::Kubeconfig(error.to_string()))?;
    if let Some(left) = time_left(now, state, &token_field)? {
        return Ok(TokenPlan::Wait { left, leftover: stale_token_patch(state) });
    }
    let account = state.account.as_ref().map_err(Clone::clone)?;
    let seconds = seconds(&state.secret)?;
    Ok(TokenPlan::Renew(Renewal {
        account: account.key.clone(),
        write: account_write(account),
        seconds,
        token_field,
    }))
}

/// GRM-TRQ-009 to -014: where the token is stored: in the kubeconfig, if there is one.
fn token_field(state: &State) -> Result<TokenField, KubeconfigError> {
    let data = token_secret(state).and_then(|secret| secret.data.as_ref());
    match data.and_then(|data| data.get(KUBECONFIG)) {
        Some(kubeconfig) => Ok(TokenField::Kubeconfig(Kubeconfig::read(&kubeconfig.0)?)),
        None => Ok(TokenField::Token),
    }
}

/// The Secret that stores the token.
fn token_secret(state: &State) -> Option<&Secret> {
    state.target.as_ref().map_or(Some(&*state.secret), |target| target.secret.as_ref())
}

/// GRM-TRQ-007, GRM-TRQ-017 and GRM-TRQ-019 to -022: time until the renewal; `None` if it is due or the token is
/// missing.
fn time_left(now: Timestamp, state: &State, token_field: &TokenField) -> Result<Option<Duration>, PlanError> {
    let renew = annotation(&state.secret, api::resources::TOKEN_RENEW_TIMESTAMP).unwrap_or_default();
    let has_token = match token_field {
        TokenField::Kubeconfig(kubeconfig) => kubeconfig.has_token(),
        TokenField::Token => {
            let data = token_secret(state).and_then(|secret| secret.data.as_ref());
            data.is_some_and(|data| data.contains_key(TOKEN))
        }
    };
    if renew.is_empty() || !has_token {
        return Ok(None);
    }
    let due = time::nanos(renew).ok_or_else(|| PlanError::Renew(renew.to_owned()))?;
    let left = due.saturating_sub(now.as_nanosecond());
    // A time beyond the clock's range is awaited in parts.
    let left = u64::try_from(left.clamp(0, i64::MAX.into())).unwrap_or_default();
    Ok((left > 0).then(|| Duration::from_nanos(left)))
}

/// GRM-TRQ-028: the patch that removes a token from the source if the target has it.
fn stale_token_patch(state: &State) -> Option<Value> {
    let data = state.secret.data.as_ref().filter(|_| state.target.is_some())?;
    let of_kubeconfig = |text: &ByteString| Kubeconfig::read(&text.0).is_ok_and(|read| read.has_token());
    let stands = data.contains_key(TOKEN) || data.get(KUBECONFIG).is_some_and(of_kubeconfig);
    let version = &state.secret.metadata.resource_version;
    stands
        .then(|| json!({"metadata": {"resourceVersion": version}, "data": data_without_token(&state.secret)}))
}

/// The data patch of a Secret that no longer stores the token.
pub(super) fn data_without_token(secret: &Secret) -> Map<String, Value> {
    let has = |key: &&str| secret.data.as_ref().is_some_and(|data| data.contains_key(*key));
    let keys = [TOKEN, KUBECONFIG].into_iter().filter(has);
    keys.map(|key| (key.to_owned(), Value::Null)).collect()
}

/// GRM-TRQ-001, GRM-TRQ-003 and GRM-TRQ-004: the account must exist, and must not mount its tokens automatically.
fn account_write(account: &Account) -> AccountWrite {
    let Some(found) = &account.found else {
        let ObjectKey { namespace, name } = account.key.clone();
        let metadata = ObjectMeta { namespace: Some(namespace), name: Some(name), ..ObjectMeta::default() };
        let made = ServiceAccount {
            metadata,
            automount_service_account_token: Some(false),
            ..ServiceAccount::default()
        };
        return AccountWrite::Create(Box::new(made));
    };
    if found.automount_service_account_token == Some(false) {
        return AccountWrite::Keep;
    }
    let mut right = ServiceAccount::clone(found);
    right.automount_service_account_token = Some(false);
    AccountWrite::Replace(Box::new(right))
}

/// GRM-TRQ-005 and GRM-TRQ-023: lifetime of the token, in whole seconds.
fn seconds(secret: &Secret) -> Result<i64, PlanError> {
    let lifetime = match annotation(secret, api::resources::TOKEN_EXPIRATION_DURATION) {
        Some(text) => GoDuration::parse(text).map_err(PlanError::Lifetime)?,
        None => LIFETIME,
    };
    Ok(lifetime.nanos() / 1_000_000_000)
}

fn annotation<'a>(secret: &'a Secret, key: &str) -> Option<&'a str> {
    secret.annotations().get(key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const NOW: &str = "2026-11-21T08:00:00Z";
    const KUBECONFIG_OF_U: &str = "{current-context: c, contexts: [{name: c, context: {user: u}}], users: [{name: u, user: {token: old}}]}";

    /// A Secret for the token of kube-system/app, with these annotations and data.
    fn secret(annotations: &[(&str, &str)], data: &[(&str, &str)]) -> Secret {
        let names = [
            (api::resources::SERVICE_ACCOUNT_NAME, "app"),
            (api::resources::SERVICE_ACCOUNT_NAMESPACE, "kube-system"),
        ];
        let annotations =
            names.iter().chain(annotations).map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        let bytes = |text: &str| ByteString(text.as_bytes().to_vec());
        let data = data.iter().map(|(key, text)| ((*key).to_owned(), bytes(text)));
        let metadata = ObjectMeta {
            namespace: Some("shoot".to_owned()),
            name: Some("asks".to_owned()),
            resource_version: Some("7".to_owned()),
            annotations: Some(annotations.collect()),
            ..ObjectMeta::default()
        };
        Secret { metadata, data: Some(data.collect()), ..Secret::default() }
    }

    fn key(name: &str) -> ObjectKey {
        ObjectKey { namespace: "kube-system".to_owned(), name: name.to_owned() }
    }

    fn state(secret: Secret, target: Option<TargetSecret>) -> State {
        let account = account_of(&secret).map(|key| Account { key, found: None });
        State { secret: Arc::new(secret), account, target }
    }

    /// A description of the plan.
    fn planned(state: &State) -> String {
        match plan(NOW.parse().unwrap(), state) {
            Ok(TokenPlan::Wait { left, leftover }) => {
                let leftover = leftover.map(|patch| format!(", {patch}")).unwrap_or_default();
                format!("wait {}s{leftover}", left.as_secs())
            }
            Ok(TokenPlan::Renew(Renewal { account, write, seconds, token_field })) => {
                let token_field = if matches!(token_field, TokenField::Token) { TOKEN } else { KUBECONFIG };
                let write = match write {
                    AccountWrite::Keep => "keep",
                    AccountWrite::Create(_) => "create",
                    AccountWrite::Replace(_) => "replace",
                };
                format!("{write} {}/{}, {seconds}s into {token_field}", account.namespace, account.name)
            }
            Err(error) => error.to_string(),
        }
    }

    #[rstest]
    #[case::new(&[], &[], "create kube-system/app, 43200s into token")]
    #[case::no_time(&[(RENEW, "")], &[(TOKEN, "t")], "create kube-system/app, 43200s into token")]
    #[case::due(&[(RENEW, NOW)], &[(TOKEN, "t")], "create kube-system/app, 43200s into token")]
    #[case::not_due(&[(RENEW, "2026-11-21T08:00:01Z")], &[(TOKEN, "t")], "wait 1s")]
    #[case::another_zone(&[(RENEW, "2026-11-21T10:00:01+02:00")], &[(TOKEN, "")], "wait 1s")]
    #[case::far(&[(RENEW, "9999-01-01T00:00:00Z")], &[(TOKEN, "t")], "wait 9223372036s")]
    #[case::missing(&[(RENEW, "2026-11-21T09:00:00Z")], &[], "create kube-system/app, 43200s into token")]
    #[case::missing_and_no_time(&[(RENEW, "soon")], &[], "create kube-system/app, 43200s into token")]
    #[case::no_time_at_all(&[(RENEW, "soon")], &[(TOKEN, "t")], "could not parse renew timestamp: \"soon\" is not an RFC 3339 time")]
    #[case::in_kubeconfig(&[(RENEW, "2026-11-21T09:00:00Z")], &[(KUBECONFIG, KUBECONFIG_OF_U)], "wait 3600s")]
    #[case::not_in_kubeconfig(&[(RENEW, "2026-11-21T09:00:00Z")], &[(KUBECONFIG, "{users: [{user: {}}]}"), (TOKEN, "t")], "create kube-system/app, 43200s into kubeconfig")]
    #[case::bad_kubeconfig(&[], &[(KUBECONFIG, "a")], "could not check whether token exists in secret data: failed to read kubeconfig: it is not a v1 Config")]
    #[case::lifetime(&[(LIFE, "10m0.9s")], &[], "create kube-system/app, 600s into token")]
    #[case::bad_lifetime(&[(LIFE, "1d")], &[], "could not parse token expiration duration: time: unknown unit \"d\" in duration \"1d\"")]
    #[case::no_account(&[(api::resources::SERVICE_ACCOUNT_NAME, "")], &[], "annotation serviceaccount.resources.gardener.cloud/name does not name a service account")]
    #[case::no_account_but_good(&[(api::resources::SERVICE_ACCOUNT_NAME, ""), (RENEW, "2026-11-21T09:00:00Z")], &[(TOKEN, "t")], "wait 3600s")]
    fn a_token_is_requested_when_it_is_due_or_missing(
        #[case] annotations: &[(&str, &str)],
        #[case] data: &[(&str, &str)],
        #[case] want: &str,
    ) {
        assert_eq!(planned(&state(secret(annotations, data), None)), want);
    }

    const RENEW: &str = api::resources::TOKEN_RENEW_TIMESTAMP;
    const LIFE: &str = api::resources::TOKEN_EXPIRATION_DURATION;

    #[rstest]
    #[case::not_there(&[], None, "create kube-system/app, 43200s into token")]
    #[case::without_token(&[], Some(&[("other", "o")][..]), "create kube-system/app, 43200s into token")]
    #[case::good(&[], Some(&[(TOKEN, "t")][..]), "wait 3600s")]
    #[case::a_token_is_left(&[(TOKEN, "t")], Some(&[(TOKEN, "t")][..]), r#"wait 3600s, {"data":{"token":null},"metadata":{"resourceVersion":"7"}}"#)]
    #[case::a_kubeconfig_is_left(&[(KUBECONFIG, KUBECONFIG_OF_U)], Some(&[(TOKEN, "t")][..]), r#"wait 3600s, {"data":{"kubeconfig":null},"metadata":{"resourceVersion":"7"}}"#)]
    #[case::a_kubeconfig_without_token_stays(&[(KUBECONFIG, "{users: [{user: {}}]}")], Some(&[(TOKEN, "t")][..]), "wait 3600s")]
    fn the_token_is_looked_for_in_the_target(
        #[case] data: &[(&str, &str)],
        #[case] target: Option<&[(&str, &str)]>,
        #[case] want: &str,
    ) {
        let asking = secret(&[(RENEW, "2026-11-21T09:00:00Z")], data);
        let target = TargetSecret { key: key("token"), secret: target.map(|data| secret(&[], data)) };
        assert_eq!(planned(&state(asking, Some(target))), want);
    }

    #[test]
    fn both_names_of_a_secret_of_the_target_count_together() {
        let (name, namespace) = (api::resources::TARGET_SECRET_NAME, api::resources::TARGET_SECRET_NAMESPACE);
        let wanted = ObjectKey { namespace: "n".to_owned(), name: "a".to_owned() };
        assert_eq!(target_of(&secret(&[(name, "a"), (namespace, "n")], &[])), Some(wanted));
        for half in [&[(name, "a")][..], &[(namespace, "n")], &[(name, "a"), (namespace, "")], &[]] {
            assert_eq!(target_of(&secret(half, &[])), None, "{half:?}");
        }
    }

    #[rstest]
    #[case(None, true)]
    #[case(Some(true), true)]
    #[case(Some(false), false)]
    fn an_account_is_updated_and_keeps_other_fields(#[case] automount: Option<bool>, #[case] written: bool) {
        let labels = Some([("own".to_owned(), "label".to_owned())].into());
        let found = ServiceAccount {
            metadata: ObjectMeta { labels, ..ObjectMeta::default() },
            automount_service_account_token: automount,
            ..ServiceAccount::default()
        };
        let got = account_write(&Account { key: key("app"), found: Some(Arc::new(found.clone())) });
        let wanted = ServiceAccount { automount_service_account_token: Some(false), ..found };
        assert_eq!(got, if written { AccountWrite::Replace(Box::new(wanted)) } else { AccountWrite::Keep });
    }
}
