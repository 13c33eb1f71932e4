//! Validation of the status of Shoots: its identity stays, and advertised addresses are URLs of servers.

use std::collections::BTreeSet;

use api::garden::shoot::status::{ShootAdvertisedAddress, ShootStatus};
use api::garden::{GROUP, Shoot};
use serde_json::Value;
use webhook::field::{Error, Path, Shown};
use webhook::rejection::Rejection;
use webhook::url::{Url, UrlError};

use crate::webhooks::{FieldErrors, reading};

const FORMAT: &str = "desired format: https://host[:port]";

/// Validates an update of the status.
pub(super) fn validate(old: &Value, new: &Value) -> Result<(), Rejection> {
    let (old, new): (Shoot, Shoot) = (reading::read("Shoot", old)?, reading::read("Shoot", new)?);
    let mut errors = identity(&old.status, &new.status);
    let mut seen = BTreeSet::new();
    for (index, address) in new.status.advertised_addresses.iter().enumerate() {
        errors.extend(advertised(address, &mut seen, &at("advertisedAddresses").index(index)));
    }
    let name = new.metadata.name.unwrap_or_default();
    if errors.is_empty() { Ok(()) } else { Err(Rejection::invalid(GROUP, "Shoot", &name, &errors)) }
}

fn at(field: &str) -> Path {
    Path::new("status").child(field)
}

fn identity(old: &ShootStatus, new: &ShootStatus) -> FieldErrors {
    let immutable = |field: &str, shown: &Value| Error::invalid(&at(field), shown, "field is immutable");
    let texts = [("uid", &old.uid, &new.uid), ("technicalID", &old.technical_id, &new.technical_id)];
    let changed = texts.into_iter().filter(|(_, old, new)| !old.is_empty() && old != new);
    let mut errors: FieldErrors =
        changed.map(|(field, _, new)| immutable(field, &new.as_str().into())).collect();
    if old.cluster_identity.is_some() && old.cluster_identity != new.cluster_identity {
        errors.push(immutable("clusterIdentity", &new.cluster_identity.clone().into()));
    }
    errors
}

/// The URL of an address without a name is not checked.
fn advertised<'a>(
    address: &'a ShootAdvertisedAddress,
    seen: &mut BTreeSet<&'a str>,
    at: &Path,
) -> FieldErrors {
    if address.name.is_empty() {
        return vec![Error::required(&at.child("name"), "field must not be empty")];
    }
    if !seen.insert(&address.name) {
        return vec![Error::duplicate(&at.child("name"), &address.name)];
    }
    server_url(&address.url, &at.child("url"))
}

fn server_url(text: &str, at: &Path) -> FieldErrors {
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(error) => return vec![unreadable(&error, at)],
    };
    let user =
        url.user.as_ref().map(|user| (Shown::verbatim(user), "user information is not permitted in the URL"));
    let part = |is_wrong: bool, shown: &str, why: &'static str| is_wrong.then(|| (Shown::from(shown), why));
    let path = String::from_utf8_lossy(&url.path);
    let wrong = [
        part(url.scheme != "https", &url.scheme, "'https' is the only allowed URL scheme"),
        part(url.host.is_empty(), &url.host, "host must be provided"),
        part(!path.is_empty(), &path, "path is not permitted in the URL"),
        user,
        part(!url.fragment.is_empty(), &url.fragment, "fragments are not permitted in the URL"),
        part(!url.query.is_empty(), &url.query, "query parameters are not permitted in the URL"),
    ];
    let wrong = wrong.into_iter().flatten();
    wrong.map(|(shown, why)| Error::invalid(at, shown, &format!("{why}; {FORMAT}"))).collect()
}

fn unreadable(error: &UrlError, at: &Path) -> Error {
    Error::required(at, &format!("url must be a valid URL: {error}; {FORMAT}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(old: &Value, new: &Value) -> Vec<String> {
        let errors = validate(&json!({"status": old}), &json!({"status": new})).err();
        errors.into_iter().flat_map(|rejection| rejection.errors).map(|error| error.to_string()).collect()
    }

    #[test]
    fn the_identity_of_a_shoot_stays() {
        let old = json!({"uid": "a", "technicalID": "b", "clusterIdentity": "c"});
        let none: [&str; 0] = [];
        assert_eq!(texts(&json!({}), &old), none);
        assert_eq!(texts(&old, &old), none);
        let want = [
            "status.uid: Invalid value: \"x\": field is immutable",
            "status.technicalID: Invalid value: \"\": field is immutable",
            "status.clusterIdentity: Invalid value: \"null\": field is immutable",
        ];
        assert_eq!(texts(&old, &json!({"uid": "x"})), want);
    }

    #[test]
    fn advertised_addresses_are_servers_with_names_of_their_own() {
        let of = |name: &str, url: &str| json!({"advertisedAddresses": [{"name": name, "url": url}]});
        let at = "status.advertisedAddresses[0]";
        let format = "; desired format: https://host[:port]";
        let table = [
            (of("a", "https://host:443"), String::new()),
            (of("", "x"), format!("{at}.name: Required value: field must not be empty")),
            (
                of("a", "http://h"),
                format!("{at}.url: Invalid value: \"http\": 'https' is the only allowed URL scheme{format}"),
            ),
            (
                of("a", "https://h/"),
                format!("{at}.url: Invalid value: \"/\": path is not permitted in the URL{format}"),
            ),
            (
                of("a", "https://u@h"),
                format!("{at}.url: Invalid value: u: user information is not permitted in the URL{format}"),
            ),
            (
                of("a", "https://h#f"),
                format!("{at}.url: Invalid value: \"f\": fragments are not permitted in the URL{format}"),
            ),
            (
                of("a", "https://h?q"),
                format!(
                    "{at}.url: Invalid value: \"q\": query parameters are not permitted in the URL{format}"
                ),
            ),
            (of("a", "https://"), format!("{at}.url: Invalid value: \"\": host must be provided{format}")),
            (
                of("a", ":"),
                format!(
                    "{at}.url: Required value: url must be a valid URL: parse \":\": missing protocol scheme{format}"
                ),
            ),
        ];
        for (status, want) in table {
            assert_eq!(texts(&json!({}), &status).join(" "), want, "{status}");
        }
        let twice =
            json!({"advertisedAddresses": [{"name": "a", "url": "https://h"}, {"name": "a", "url": "x"}]});
        assert_eq!(texts(&json!({}), &twice), ["status.advertisedAddresses[1].name: Duplicate value: \"a\""]);
    }
}
