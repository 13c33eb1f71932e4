//! Authentication settings of the TLS front end, as in kube-apiserver's flags: authorities of client certificates, front
//! proxies, anonymous requests.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName};

use crate::call::User;
use crate::http::query::decode;

/// How clients authenticate over TLS, besides with tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentication {
    /// The authorities of users' client certificates.
    pub clients: ClientAuthority,
    /// Front proxies, which may name other users; none if absent.
    pub request_headers: Option<RequestHeaders>,
    /// Whether requests without credentials are those of `system:anonymous` (`--anonymous-auth`).
    pub anonymous: bool,
}

/// The authorities of users' client certificates (`--client-ca-file`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClientAuthority {
    /// The server's own authority.
    #[default]
    Own,
    /// None: client certificates identify no user.
    None,
    /// The authorities of a PEM bundle.
    Bundle(String),
}

/// Front proxies: each names the user of a request in headers (`--requestheader-…`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHeaders {
    /// PEM bundle of the authorities of the proxies' certificates.
    pub authorities: String,
    /// Common names that the certificate may have; any if empty.
    pub allowed_names: Vec<String>,
    /// Headers with the user's name; the first nonempty one counts.
    pub username: Vec<String>,
    /// Headers with the user's uid.
    pub uid: Vec<String>,
    /// Headers with the user's groups; all values of all headers count.
    pub groups: Vec<String>,
    /// Prefixes of headers with extra attributes.
    pub extra_prefixes: Vec<String>,
}

impl Default for Authentication {
    /// The server's own authority, no proxies, and anonymous requests allowed.
    fn default() -> Self {
        Self { clients: ClientAuthority::default(), request_headers: None, anonymous: true }
    }
}

impl RequestHeaders {
    /// Whether a proxy with this common name is accepted.
    pub(crate) fn allows(&self, common_name: &str) -> bool {
        self.allowed_names.is_empty() || self.allowed_names.iter().any(|allowed| allowed == common_name)
    }

    /// Removes the user from the headers of a request. If they name no user, returns `None` and keeps them.
    pub(crate) fn take_user(&self, headers: &mut HeaderMap) -> Option<User> {
        let name = first(headers, &self.username)?;
        let uid = first(headers, &self.uid).unwrap_or_default();
        let groups = self.groups.iter().flat_map(|header| values(headers, header)).collect();
        let (extra, extra_headers) = self.extra(headers);
        for header in [&self.username, &self.uid, &self.groups].into_iter().flatten() {
            headers.remove(header.as_str());
        }
        for header in extra_headers {
            headers.remove(header);
        }
        Some(User { name, uid, groups, extra }.authenticated())
    }

    /// Extra attributes of the user, and the headers with them.
    fn extra(&self, headers: &HeaderMap) -> (BTreeMap<String, Vec<String>>, Vec<HeaderName>) {
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut names = Vec::new();
        for prefix in self.extra_prefixes.iter().map(|prefix| prefix.to_lowercase()) {
            for header in headers.keys() {
                let Some(key) = header.as_str().strip_prefix(&prefix) else { continue };
                let given = values(headers, header.as_str());
                extra.entry(decode(key, false).to_lowercase()).or_default().extend(given);
                names.push(header.clone());
            }
        }
        (extra, names)
    }
}

/// The values of a header that are text.
fn values(headers: &HeaderMap, name: &str) -> Vec<String> {
    let all = headers.get_all(name).iter();
    all.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect()
}

/// The first nonempty value among the first values of these headers.
fn first(headers: &HeaderMap, names: &[String]) -> Option<String> {
    let firsts = names.iter().filter_map(|name| values(headers, name).into_iter().next());
    firsts.map(|value| value.trim().to_owned()).find(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_name_a_user_are_removed() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let proxy = RequestHeaders {
            username: texts(&["X-Remote-User", "X-Other-User"]),
            groups: texts(&["X-Remote-Group"]),
            extra_prefixes: texts(&["X-Remote-Extra-"]),
            ..RequestHeaders::default()
        };
        let mut headers = HeaderMap::new();
        headers.append("x-remote-user", " ".parse().unwrap());
        headers.append("x-remote-group", "a".parse().unwrap());
        assert_eq!(proxy.take_user(&mut headers), None);
        assert_eq!(headers.len(), 2, "headers that name no user are kept");
        headers.append("x-other-user", "bob".parse().unwrap());
        headers.append("x-remote-group", "b".parse().unwrap());
        headers.append("x-remote-extra-example.com%2fscope", "one".parse().unwrap());
        headers.append("x-remote-extra-example.com%2fscope", "two".parse().unwrap());
        headers.append("accept", "*/*".parse().unwrap());
        let want = User {
            name: "bob".to_owned(),
            groups: texts(&["a", "b", "system:authenticated"]),
            extra: BTreeMap::from([("example.com/scope".to_owned(), texts(&["one", "two"]))]),
            ..User::default()
        };
        assert_eq!(proxy.take_user(&mut headers), Some(want));
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["accept"]);
    }

    #[test]
    fn a_proxy_needs_an_allowed_name_if_names_are_given() {
        let any = RequestHeaders::default();
        let named = RequestHeaders { allowed_names: vec!["proxy".to_owned()], ..RequestHeaders::default() };
        assert!(any.allows("x") && named.allows("proxy") && !named.allows("x"));
    }
}
