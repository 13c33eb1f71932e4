//! Requests and renews tokens for Secrets with that purpose (contracts/resource-manager/controllers/token-requestor).
//!
//! A Secret in the source names a ServiceAccount in the target. The token is written to the Secret itself, or to one
//! in the target; an annotation has the time of its renewal.

mod deliver;
mod kubeconfig;
mod plan;

use std::time::Duration;

use controller::clock::Clock;
use controller::store::UnknownNamespace;
use controller::{Controller, Entropy, Outcome, Reconcile, Request, Selection, Store, Watch};
use formats::duration::GoDuration;
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};

use self::deliver::{Delivery, IssuedToken, SecretWrite, deliver};
use self::plan::{
    Account, ObjectKey, PlanError, Renewal, State, TargetSecret, TokenPlan, account_of, plan, target_of,
};
use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "token-requestor";
/// Audience of the tokens.
const AUDIENCE: &str = "gardener";
/// Maximum delay of a renewal, as a fraction of the time.
const JITTER: f64 = 0.05;

/// The controller of one instance; GRM-TRQ-002, GRM-TRQ-025 to -027, GRM-TRQ-029 and GRM-TRQ-030: it handles Secrets
/// with the purpose, of any class, as long as they exist and have it.
pub fn controller(context: &Context) -> Controller {
    let asking = format!("{}={}", api::resources::PURPOSE, api::resources::PURPOSE_TOKEN_REQUESTOR);
    let secrets = context.source.store::<Secret>(Selection::all().labels(asking));
    let changed = Watch::of(&secrets);
    let reconciler = Reconciler {
        secrets,
        accounts: context.target.store(Selection::all()),
        source: context.source.client(),
        target: context.target.client(),
        clock: context.clock,
        entropy: context.entropy.clone(),
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(context.config.controllers.token_requestor.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(changed)
}

/// Why a Secret got no new token. No variant contains a token.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The annotations or data of the Secret are invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The target Secret is in a namespace that the instance does not watch.
    #[error("could not read target secret: {0}")]
    TargetNamespace(#[source] UnknownNamespace),
    /// The target Secret could not be read.
    #[error("could not read target secret: {0}")]
    ReadTarget(#[source] kube::Error),
    /// The ServiceAccount could not be written.
    #[error("could not reconcile service account: {0}")]
    Account(#[source] kube::Error),
    /// The API server issued no token.
    #[error("could not request token: {0}")]
    Token(#[source] kube::Error),
    /// The API server answered without a token.
    #[error("could not request token: the answer has none")]
    NoToken,
    /// The token could not be written.
    #[error("could not update Secret with token: {0}")]
    Write(#[source] kube::Error),
}

struct Reconciler {
    secrets: Store<Secret>,
    accounts: Store<ServiceAccount>,
    source: Client,
    target: Client,
    clock: Clock,
    entropy: Entropy,
}

impl Reconcile for Reconciler {
    type Error = RequestError;

    async fn reconcile(&self, request: Request) -> Result<Outcome, RequestError> {
        let Some(state) = self.observe(&request).await? else { return Ok(Outcome::Done) };
        let plan = plan(self.clock.now(), &state)?;
        self.execute(&state, plan).await
    }
}

impl Reconciler {
    async fn observe(&self, request: &Request) -> Result<Option<State>, RequestError> {
        let Some(secret) = self.secrets.get(&request.namespace, &request.name) else { return Ok(None) };
        let account = account_of(&secret).and_then(|key| self.account(key));
        let target = match target_of(&secret) {
            Some(key) => Some(TargetSecret { secret: self.read(&key).await?, key }),
            None => None,
        };
        Ok(Some(State { secret, account, target }))
    }

    fn account(&self, key: ObjectKey) -> Result<Account, PlanError> {
        let found = self.accounts.try_get(&key.namespace, &key.name)?;
        Ok(Account { key, found })
    }

    /// GRM-TRQ-031 to -033: reads the target Secret from the API server: a stale one would cost a token.
    async fn read(&self, key: &ObjectKey) -> Result<Option<Secret>, RequestError> {
        // All stores of the target watch the same namespaces.
        self.accounts.try_get(&key.namespace, &key.name).map_err(RequestError::TargetNamespace)?;
        let secrets: Api<Secret> = Api::namespaced(self.target.clone(), &key.namespace);
        secrets.get_opt(&key.name).await.map_err(RequestError::ReadTarget)
    }

    async fn execute(&self, state: &State, plan: TokenPlan) -> Result<Outcome, RequestError> {
        match plan {
            TokenPlan::Wait { left, leftover } => {
                if let Some(patch) = leftover {
                    tracing::info!("Depopulating the token from the source secret");
                    self.write(state, SecretWrite::PatchSource(patch)).await.map_err(RequestError::Write)?;
                }
                let after = format_duration(left);
                tracing::info!(after, "No need to generate new token, renewal is scheduled");
                Ok(Outcome::RequeueAfter(left))
            }
            TokenPlan::Renew(renewal) => self.renew(state, renewal).await,
        }
    }

    async fn renew(&self, state: &State, renewal: Renewal) -> Result<Outcome, RequestError> {
        tracing::info!("Requesting new token");
        let Renewal { account, write, seconds, token_field } = renewal;
        self.write_account(write).await.map_err(RequestError::Account)?;
        let (token, expires) = self.request(&account, seconds).await?;
        let now = self.clock.now();
        let after = self.entropy.jitter(deliver::usable_time(now, expires), JITTER);
        let issued = IssuedToken { token, renew: deliver::timestamp(now, after) };
        let Delivery { writes, log_messages } = deliver(state, token_field, &issued);
        for line in log_messages {
            tracing::info!("{line}");
        }
        for write in writes {
            self.write(state, write).await.map_err(RequestError::Write)?;
        }
        tracing::info!(after = format_duration(after), "Successfully requested token and scheduled renewal");
        // An immediate renewal is rate-limited like a failure.
        Ok(if after.is_zero() { Outcome::Requeue } else { Outcome::RequeueAfter(after) })
    }

    async fn write_account(&self, write: plan::AccountWrite) -> Result<(), kube::Error> {
        let params = PostParams::default();
        match write {
            plan::AccountWrite::Keep => {}
            plan::AccountWrite::Create(account) => {
                drop(self.accounts_of(&account).create(&params, &account).await?);
            }
            plan::AccountWrite::Replace(account) => {
                let name = account.metadata.name.as_deref().unwrap_or_default();
                self.accounts_of(&account).replace(name, &params, &account).await?;
            }
        }
        Ok(())
    }

    fn accounts_of(&self, account: &ServiceAccount) -> Api<ServiceAccount> {
        let namespace = account.metadata.namespace.as_deref().unwrap_or_default();
        Api::namespaced(self.target.clone(), namespace)
    }

    /// A token, and its expiration.
    async fn request(&self, account: &ObjectKey, seconds: i64) -> Result<(String, Timestamp), RequestError> {
        let accounts: Api<ServiceAccount> = Api::namespaced(self.target.clone(), &account.namespace);
        let spec = TokenRequestSpec {
            audiences: Some(vec![AUDIENCE.to_owned()]),
            expiration_seconds: Some(seconds),
            ..TokenRequestSpec::default()
        };
        let token_request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
        let answer =
            accounts.create_token_request(&account.name, &PostParams::default(), &token_request).await;
        let status = answer.map_err(RequestError::Token)?.status.unwrap_or_default();
        let token = status.token.filter(|token| !token.is_empty());
        token.zip(status.expiration_timestamp.map(|expires| expires.0)).ok_or(RequestError::NoToken)
    }

    async fn write(&self, state: &State, write: SecretWrite) -> Result<(), kube::Error> {
        let secrets = |client: &Client, secret: &Secret| -> Api<Secret> {
            Api::namespaced(client.clone(), secret.metadata.namespace.as_deref().unwrap_or_default())
        };
        let name = |secret: &Secret| secret.metadata.name.clone().unwrap_or_default();
        let params = PostParams::default();
        match write {
            SecretWrite::CreateTarget(secret) => {
                secrets(&self.target, &secret).create(&params, &secret).await?;
            }
            SecretWrite::ReplaceTarget(secret) => {
                secrets(&self.target, &secret).replace(&name(&secret), &params, &secret).await?;
            }
            SecretWrite::PatchSource(patch) => {
                let (api, name) = (secrets(&self.source, &state.secret), name(&state.secret));
                api.patch_metadata(&name, &PatchParams::default(), &Patch::Merge(patch)).await?;
            }
        }
        Ok(())
    }
}

/// A duration as Go prints it.
fn format_duration(span: Duration) -> String {
    GoDuration::from_nanos(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)).to_string()
}
