//! Speaking for somebody else: the `Impersonate-` headers.

use std::collections::BTreeMap;

use http::HeaderMap;

use crate::call::User;
use crate::http::query::decode;
use crate::http::status::Status;

/// Whom a request speaks for, and what the caller must be allowed to impersonate for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Impersonated {
    /// The user that the request is done as.
    pub(crate) user: User,
    /// Each as (group, resource, subresource, namespace, name).
    pub(crate) needs: Vec<[String; 5]>,
}

/// What the headers say; absent if the request speaks for its caller.
pub(crate) fn impersonated(headers: &HeaderMap) -> Result<Option<Impersonated>, Status> {
    let all = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.map(str::to_owned).collect()
    };
    let name = all("impersonate-user").into_iter().next().unwrap_or_default();
    let uid = all("impersonate-uid").into_iter().next().unwrap_or_default();
    let (groups, extra) = (all("impersonate-group"), extra(headers));
    if name.is_empty() {
        return if groups.is_empty() && uid.is_empty() && extra.is_empty() {
            Ok(None)
        } else {
            Err(nameless(&uid, &groups, &extra))
        };
    }
    let needs = needs(&name, &uid, &groups, &extra);
    Ok(Some(Impersonated { user: whole(name, uid, groups, extra), needs }))
}

/// `Impersonate-Extra-foo: a` as the key `foo`, unescaped and in lower case.
fn extra(headers: &HeaderMap) -> BTreeMap<String, Vec<String>> {
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        if let (Some(key), Ok(value)) = (name.as_str().strip_prefix("impersonate-extra-"), value.to_str()) {
            extra.entry(decode(key, false).to_lowercase()).or_default().push(value.to_owned());
        }
    }
    extra
}

fn nameless(uid: &str, groups: &[String], extra: &BTreeMap<String, Vec<String>>) -> Status {
    let list = |texts: &[String]| {
        let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
        format!("[]string{{{}}}", quoted.join(", "))
    };
    let groups = if groups.is_empty() { "[]string(nil)".to_owned() } else { list(groups) };
    let extra = if extra.is_empty() {
        "map[string][]string(nil)".to_owned()
    } else {
        let pairs: Vec<String> =
            extra.iter().map(|(key, values)| format!("{key:?}:{}", list(values))).collect();
        format!("map[string][]string{{{}}}", pairs.join(", "))
    };
    Status::bad_request(format!(
        "requested &user.DefaultInfo{{Name:\"\", UID:{uid:?}, Groups:{groups}, Extra:{extra}}} without impersonating a \
         user name"
    ))
}

fn needs(
    name: &str,
    uid: &str,
    groups: &[String],
    extra: &BTreeMap<String, Vec<String>>,
) -> Vec<[String; 5]> {
    let need = |group: &str, resource: &str, subresource: &str, namespace: &str, name: &str| {
        [group, resource, subresource, namespace, name].map(str::to_owned)
    };
    let mut needs = match account(name) {
        Some((namespace, name)) => vec![need("", "serviceaccounts", "", namespace, name)],
        None => vec![need("", "users", "", "", name)],
    };
    needs.extend(groups.iter().map(|group| need("", "groups", "", "", group)));
    for (key, values) in extra {
        needs.extend(values.iter().map(|value| need("authentication.k8s.io", "userextras", key, "", value)));
    }
    if !uid.is_empty() {
        needs.push(need("authentication.k8s.io", "uids", "", "", uid));
    }
    needs
}

fn whole(name: String, uid: String, mut groups: Vec<String>, extra: BTreeMap<String, Vec<String>>) -> User {
    if let (Some((namespace, _)), true) = (account(&name), groups.is_empty()) {
        groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
    }
    let every = if name == "system:anonymous" { "system:unauthenticated" } else { "system:authenticated" };
    let said = ["system:authenticated", "system:unauthenticated"];
    if !groups.iter().any(|group| said.contains(&group.as_str())) {
        groups.push(every.to_owned());
    }
    User { name, uid, groups, extra }
}

/// Namespace and name of the service account that a user name stands for.
fn account(user: &str) -> Option<(&str, &str)> {
    user.strip_prefix("system:serviceaccount:")?.split_once(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn headers_name_a_user() {
        let table: &[(&[(&str, &str)], User)] = &[
            (
                &[
                    ("impersonate-user", "bob"),
                    ("impersonate-group", "g1"),
                    ("impersonate-uid", "u1"),
                    ("impersonate-extra-foo%2fbar", "v1"),
                ],
                User {
                    name: "bob".to_owned(),
                    uid: "u1".to_owned(),
                    groups: vec!["g1".to_owned(), "system:authenticated".to_owned()],
                    extra: BTreeMap::from([("foo/bar".to_owned(), vec!["v1".to_owned()])]),
                },
            ),
            (
                &[("impersonate-user", "system:serviceaccount:x:y")],
                User {
                    name: "system:serviceaccount:x:y".to_owned(),
                    groups: ["system:serviceaccounts", "system:serviceaccounts:x", "system:authenticated"]
                        .map(str::to_owned)
                        .to_vec(),
                    ..User::default()
                },
            ),
            (
                &[("impersonate-user", "system:anonymous")],
                User {
                    name: "system:anonymous".to_owned(),
                    groups: vec!["system:unauthenticated".to_owned()],
                    ..User::default()
                },
            ),
        ];
        for (given, want) in table {
            let found = impersonated(&headers(given)).unwrap().unwrap();
            assert_eq!(&found.user, want);
        }
        assert_eq!(impersonated(&headers(&[("accept", "*/*")])), Ok(None));
    }

    #[test]
    fn somebody_must_be_named() {
        let status = impersonated(&headers(&[("impersonate-group", "bobs")])).unwrap_err();
        assert_eq!(
            (status.code, status.message.as_str()),
            (
                400,
                "requested &user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"bobs\"}, \
                 Extra:map[string][]string(nil)} without impersonating a user name"
            )
        );
    }

    #[test]
    fn every_part_of_somebody_must_be_allowed() {
        let given = [
            ("impersonate-user", "system:serviceaccount:x:y"),
            ("impersonate-group", "g"),
            ("impersonate-uid", "u"),
        ];
        let found = impersonated(&headers(&given)).unwrap().unwrap();
        let want = [
            ["", "serviceaccounts", "", "x", "y"],
            ["", "groups", "", "", "g"],
            ["authentication.k8s.io", "uids", "", "", "u"],
        ];
        assert_eq!(found.needs, want.map(|need| need.map(str::to_owned)));
    }
}
