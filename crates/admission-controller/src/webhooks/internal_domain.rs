//! There is one internal domain per seed, and it stays the same while there are Shoots
//! (contracts/admission-controller/webhooks/internal-domain.yaml).

use k8s_openapi::api::core::v1::Secret;
use webhook::rejection::Rejection;

use super::{Objects, api_error};
use crate::seed_identity::seed_of_namespace;

/// Its name.
pub const NAME: &str = "internal-domain";
/// Its path.
pub const PATH: &str = "/webhooks/admission/validate-internal-domain";
/// Label of an object of the garden: its role.
pub const ROLE_LABEL: &str = "gardener.cloud/role";
/// Value of [`ROLE_LABEL`].
pub const INTERNAL_DOMAIN: &str = "internal-domain";

const GARDEN_NAMESPACE: &str = "garden";
const DOMAIN: &str = "dns.gardener.cloud/domain";
const PROVIDER: &str = "dns.gardener.cloud/provider";

/// Where a Secret is an internal domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Namespace of the Secret.
    pub namespace: String,
    /// The seed whose Shoots use it; `None`: those of all seeds.
    pub seed: Option<String>,
}

/// The facts that a decision may need; each is the error with which it could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainFacts {
    /// Whether there is a Secret with the role in the namespace.
    pub has_secret: Option<Result<bool, String>>,
    /// Whether there is a Shoot that uses the domain.
    pub has_shoots: Option<Result<bool, String>>,
}

/// A fact that a decision needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// [`DomainFacts::has_secret`].
    Secret,
    /// [`DomainFacts::has_shoots`].
    Shoots,
}

/// Why there is no answer yet, or which it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// A fact is missing.
    Needs(Needed),
    /// The request is refused.
    Rejected(Rejection),
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl Domain {
    /// The domain of a Secret in this namespace; `None` if it can be none. ADM-DOM-001.
    #[must_use]
    pub fn of(namespace: &str) -> Option<Self> {
        let seed = seed_of_namespace(namespace).map(str::to_owned);
        let is_one = namespace == GARDEN_NAMESPACE || seed.is_some();
        is_one.then(|| Self { namespace: namespace.to_owned(), seed })
    }
}

/// Validates a Secret by the known facts; requests one that is missing. ADM-DOM-002 to -007.
///
/// # Errors
/// What is missing, or why the Secret is refused.
pub fn validate(objects: &Objects<Secret>, facts: &DomainFacts) -> Result<(), Refusal> {
    match objects {
        Objects::Create(secret) => {
            if known(facts, Needed::Secret)? {
                let why = "cannot create internal domain secret because there can be only one secret with the \
                           'internal-domain' secret role per namespace";
                return Err(api_error::conflict("Secret", name(secret), why).into());
            }
            domain(secret).map(|_| ()).map_err(|error| api_error::bad_request(error).into())
        }
        Objects::Update { old, new } => validate_update(old, new, facts),
        Objects::Delete(secret) => {
            if known(facts, Needed::Shoots)? {
                let why =
                    "cannot delete internal domain secret because there are still shoots left in the system";
                return Err(api_error::forbidden("", "Secret", name(secret), why).into());
            }
            Ok(())
        }
        Objects::Connect => Ok(()),
    }
}

fn validate_update(old: &Secret, new: &Secret, facts: &DomainFacts) -> Result<(), Refusal> {
    if !has_role(old) && has_role(new) && known(facts, Needed::Secret)? {
        let why = "cannot update secret because there can be only one secret with the 'internal-domain' secret \
                   role per namespace";
        return Err(api_error::conflict("Secret", name(new), why).into());
    }
    let before = domain(old).map_err(api_error::internal)?;
    let after = domain(new).map_err(api_error::internal)?;
    if before != after && known(facts, Needed::Shoots)? {
        let why = "cannot change domain because there are still shoots left in the system";
        return Err(api_error::forbidden("", "Secret", name(new), why).into());
    }
    Ok(())
}

fn known(facts: &DomainFacts, needed: Needed) -> Result<bool, Refusal> {
    let fact = match needed {
        Needed::Secret => &facts.has_secret,
        Needed::Shoots => &facts.has_shoots,
    };
    let fact = fact.clone().ok_or(Refusal::Needs(needed))?;
    fact.map_err(|error| api_error::internal(&error).into())
}

/// The domain that a Secret names; the zone is optional. ADM-DOM-003.
fn domain(secret: &Secret) -> Result<&str, &'static str> {
    let annotations = secret.metadata.annotations.as_ref().ok_or("domain secret has no annotations")?;
    let named = |key: &str| annotations.get(key).filter(|text| !text.is_empty());
    let domain = named(DOMAIN).ok_or("missing dns domain annotation on domain secret")?;
    named(PROVIDER).ok_or("missing dns provider annotation on domain secret")?;
    Ok(domain)
}

fn has_role(secret: &Secret) -> bool {
    let labels = secret.metadata.labels.as_ref();
    labels.and_then(|labels| labels.get(ROLE_LABEL)).is_some_and(|role| role == INTERNAL_DOMAIN)
}

fn name(secret: &Secret) -> &str {
    secret.metadata.name.as_deref().unwrap_or_default()
}
