//! Puts a token into a kubeconfig: into the user of the current context.
//!
//! Everything else in the kubeconfig is kept, including unknown fields. No error contains its text.

use formats::yaml;
use serde_json::{Map, Value, json};

/// Why a token cannot be put into a kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum KubeconfigError {
    /// It is not UTF-8.
    #[error("failed to read kubeconfig: it is not UTF-8")]
    Encoding,
    /// It is not valid YAML.
    #[error("failed to read kubeconfig: line {line}, column {column} is not valid YAML")]
    Yaml {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// It is not a kubeconfig of version v1.
    #[error("failed to read kubeconfig: it is not a v1 Config")]
    Kind,
    /// A field has the wrong type.
    #[error("failed to read kubeconfig: {0} has a value of the wrong type")]
    Field(&'static str),
    /// The current context names no existing user.
    #[error("kubeconfig has no user for its current context")]
    NoUser,
}

/// A kubeconfig with a user for its current context.
pub(super) struct Kubeconfig {
    whole: Map<String, Value>,
    /// Index of that user.
    user: usize,
}

impl Kubeconfig {
    /// Reads YAML 1.1 or JSON as client-go does: of several documents the first, of equal keys the last.
    ///
    /// # Errors
    /// When it is not a kubeconfig, or has no user for its current context.
    pub(super) fn read(text: &[u8]) -> Result<Self, KubeconfigError> {
        std::str::from_utf8(text).map_err(|_| KubeconfigError::Encoding)?;
        let whole = match yaml::first_document(text) {
            Ok(Value::Object(whole)) => whole,
            Ok(Value::Null) => Map::new(),
            Ok(_) => return Err(KubeconfigError::Kind),
            Err(error) => {
                return Err(KubeconfigError::Yaml { line: error.mark.line, column: error.mark.column });
            }
        };
        if !["v1", ""].contains(&text_of(&whole, "apiVersion")?)
            || !["Config", ""].contains(&text_of(&whole, "kind")?)
        {
            return Err(KubeconfigError::Kind);
        }
        let user = user(&whole)?;
        Ok(Self { whole, user })
    }

    /// Whether the user has a token.
    pub(super) fn has_token(&self) -> bool {
        let token = self.whole["users"][self.user].pointer("/user/token");
        token.and_then(Value::as_str).is_some_and(|token| !token.is_empty())
    }

    /// The kubeconfig with the user's new token, as YAML with sorted keys.
    pub(super) fn with_token(mut self, token: &str) -> String {
        let named = &mut self.whole["users"][self.user];
        if !named["user"].is_object() {
            named["user"] = json!({});
        }
        named["user"]["token"] = token.into();
        for (field, empty) in always() {
            let stands = self.whole.get(field).is_some_and(|value| !value.is_null());
            if !stands {
                self.whole.insert(field.to_owned(), empty);
            }
        }
        yaml::to_string(&self.whole).expect("a map with texts as keys is YAML")
    }
}

/// Fields that are always written, and their values if missing; the users exist.
fn always() -> [(&'static str, Value); 6] {
    [
        ("apiVersion", json!("v1")),
        ("clusters", json!([])),
        ("contexts", json!([])),
        ("current-context", json!("")),
        ("kind", json!("Config")),
        ("preferences", json!({})),
    ]
}

/// Index of the user of the current context; of several entries with one name, the first counts.
fn user(whole: &Map<String, Value>) -> Result<usize, KubeconfigError> {
    let current = text_of(whole, "current-context")?;
    let mut wanted = "";
    for context in list_of(whole, "contexts")? {
        if named(context, "contexts")? == current {
            let context = context.get("context").and_then(Value::as_object);
            wanted = context.map_or(Ok(""), |context| text_of(context, "user"))?;
            break;
        }
    }
    let mut found = None;
    for (at, user) in list_of(whole, "users")?.iter().enumerate() {
        let is_wanted = named(user, "users")? == wanted;
        if let Some(fields) = user.get("user").filter(|fields| !fields.is_null()) {
            text_of(fields.as_object().ok_or(KubeconfigError::Field("users"))?, "token")?;
        }
        found = found.or(is_wanted.then_some(at));
    }
    found.ok_or(KubeconfigError::NoUser)
}

fn text_of<'a>(map: &'a Map<String, Value>, field: &'static str) -> Result<&'a str, KubeconfigError> {
    match map.get(field) {
        None | Some(Value::Null) => Ok(""),
        Some(value) => value.as_str().ok_or(KubeconfigError::Field(field)),
    }
}

fn list_of<'a>(map: &'a Map<String, Value>, field: &'static str) -> Result<&'a [Value], KubeconfigError> {
    match map.get(field) {
        None | Some(Value::Null) => Ok(&[]),
        Some(value) => value.as_array().map(Vec::as_slice).ok_or(KubeconfigError::Field(field)),
    }
}

fn named<'a>(element: &'a Value, list: &'static str) -> Result<&'a str, KubeconfigError> {
    let fields = element.as_object().ok_or(KubeconfigError::Field(list))?;
    text_of(fields, "name")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const CONFIG: &str = "
apiVersion: v1
kind: Config
current-context: shoot
contexts:
- {name: other, context: {cluster: c, user: bob}}
- {name: shoot, context: {cluster: c, user: alice}}
clusters:
- {name: c, cluster: {server: 'https://example.com', example-field: kept}}
users:
- {name: bob, user: {token: b}}
- {name: alice, user: {client-key: kept}}
";

    #[test]
    fn the_user_of_the_current_context_gets_the_token_and_the_rest_stays() {
        let read = Kubeconfig::read(CONFIG.as_bytes()).unwrap();
        assert!(!read.has_token());
        let written = read.with_token("t");
        assert!(written.starts_with("apiVersion: v1\nclusters:\n"), "{written}");
        let want = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "shoot", "preferences": {},
            "contexts": [
                {"name": "other", "context": {"cluster": "c", "user": "bob"}},
                {"name": "shoot", "context": {"cluster": "c", "user": "alice"}},
            ],
            "clusters": [{"name": "c", "cluster": {"server": "https://example.com", "example-field": "kept"}}],
            "users": [
                {"name": "bob", "user": {"token": "b"}},
                {"name": "alice", "user": {"client-key": "kept", "token": "t"}},
            ],
        });
        assert_eq!(yaml::documents(&written), Ok(vec![want]));
        assert!(Kubeconfig::read(written.as_bytes()).unwrap().has_token());
    }

    #[rstest]
    #[case::empty_token(r#"{"current-context": "a", "contexts": [{"name": "a", "context": {"user": "u"}}], "users": [{"name": "u", "user": {"token": ""}}]}"#, false)]
    #[case::no_fields(
        "{current-context: a, contexts: [{name: a, context: {user: u}}], users: [{name: u}]}",
        false
    )]
    #[case::the_first_of_a_name_counts(
        "{current-context: a, contexts: [{name: a, context: {user: u}}, {name: a, context: {user: v}}], users: [{name: u, user: {token: t}}, {name: u}, {name: v}]}",
        true
    )]
    fn a_token_is_there_if_the_user_has_one(#[case] text: &str, #[case] has: bool) {
        assert_eq!(Kubeconfig::read(text.as_bytes()).map(|read| read.has_token()), Ok(has));
    }

    #[rstest]
    #[case::no_text(b"\xff", KubeconfigError::Encoding)]
    #[case::no_yaml(b"a: [", KubeconfigError::Yaml { line: 2, column: 1 })]
    #[case::a_text(b"some-text", KubeconfigError::Kind)]
    #[case::a_list(b"[a]", KubeconfigError::Kind)]
    #[case::another_kind(b"kind: Pod", KubeconfigError::Kind)]
    #[case::another_version(b"apiVersion: v2", KubeconfigError::Kind)]
    #[case::users_are_a_map(b"users: {a: b}", KubeconfigError::Field("users"))]
    #[case::a_user_is_a_text(b"users: [{name: a, user: secret}]", KubeconfigError::Field("users"))]
    #[case::a_token_is_a_number(b"users: [{name: a, user: {token: 1}}]", KubeconfigError::Field("token"))]
    #[case::nothing(b"", KubeconfigError::NoUser)]
    #[case::no_current_context(b"users: [{name: a, user: {}}]", KubeconfigError::NoUser)]
    #[case::the_user_is_not_there(
        b"{current-context: a, contexts: [{name: a, context: {user: u}}]}",
        KubeconfigError::NoUser
    )]
    fn a_kubeconfig_without_current_user_is_refused(#[case] text: &[u8], #[case] want: KubeconfigError) {
        assert_eq!(Kubeconfig::read(text).map(|_| ()), Err(want));
    }
}
