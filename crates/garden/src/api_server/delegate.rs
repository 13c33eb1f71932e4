//! Asks the kube-apiserver who a token's user is (TokenReview) and what a user may do (SubjectAccessReview).

use std::collections::BTreeMap;

use apiserver::{AccessRequest, AccessTarget, Decision, Delegate, Pending, User};
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Client;
use kube::api::{Api, PostParams};
use sha2::{Digest as _, Sha256};
use tokio::runtime::Handle;

use super::options::CacheTimes;
use super::verdicts::Verdicts;

/// The group that may do everything; nobody is asked.
const MASTERS: &str = "system:masters";

/// A kube-apiserver that knows users and permissions.
#[derive(Debug)]
pub struct KubeDelegate {
    tokens: Api<TokenReview>,
    accesses: Api<SubjectAccessReview>,
    /// Paths that everybody may get.
    open: Vec<String>,
    cached: CacheTimes,
    /// By the hash of the token: a token is kept nowhere.
    users: Verdicts<[u8; 32], Option<User>>,
    decisions: Verdicts<AccessRequest, Decision>,
}

impl KubeDelegate {
    /// Asks one client about tokens, and one about permissions; the paths `open` are allowed to everybody.
    #[must_use]
    pub fn new([authentication, authorization]: [Client; 2], open: Vec<String>, cached: CacheTimes) -> Self {
        Self {
            tokens: Api::all(authentication),
            accesses: Api::all(authorization),
            open,
            cached,
            users: Verdicts::new(),
            decisions: Verdicts::new(),
        }
    }

    async fn review_token(&self, token: &str) -> Result<Option<User>, String> {
        let key: [u8; 32] = Sha256::digest(token).into();
        if let Some(user) = self.users.get(&key) {
            return Ok(user);
        }
        let spec = TokenReviewSpec { token: token.to_owned(), ..TokenReviewSpec::default() };
        let review = TokenReview { spec, ..TokenReview::default() };
        let answer = self.tokens.create(&PostParams::default(), &review).await;
        let status = answer.map_err(|error| controller::describe_error(&error))?.status.unwrap_or_default();
        let is_known = status.authenticated.unwrap_or_default();
        let user = status.user.filter(|_| is_known).map(user_of);
        // An error without a user may be over at the next request.
        if user.is_some() || status.error.is_none() {
            self.users.keep(key, user.clone(), self.cached.token);
        }
        Ok(user)
    }

    async fn review_access(&self, request: &AccessRequest) -> Result<Decision, String> {
        if self.is_open(request) {
            return Ok(Decision { allowed: true, reason: String::new() });
        }
        if let Some(decision) = self.decisions.get(request) {
            return Ok(decision);
        }
        let review = SubjectAccessReview { spec: spec_of(request), ..SubjectAccessReview::default() };
        let answer = self.accesses.create(&PostParams::default(), &review).await;
        let status = answer.map_err(|error| controller::describe_error(&error))?.status.unwrap_or_default();
        let denied = status.denied.unwrap_or_default();
        let decision =
            Decision { allowed: status.allowed && !denied, reason: status.reason.unwrap_or_default() };
        let time = if decision.allowed { self.cached.allowed } else { self.cached.denied };
        self.decisions.keep(request.clone(), decision.clone(), time);
        Ok(decision)
    }

    /// Whether nobody is asked: for masters, and for paths that everybody may get.
    fn is_open(&self, request: &AccessRequest) -> bool {
        if request.user.groups.iter().any(|group| group == MASTERS) {
            return true;
        }
        let AccessTarget::Path(path) = &request.target else { return false };
        self.open.iter().any(|open| match open.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix),
            None => path == open,
        })
    }
}

impl Delegate for KubeDelegate {
    fn token_user<'a>(&'a self, token: &'a str) -> Pending<'a, Result<Option<User>, String>> {
        Box::pin(self.review_token(token))
    }

    fn decide<'a>(&'a self, request: &'a AccessRequest) -> Pending<'a, Result<Decision, String>> {
        Box::pin(self.review_access(request))
    }

    fn decide_now(&self, request: &AccessRequest) -> Decision {
        // The other threads of the runtime go on meanwhile.
        let decided = tokio::task::block_in_place(|| Handle::current().block_on(self.review_access(request)));
        decided.unwrap_or_else(|error| {
            tracing::error!(error, "failed to authorize what an admission plugin asked");
            Decision { allowed: false, reason: error }
        })
    }
}

fn user_of(info: UserInfo) -> User {
    User {
        name: info.username.unwrap_or_default(),
        uid: info.uid.unwrap_or_default(),
        groups: info.groups.unwrap_or_default(),
        extra: info.extra.unwrap_or_default(),
    }
}

fn spec_of(request: &AccessRequest) -> SubjectAccessReviewSpec {
    let User { name, uid, groups, extra } = request.user.clone();
    let filled = |text: &String| (!text.is_empty()).then(|| text.clone());
    let verb = Some(request.verb.clone());
    let (resource_attributes, non_resource_attributes) = match &request.target {
        AccessTarget::Path(path) => (None, Some(NonResourceAttributes { path: Some(path.clone()), verb })),
        AccessTarget::Resource { group, resource, subresource, namespace, name } => {
            let attributes = ResourceAttributes {
                group: filled(group),
                // Permissions do not depend on the version.
                version: Some("*".to_owned()),
                resource: filled(resource),
                subresource: filled(subresource),
                namespace: filled(namespace),
                name: filled(name),
                verb,
                ..ResourceAttributes::default()
            };
            (Some(attributes), None)
        }
    };
    SubjectAccessReviewSpec {
        user: Some(name),
        uid: filled(&uid),
        groups: Some(groups),
        extra: Some(extra).filter(|extra: &BTreeMap<String, Vec<String>>| !extra.is_empty()),
        resource_attributes,
        non_resource_attributes,
    }
}
