//! Checks the schemas of a definition, with kube-apiserver's messages: whether they are structural, then their defaults if they
//! are, and what is wrong in any schema.

mod defaults;
mod expressions;
mod lists;
mod open_api;
mod structural;

use serde_json::{Map, Value};
use webhook::field::{Error, ErrorKind, Shown};

use super::field_error::error;

/// The keywords of one schema, and its path.
#[derive(Clone, Copy)]
struct Node<'a> {
    path: &'a str,
    keywords: &'a Map<String, Value>,
}

/// Keywords at the root of a schema that do not concern the status, in Go's names.
const BESIDE_STATUS: [(&str, &str); 22] = [
    ("description", "Description"),
    ("type", "Type"),
    ("format", "Format"),
    ("title", "Title"),
    ("maximum", "Maximum"),
    ("exclusiveMaximum", "ExclusiveMaximum"),
    ("minimum", "Minimum"),
    ("exclusiveMinimum", "ExclusiveMinimum"),
    ("maxLength", "MaxLength"),
    ("minLength", "MinLength"),
    ("pattern", "Pattern"),
    ("maxItems", "MaxItems"),
    ("minItems", "MinItems"),
    ("uniqueItems", "UniqueItems"),
    ("multipleOf", "MultipleOf"),
    ("required", "Required"),
    ("items", "Items"),
    ("properties", "Properties"),
    ("externalDocs", "ExternalDocs"),
    ("example", "Example"),
    ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields"),
    ("x-kubernetes-validations", "XValidations"),
];

/// The errors of a schema at a path. If the kind has a status, the root may only restrict what does not concern that.
pub(super) fn check(path: &str, schema: &Value, has_status: bool) -> Vec<Error> {
    let Some(keywords) = schema.as_object() else { return Vec::new() };
    let root = Node { path, keywords };
    let mut errors: Vec<Error> =
        has_status.then(|| beside_status(root, schema)).flatten().into_iter().collect();
    if root.flag("nullable") {
        errors.push(root.error(
            "nullable",
            ErrorKind::Forbidden,
            None,
            "nullable cannot be true at the root",
        ));
    }
    let unreadable = structural::unreadable(keywords);
    let mut is_sound = unreadable.is_none();
    if is_sound {
        let found = structural::check(root);
        let found = if found.is_empty() { defaults::check(root) } else { found };
        is_sound = found.is_empty();
        errors.extend(found);
    }
    errors.extend(open_api::check(root, is_sound));
    // What makes a schema unreadable is mostly reported better by the other checks.
    if let Some(why) = unreadable.filter(|_| errors.is_empty()) {
        let value = Some(Shown::from(""));
        errors.push(error(ErrorKind::Invalid, path, value, &format!("OpenAPIV3Schema {why}")));
    }
    errors
}

/// The error about the first keyword at the root that a kind with a status must not have.
fn beside_status(root: Node<'_>, schema: &Value) -> Option<Error> {
    let is_foreign = |keyword: &str| BESIDE_STATUS.iter().all(|(known, _)| *known != keyword);
    let is_set = |keyword: &str| root.get(keyword).is_some_and(structural::is_given);
    let refused = || {
        let names = BESIDE_STATUS.map(|(_, name)| name).join(" ");
        let why = format!(
            "only [{names}] fields are allowed at the root of the schema if the status subresource is enabled"
        );
        error(ErrorKind::Invalid, root.path, Some(Shown::verbatim(schema)), &why)
    };
    if ["id", "$schema", "$ref"].into_iter().any(is_set) {
        return Some(refused());
    }
    let found = root.text("type");
    if !matches!(found, "" | "object") {
        let why = "only \"object\" is allowed as the type at the root of the schema if the status subresource is \
                   enabled";
        return Some(root.invalid("type", found, why));
    }
    root.keywords.keys().any(|keyword| is_foreign(keyword) && is_set(keyword)).then(refused)
}

impl<'a> Node<'a> {
    /// An error about a keyword.
    fn error(self, keyword: &str, kind: ErrorKind, value: Option<Shown>, why: &str) -> Error {
        error(kind, &format!("{}.{keyword}", self.path), value, why)
    }

    fn invalid(self, keyword: &str, value: &str, why: &str) -> Error {
        self.error(keyword, ErrorKind::Invalid, Some(Shown::from(value)), why)
    }

    fn required(self, keyword: &str, why: &str) -> Error {
        self.error(keyword, ErrorKind::Required, None, why)
    }

    fn forbidden(self, keyword: &str, why: &str) -> Error {
        self.error(keyword, ErrorKind::Forbidden, None, why)
    }

    /// The value of a keyword; null is as good as none.
    fn get(self, keyword: &str) -> Option<&'a Value> {
        self.keywords.get(keyword).filter(|value| !value.is_null())
    }

    fn flag(self, keyword: &str) -> bool {
        self.keywords.get(keyword) == Some(&Value::Bool(true))
    }

    fn text(self, keyword: &str) -> &'a str {
        self.keywords.get(keyword).and_then(Value::as_str).unwrap_or_default()
    }

    /// The keywords of a schema below.
    fn below(self, keyword: &str) -> Option<&'a Map<String, Value>> {
        self.keywords.get(keyword).and_then(Value::as_object)
    }

    /// The entries of a map of schemas.
    fn entries(self, keyword: &str) -> impl Iterator<Item = (&'a String, &'a Map<String, Value>)> {
        let all = self.below(keyword).into_iter().flatten();
        all.filter_map(|(name, schema)| Some((name, schema.as_object()?)))
    }

    /// The elements of a list of schemas.
    fn elements(self, keyword: &str) -> impl Iterator<Item = &'a Map<String, Value>> {
        self.keywords
            .get(keyword)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
    }

    /// The path of a schema below.
    fn at(self, steps: &str) -> String {
        format!("{}.{steps}", self.path)
    }
}
