//! The subresource `adminkubeconfig` of Shoots: a kubeconfig for the user who asks, with a client certificate of the group
//! `system:masters` that ends after some time. GSH-S-033 to GSH-S-045.

mod certificate;
mod kubeconfig;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use schema::PostedBody;
use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};
use webhook::posting::{Answering, PostedSubresource, Posting};
use webhook::rejection::Rejection;

use crate::admission::messages;
use certificate::{ClientAuthority, Holder};
use kubeconfig::AdvertisedAddress;

const GROUP: &str = "authentication.gardener.cloud";
const KIND: &str = "AdminKubeconfigRequest";
const NAME: &str = "adminkubeconfig";

const DEFAULT_SECONDS: i64 = 3600;
const MIN_SECONDS: i64 = 600;
const MAX_SECONDS: i64 = 4_294_967_295;
/// The longest time that is granted unless the server limits it: the default of `--shoot-admin-kubeconfig-max-expiration`.
const GRANTED: Duration = Duration::from_hours(24);

/// The body of a request.
pub(super) const BODY: PostedBody = PostedBody {
    subresource: NAME,
    kind: (GROUP, "v1alpha1", KIND),
    schema: || {
        json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "expirationSeconds": {"type": "integer", "format": "int64"},
            }},
            "status": {"type": "object", "properties": {
                "kubeconfig": {"type": "string", "format": "byte"},
                "expirationTimestamp": {"type": "string", "format": "date-time"},
            }},
        }})
    },
};

/// The subresource.
pub(super) const SUBRESOURCE: PostedSubresource = PostedSubresource { name: NAME, default, prepare };

fn default(request: &mut Value) {
    if request["spec"]["expirationSeconds"].is_null() {
        request["spec"]["expirationSeconds"] = DEFAULT_SECONDS.into();
    }
}

/// The first failure answers, in the order of the original: GSH-S-034.
fn prepare(posting: &Posting<'_>, mut request: Value) -> Result<Answering, Rejection> {
    let seconds = request["spec"]["expirationSeconds"].as_i64().unwrap_or_default();
    validate(seconds)?;
    let Posting { namespace, name, objects, .. } = *posting;
    let shoot = objects.get("shoots.core.gardener.cloud", namespace, name);
    let shoot = shoot.ok_or_else(|| messages::not_found("shoots.core.gardener.cloud", name))?;
    let cluster = format!("{namespace}--{name}");
    let addresses = addresses(&shoot, name)?;
    let authority = client_authority(posting)?;
    let bundle = cluster_bundle(posting)?;
    let addresses = addresses
        .iter()
        .map(|address| AdvertisedAddress::of(&cluster, address))
        .collect::<Result<Vec<_>, _>>()
        .map_err(messages::plain)?;
    let longest = posting.max_expiration.unwrap_or(GRANTED).as_secs();
    let granted = seconds.min(i64::try_from(longest).unwrap_or(i64::MAX));
    request["spec"]["expirationSeconds"] = granted.into();
    let begin = posting.now;
    let end = begin.checked_add(SignedDuration::from_secs(granted)).unwrap_or(Timestamp::MAX);
    let holder = Holder { name: posting.user.to_owned(), begin, end };
    Ok(Box::new(move || {
        let credentials = authority.sign(&holder).map_err(|error| messages::plain(error.to_string()))?;
        let kubeconfig = kubeconfig::of(&addresses, &bundle, &credentials);
        let kubeconfig = kubeconfig.map_err(|error| messages::plain(error.to_string()))?;
        request["metadata"]["creationTimestamp"] = Value::Null;
        request["status"] = json!({
            "kubeconfig": formats::base64::encode(kubeconfig.as_bytes()),
            "expirationTimestamp": end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        });
        Ok(request)
    }))
}

fn validate(seconds: i64) -> Result<(), Rejection> {
    let at = Path::new("spec").child("expirationSeconds");
    let mut errors = Vec::new();
    if seconds < MIN_SECONDS {
        errors.push(Error::invalid(&at, seconds, "may not specify a duration less than 10 minutes"));
    }
    if seconds > MAX_SECONDS {
        errors.push(Error::too_long(&at, 4_294_967_295));
    }
    if errors.is_empty() { Ok(()) } else { Err(Rejection::invalid(GROUP, KIND, "", &errors)) }
}

/// The addresses of the Shoot's API server; a Shoot without any is refused: GSH-S-039.
fn addresses(shoot: &Value, name: &str) -> Result<Vec<Value>, Rejection> {
    let addresses = shoot["status"]["advertisedAddresses"].as_array().filter(|known| !known.is_empty());
    addresses.cloned().ok_or_else(|| {
        let at = Path::new("status").child("status");
        let none = Shown::verbatim("[]core.ShootAdvertisedAddress(nil)");
        let why = "no kube-apiserver advertised addresses in Shoot .status.advertisedAddresses";
        Rejection::invalid(GROUP, KIND, name, &[Error::invalid(&at, none, why)])
    })
}

/// The authority of client certificates, which is in an InternalSecret: GSH-S-040.
fn client_authority(posting: &Posting<'_>) -> Result<ClientAuthority, Rejection> {
    let name = format!("{}.ca-client", posting.name);
    let secret = posting.objects.get("internalsecrets.core.gardener.cloud", posting.namespace, &name);
    let secret = secret.ok_or_else(|| {
        let why = messages::not_found("internalsecret.core.gardener.cloud", &name).message;
        messages::internal(format!("could not get client CA secret: {why}"))
    })?;
    ClientAuthority::load(&data(&secret, "ca.key"), &data(&secret, "ca.crt"))
        .map_err(|why| messages::internal(format!("could not load client CA certificate from secret: {why}")))
}

/// The certificates that clients trust: GSH-S-041.
fn cluster_bundle(posting: &Posting<'_>) -> Result<Vec<u8>, Rejection> {
    let name = format!("{}.ca-cluster", posting.name);
    let secret = posting.objects.get("secrets", posting.namespace, &name).ok_or_else(|| {
        let why = messages::not_found("secret", &name).message;
        messages::internal(format!("could not get cluster CA secret: {why}"))
    })?;
    let bundle = data(&secret, "ca.crt");
    if bundle.is_empty() {
        return Err(messages::internal("could not load cluster CA bundle from secret"));
    }
    Ok(bundle)
}

/// The decoded value of a key; empty if absent.
fn data(secret: &Value, key: &str) -> Vec<u8> {
    let encoded = secret["data"][key].as_str().unwrap_or_default();
    formats::base64::decode(encoded).unwrap_or_default()
}
