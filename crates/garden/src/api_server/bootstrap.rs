//! What gardener-apiserver writes to the kube-apiserver when it starts: GAP-SRV-S-061, GAP-SRV-S-062.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::{Api, PostParams};

const LEASES: &str = "gardener-system-seed-lease";
const IDENTITY_NAMESPACE: &str = "kube-system";
/// The name of the ConfigMap, and of its key.
const IDENTITY: &str = "cluster-identity";
const ORIGIN: &str = "origin";
const OWN_ORIGIN: &str = "gardener-apiserver";

/// Creates the namespace of the Seeds' leases, and the ConfigMap with the cluster's identity.
///
/// # Errors
/// When the kube-apiserver refuses it, or does not answer.
pub async fn write(client: &Client, identity: &str) -> Result<(), kube::Error> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    if namespaces.get_opt(LEASES).await?.is_none() {
        let metadata = ObjectMeta { name: Some(LEASES.to_owned()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        namespaces.create(&PostParams::default(), &namespace).await?;
    }
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), IDENTITY_NAMESPACE);
    let Some(mut found) = maps.get_opt(IDENTITY).await? else {
        maps.create(&PostParams::default(), &identity_of(identity)).await?;
        return Ok(());
    };
    if is_unclaimed(&found, identity) {
        found.data.get_or_insert_default().insert(ORIGIN.to_owned(), OWN_ORIGIN.to_owned());
        found.immutable = Some(true);
        maps.replace(IDENTITY, &PostParams::default(), &found).await?;
    }
    Ok(())
}

fn identity_of(identity: &str) -> ConfigMap {
    let pairs = [(IDENTITY, identity), (ORIGIN, OWN_ORIGIN)];
    ConfigMap {
        metadata: ObjectMeta { name: Some(IDENTITY.to_owned()), ..ObjectMeta::default() },
        data: Some(pairs.map(|(key, text)| (key.to_owned(), text.to_owned())).into()),
        immutable: Some(true),
        ..ConfigMap::default()
    }
}

/// Whether a ConfigMap has the same identity and may be changed; any other one stays as it is.
fn is_unclaimed(found: &ConfigMap, identity: &str) -> bool {
    let empty = BTreeMap::new();
    let data = found.data.as_ref().unwrap_or(&empty);
    let text = |key: &str| data.get(key).map(String::as_str).unwrap_or_default();
    found.immutable != Some(true) && text(ORIGIN).is_empty() && text(IDENTITY) == identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case("a", "", false, true)]
    #[case("a", "", true, false)]
    #[case("a", "other", false, false)]
    #[case("b", "", false, false)]
    fn an_identity_is_claimed_once(
        #[case] identity: &str,
        #[case] origin: &str,
        #[case] immutable: bool,
        #[case] want: bool,
    ) {
        let mut found = identity_of(identity);
        found.immutable = Some(immutable);
        found.data.get_or_insert_default().insert(ORIGIN.to_owned(), origin.to_owned());
        assert_eq!(is_unclaimed(&found, "a"), want);
    }
}
