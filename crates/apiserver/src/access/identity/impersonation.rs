//! Impersonation: the `Impersonate-` headers.

use std::collections::BTreeMap;

use http::HeaderMap;

use crate::call::User;
use crate::http::query::decode;
use crate::http::status::Status;

/// The impersonated user, and the permissions that the caller needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Impersonation {
    /// The impersonated user.
    pub(crate) user: User,
    /// The required permissions, each as (group, resource, subresource, namespace, name).
    pub(crate) permissions: Vec<[String; 5]>,
}

/// Parses the headers; absent if the request does not impersonate anybody.
pub(crate) fn requested_impersonation(headers: &HeaderMap) -> Result<Option<Impersonation>, Status> {
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
            Err(missing_user_error(&uid, &groups, &extra))
        };
    }
    let permissions = permissions(&name, &uid, &groups, &extra);
    Ok(Some(Impersonation { user: build_user(name, uid, groups, extra), permissions }))
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

fn missing_user_error(uid: &str, groups: &[String], extra: &BTreeMap<String, Vec<String>>) -> Status {
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

fn permissions(
    name: &str,
    uid: &str,
    groups: &[String],
    extra: &BTreeMap<String, Vec<String>>,
) -> Vec<[String; 5]> {
    let permission = |group: &str, resource: &str, subresource: &str, namespace: &str, name: &str| {
        [group, resource, subresource, namespace, name].map(str::to_owned)
    };
    let mut permissions = match service_account(name) {
        Some((namespace, name)) => vec![permission("", "serviceaccounts", "", namespace, name)],
        None => vec![permission("", "users", "", "", name)],
    };
    permissions.extend(groups.iter().map(|group| permission("", "groups", "", "", group)));
    for (key, values) in extra {
        permissions.extend(
            values.iter().map(|value| permission("authentication.k8s.io", "userextras", key, "", value)),
        );
    }
    if !uid.is_empty() {
        permissions.push(permission("authentication.k8s.io", "uids", "", "", uid));
    }
    permissions
}

fn build_user(
    name: String,
    uid: String,
    mut groups: Vec<String>,
    extra: BTreeMap<String, Vec<String>>,
) -> User {
    if let (Some((namespace, _)), true) = (service_account(&name), groups.is_empty()) {
        groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
    }
    let default_group =
        if name == "system:anonymous" { "system:unauthenticated" } else { "system:authenticated" };
    let authentication_groups = ["system:authenticated", "system:unauthenticated"];
    if !groups.iter().any(|group| authentication_groups.contains(&group.as_str())) {
        groups.push(default_group.to_owned());
    }
    User { name, uid, groups, extra }
}

/// The namespace and name of the service account with this user name.
fn service_account(user: &str) -> Option<(&str, &str)> {
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
            let impersonation = requested_impersonation(&headers(given)).unwrap().unwrap();
            assert_eq!(&impersonation.user, want);
        }
        assert_eq!(requested_impersonation(&headers(&[("accept", "*/*")])), Ok(None));
    }

    #[test]
    fn groups_without_a_user_are_refused() {
        let status = requested_impersonation(&headers(&[("impersonate-group", "bobs")])).unwrap_err();
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
    fn each_attribute_needs_a_permission() {
        let given = [
            ("impersonate-user", "system:serviceaccount:x:y"),
            ("impersonate-group", "g"),
            ("impersonate-uid", "u"),
        ];
        let impersonation = requested_impersonation(&headers(&given)).unwrap().unwrap();
        let want = [
            ["", "serviceaccounts", "", "x", "y"],
            ["", "groups", "", "", "g"],
            ["authentication.k8s.io", "uids", "", "", "u"],
        ];
        assert_eq!(impersonation.permissions, want.map(|permission| permission.map(str::to_owned)));
    }
}
