//! Authorities of clients and front proxies: those of flags, else those that the kube-apiserver publishes in a ConfigMap.

use std::collections::BTreeMap;

use apiserver::{Authentication, ClientAuthority, RequestHeaders};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use kube::api::Api;

use super::options::ApiServerOptions;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";

/// The ConfigMap cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "failed to read ConfigMap {NAMESPACE}/{NAME}: {0}; set --authentication-skip-lookup to go without it"
)]
pub struct LookupError(String);

/// How clients authenticate besides with tokens.
///
/// # Errors
/// When the ConfigMap cannot be read, or has a list that is none.
pub async fn authentication(
    options: &ApiServerOptions,
    client: &Client,
) -> Result<Authentication, LookupError> {
    let (mut clients, mut proxies) = (options.clients.clone(), options.proxies.clone());
    if !options.skips_lookup && (clients.is_none() || proxies.is_none()) {
        let published = read(client).await?;
        clients = clients.or_else(|| text(&published, "client-ca-file"));
        if proxies.is_none() {
            proxies = published_proxies(&published)?;
        }
    }
    Ok(Authentication {
        clients: clients.map_or(ClientAuthority::None, ClientAuthority::Bundle),
        request_headers: proxies,
        anonymous: true,
    })
}

async fn read(client: &Client) -> Result<BTreeMap<String, String>, LookupError> {
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let found = api.get_opt(NAME).await.map_err(|error| LookupError(controller::describe_error(&error)))?;
    found
        .map(|found| found.data.unwrap_or_default())
        .ok_or_else(|| LookupError("it does not exist".to_owned()))
}

/// The front proxies of the ConfigMap; none without an authority: a header alone identifies nobody.
fn published_proxies(published: &BTreeMap<String, String>) -> Result<Option<RequestHeaders>, LookupError> {
    let Some(authorities) = text(published, "requestheader-client-ca-file") else { return Ok(None) };
    Ok(Some(RequestHeaders {
        authorities,
        allowed_names: list(published, "requestheader-allowed-names")?,
        username: list(published, "requestheader-username-headers")?,
        uid: list(published, "requestheader-uid-headers")?,
        groups: list(published, "requestheader-group-headers")?,
        extra_prefixes: list(published, "requestheader-extra-headers-prefix")?,
    }))
}

fn text(published: &BTreeMap<String, String>, key: &str) -> Option<String> {
    published.get(key).filter(|text| !text.is_empty()).cloned()
}

/// A list is JSON; an absent one is empty.
fn list(published: &BTreeMap<String, String>, key: &str) -> Result<Vec<String>, LookupError> {
    let Some(text) = text(published, key) else { return Ok(Vec::new()) };
    let wrong = || LookupError(format!("{key} is no JSON list of texts: {text:?}"));
    let read = formats::json::document(text.as_bytes()).map_err(|_| wrong())?;
    let texts = read.as_array().ok_or_else(wrong)?.iter();
    texts.map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|&(key, text)| (key.to_owned(), text.to_owned())).collect()
    }

    #[test]
    fn lists_are_json() {
        let found = published_proxies(&published(&[
            ("requestheader-client-ca-file", "pem"),
            ("requestheader-allowed-names", "[\"front-proxy-client\"]"),
            ("requestheader-username-headers", "[\"X-Remote-User\"]"),
        ]));
        let found = found.unwrap().unwrap();
        assert_eq!(found.allowed_names, ["front-proxy-client"]);
        assert_eq!((found.username, found.groups), (vec!["X-Remote-User".to_owned()], Vec::new()));
        let wrong = [("requestheader-client-ca-file", "pem"), ("requestheader-allowed-names", "a,b")];
        let wrong = published_proxies(&published(&wrong)).unwrap_err().to_string();
        assert!(wrong.contains("requestheader-allowed-names is no JSON list of texts: \"a,b\""), "{wrong}");
    }

    #[test]
    fn without_an_authority_there_are_no_front_proxies() {
        let headers = [("requestheader-username-headers", "[\"X-Remote-User\"]")];
        assert_eq!(published_proxies(&published(&headers)).unwrap(), None);
    }
}
