//! Marks Secrets whose static tokens are to be invalidated, for the webhook of the same name
//! (contracts/resource-manager/controllers/token-invalidator-controller.yaml).

use std::sync::Arc;

use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use k8s_openapi::api::core::v1::{Pod, Secret, ServiceAccount};
use kube::api::{Api, ListParams, Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Client, ResourceExt as _};
use serde_json::{Map, Value, json};

use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "token-invalidator";
/// How many Pods are read per list request.
const PAGE: u32 = 500;

const REMOVING: &str = "Removing 'consider' label since secret is either explicitly skipped or \
                        `.automountServiceAccountToken` != false";
const SPARED: &str =
    "Secret is either explicitly skipped or `.automountServiceAccountToken` != false, nothing to be done";
const CONSIDERED: &str = "Secret already has 'consider' label, nothing to be done";
const MOUNTED: &str = "Requeueing since there is still at least one pod mounting secret";
const ADDING: &str = "Adding 'consider' label";

type SecretMetadata = PartialObjectMeta<Secret>;

/// The controller of one instance; GRM-TIC-009 and GRM-TIC-010. As in the original there is one worker, whatever is
/// configured.
pub fn controller(context: &Context) -> Controller {
    let secrets = context.target.store::<SecretMetadata>(Selection::all());
    let accounts = context.target.store::<ServiceAccount>(Selection::all());
    let of_accounts = Watch::of(&secrets)
        .filter(|event| !matches!(event, Event::Delete(_)) && !account_name(event.object()).is_empty());
    let changed_accounts = Watch::of(&accounts).filter(relevant_fields_changed).map(referred);
    let reconciler = Reconciler { secrets, accounts, client: context.target.client() };
    Controller::new(NAME, reconciler).timeout(TIMEOUT).source(of_accounts).source(changed_accounts)
}

/// Why a Secret is not marked.
#[derive(Debug, thiserror::Error)]
pub enum InvalidateError {
    /// Its ServiceAccount does not exist.
    #[error("could not fetch ServiceAccount: {0}")]
    Account(String),
    /// The Pods could not be listed, so it is unknown whether one mounts the Secret.
    #[error("could not list Pods: {0}")]
    Pods(#[source] kube::Error),
    /// Its labels could not be written.
    #[error("could not patch Secret: {0}")]
    Patch(#[source] kube::Error),
}

struct Reconciler {
    secrets: Store<SecretMetadata>,
    accounts: Store<ServiceAccount>,
    client: Client,
}

/// The state of one Secret.
struct State {
    secret: Arc<SecretMetadata>,
    /// Whether its token stays valid.
    keeps_static_tokens: bool,
    /// Whether a Pod mounts it; only read if needed.
    is_mounted: bool,
}

/// What to do with a Secret.
#[derive(Debug, PartialEq)]
struct Plan {
    /// Patch of the labels.
    patch: Option<Value>,
    /// Log message.
    log_message: &'static str,
    /// Whether to check again, because deleted Pods trigger nothing.
    requeue: bool,
}

impl Reconcile for Reconciler {
    type Error = InvalidateError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, InvalidateError> {
        let Some(state) = self.observe(&request).await? else { return Ok(Outcome::Done) };
        let plan = plan(&state);
        self.execute(&request, plan).await
    }
}

impl Reconciler {
    async fn observe(&self, request: &Request) -> Result<Option<State>, InvalidateError> {
        let (namespace, name) = (&request.namespace, &request.name);
        let Some(secret) = self.secrets.get(namespace, name) else { return Ok(None) };
        let account = account_name(&secret);
        let absent = || InvalidateError::Account(format!("ServiceAccount {account:?} not found"));
        let keeps_static_tokens =
            keeps_static_tokens(&*self.accounts.get(namespace, account).ok_or_else(absent)?);
        let needs_check = !keeps_static_tokens && !is_considered(&secret);
        let is_mounted = needs_check && self.is_mounted(request).await.map_err(InvalidateError::Pods)?;
        Ok(Some(State { secret, keeps_static_tokens, is_mounted }))
    }

    /// Whether a Pod mounts the Secret, read from the API server: a token in use must stay valid.
    async fn is_mounted(&self, secret: &Request) -> Result<bool, kube::Error> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &secret.namespace);
        let mut params = ListParams::default().limit(PAGE);
        loop {
            let page = pods.list(&params).await?;
            if page.items.iter().any(|pod| mounts(pod, &secret.name)) {
                return Ok(true);
            }
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(false),
            }
        }
    }

    async fn execute(&self, request: &Request, plan: Plan) -> Result<Outcome, InvalidateError> {
        tracing::info!("{}", plan.log_message);
        if let Some(patch) = &plan.patch {
            let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &request.namespace);
            let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
            let patched = secrets.patch_metadata(&request.name, &params, &patch).await;
            patched.map_err(InvalidateError::Patch)?;
        }
        Ok(if plan.requeue { Outcome::Requeue } else { Outcome::Done })
    }
}

/// GRM-TIC-001 to -006 and GRM-TIC-008: the label changes, in one patch; no patch if the labels are right.
fn plan(state: &State) -> Plan {
    let mut labels = Map::new();
    if !state.secret.labels().contains_key(api::resources::PURPOSE) {
        labels.insert(api::resources::PURPOSE.to_owned(), api::resources::PURPOSE_TOKEN_INVALIDATOR.into());
    }
    let considered = is_considered(&state.secret);
    let (consider, log_message) = match (state.keeps_static_tokens, considered, state.is_mounted) {
        (true, true, _) => (Some(Value::Null), REMOVING),
        (true, false, _) => (None, SPARED),
        (false, true, _) => (None, CONSIDERED),
        (false, false, true) => (None, MOUNTED),
        (false, false, false) => (Some("true".into()), ADDING),
    };
    labels.extend(consider.map(|value| (api::resources::TOKEN_CONSIDER.to_owned(), value)));
    let version = state.secret.resource_version();
    let patch =
        (!labels.is_empty()).then(|| json!({"metadata": {"labels": labels, "resourceVersion": version}}));
    Plan { patch, log_message, requeue: log_message == MOUNTED }
}

/// Whether the account's static tokens stay valid: it opts out, or does not disable their mounting.
fn keeps_static_tokens(account: &ServiceAccount) -> bool {
    account.labels().contains_key(api::resources::TOKEN_SKIP)
        || account.automount_service_account_token != Some(false)
}

fn is_considered(secret: &SecretMetadata) -> bool {
    secret.labels().contains_key(api::resources::TOKEN_CONSIDER)
}

/// The account whose token a Secret holds; empty for other Secrets.
fn account_name(secret: &SecretMetadata) -> &str {
    secret.annotations().get(api::kubernetes::SERVICE_ACCOUNT_NAME).map_or("", String::as_str)
}

/// GRM-TIC-007: whether relevant fields of an account changed.
fn relevant_fields_changed(event: &Event<ServiceAccount>) -> bool {
    let Event::Update { old, new } = event else { return false };
    let skip = |account: &ServiceAccount| {
        account.labels().get(api::resources::TOKEN_SKIP).cloned().unwrap_or_default()
    };
    old.automount_service_account_token != new.automount_service_account_token || skip(old) != skip(new)
}

/// The Secrets that an account names.
fn referred(account: &ServiceAccount) -> Vec<Request> {
    let namespace = account.namespace().unwrap_or_default();
    let names = account.secrets.iter().flatten().filter_map(|secret| secret.name.clone());
    names.map(|name| Request::new(namespace.clone(), name)).collect()
}

fn mounts(pod: &Pod, secret: &str) -> bool {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let mut named = volumes.filter_map(|volume| volume.secret.as_ref()?.secret_name.as_deref());
    named.any(|name| name == secret)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn secret(labels: &[&str]) -> Arc<SecretMetadata> {
        let labels: Map<String, Value> = labels.iter().map(|key| ((*key).to_owned(), "x".into())).collect();
        let metadata = json!({"name": "a", "resourceVersion": "7", "labels": labels});
        Arc::new(serde_json::from_value(json!({"metadata": metadata})).unwrap())
    }

    const PURPOSE: &str = api::resources::PURPOSE;
    const CONSIDER: &str = api::resources::TOKEN_CONSIDER;

    #[rstest]
    #[case::new(&[], false, false, Some(json!({PURPOSE: "token-invalidator", CONSIDER: "true"})), ADDING)]
    #[case::with_purpose(&[PURPOSE], false, false, Some(json!({CONSIDER: "true"})), ADDING)]
    #[case::mounted(&[], false, true, Some(json!({PURPOSE: "token-invalidator"})), MOUNTED)]
    #[case::mounted_with_purpose(&[PURPOSE], false, true, None, MOUNTED)]
    #[case::considered(&[PURPOSE, CONSIDER], false, false, None, CONSIDERED)]
    #[case::spared(&[PURPOSE], true, false, None, SPARED)]
    #[case::spared_and_new(&[], true, false, Some(json!({PURPOSE: "token-invalidator"})), SPARED)]
    #[case::spared_and_considered(&[PURPOSE, CONSIDER], true, false, Some(json!({CONSIDER: null})), REMOVING)]
    fn labels_change_as_they_should(
        #[case] labels: &[&str],
        #[case] keeps_static_tokens: bool,
        #[case] is_mounted: bool,
        #[case] changed: Option<Value>,
        #[case] log_message: &'static str,
    ) {
        let state = State { secret: secret(labels), keeps_static_tokens, is_mounted };
        let patch = changed.map(|labels| json!({"metadata": {"labels": labels, "resourceVersion": "7"}}));
        assert_eq!(plan(&state), Plan { patch, log_message, requeue: is_mounted });
    }

    fn account(automount: Option<bool>, labels: &Value) -> Arc<ServiceAccount> {
        let object = json!({
            "metadata": {"namespace": "n", "name": "a", "labels": labels},
            "automountServiceAccountToken": automount, "secrets": [{"name": "s"}, {}],
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }

    #[rstest]
    #[case::says_nothing(None, json!({}), true)]
    #[case::mounts(Some(true), json!({}), true)]
    #[case::does_not_mount(Some(false), json!({}), false)]
    #[case::opts_out(Some(false), json!({api::resources::TOKEN_SKIP: "false"}), true)]
    fn an_account_keeps_its_tokens(
        #[case] automount: Option<bool>,
        #[case] labels: Value,
        #[case] want: bool,
    ) {
        assert_eq!(keeps_static_tokens(&account(automount, &labels)), want);
    }

    #[test]
    fn a_relevant_change_of_an_account_triggers_its_secrets() {
        let (none, skip) = (json!({}), json!({api::resources::TOKEN_SKIP: "true"}));
        let update = |old: &Arc<ServiceAccount>, new: &Arc<ServiceAccount>| Event::Update {
            old: old.clone(),
            new: new.clone(),
        };
        let (off, on, skipped) =
            (account(Some(false), &none), account(None, &none), account(Some(false), &skip));
        let turned = [
            relevant_fields_changed(&update(&off, &on)),
            relevant_fields_changed(&update(&off, &skipped)),
            relevant_fields_changed(&update(&off, &off)),
            relevant_fields_changed(&Event::Create(off.clone())),
            relevant_fields_changed(&Event::Delete(off.clone())),
        ];
        assert_eq!(turned, [true, true, false, false, false]);
        assert_eq!(referred(&off), [Request::new("n", "s")]);
    }

    #[test]
    fn a_pod_mounts_the_secrets_of_its_volumes() {
        let volumes = json!([{"name": "a", "secret": {"secretName": "s"}}, {"name": "b", "projected": {"sources": [{"secret": {"name": "t"}}]}}]);
        let pod: Pod =
            serde_json::from_value(json!({"metadata": {}, "spec": {"containers": [], "volumes": volumes}}))
                .unwrap();
        assert!(mounts(&pod, "s") && !mounts(&pod, "t") && !mounts(&Pod::default(), "s"));
    }
}
