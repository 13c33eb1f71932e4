//! The owners of an object's fields, and `metadata.managedFields`, which lists them.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use webhook::field::quote;

use super::set::FieldSet;

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operation {
    /// By applying a configuration; fields that the next configuration leaves out are removed.
    Apply,
    /// By any other kind of write.
    Update,
}

/// A field manager, as one entry identifies it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner {
    /// The name that the client chose.
    pub(crate) name: String,
    /// How it writes.
    pub(crate) operation: Operation,
    /// The version in which it wrote; empty for Apply, whose entries do not differ by version.
    pub(crate) api_version: String,
    /// The subresource that it wrote through; empty for the object itself.
    pub(crate) subresource: String,
}

/// The fields of one owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    /// The version of the fields.
    pub(crate) api_version: String,
    /// The fields.
    pub(crate) fields: FieldSet,
    /// When they last changed, in RFC 3339.
    pub(crate) time: Option<String>,
}

/// All entries of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owners(pub(crate) BTreeMap<Owner, Owned>);

impl Owner {
    /// An entry's key; `Apply` ignores the version.
    pub(crate) fn new(name: &str, operation: Operation, api_version: &str, subresource: &str) -> Self {
        let api_version = if operation == Operation::Apply { "" } else { api_version };
        Self {
            name: if name.is_empty() { "unknown" } else { name }.to_owned(),
            operation,
            api_version: api_version.to_owned(),
            subresource: subresource.to_owned(),
        }
    }
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

impl Owners {
    /// Parses `metadata.managedFields`; `None` and `null` mean no owners.
    ///
    /// # Errors
    /// kube-apiserver's message if an entry is invalid.
    pub(crate) fn parse(entries: Option<&Value>) -> Result<Self, String> {
        let entries = entries.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut owners = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
            let operation = match text("operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err("operation must be `Apply` or `Update`".to_owned()),
            };
            if text("apiVersion").is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match text("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
                other => {
                    return Err(format!(
                        "invalid fieldsType {} in managed fields entry {index}",
                        quote(other)
                    ));
                }
            }
            let fields = FieldSet::parse(entry.get("fieldsV1").unwrap_or(&Value::Null))
                .map_err(|why| format!("error decoding set: {why}"))?;
            let mut owner = Owner::new("", operation, text("apiVersion"), text("subresource"));
            text("manager").clone_into(&mut owner.name);
            let time = entry.get("time").and_then(Value::as_str).map(str::to_owned);
            owners.insert(owner, Owned { api_version: text("apiVersion").to_owned(), fields, time });
        }
        Ok(Self(owners))
    }

    /// As `metadata.managedFields`: Apply entries first, then by time and name.
    pub(crate) fn to_json(&self) -> Option<Value> {
        let mut entries: Vec<(&Owner, &Owned)> = self.0.iter().collect();
        entries.sort_by(|(a, of_a), (b, of_b)| {
            let key = |owner: &'_ Owner, owned: &'_ Owned| {
                (
                    owner.operation,
                    owned.time.clone().unwrap_or_default(),
                    owner.name.clone(),
                    owned.api_version.clone(),
                )
            };
            key(a, of_a).cmp(&key(b, of_b)).then_with(|| a.subresource.cmp(&b.subresource))
        });
        let entries: Vec<Value> = entries.into_iter().map(|(owner, owned)| owned.to_entry(owner)).collect();
        (!entries.is_empty()).then_some(Value::Array(entries))
    }
}

impl Owned {
    fn to_entry(&self, owner: &Owner) -> Value {
        let mut entry = json!({
            "operation": owner.operation.as_str(),
            "apiVersion": self.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.to_json(),
        });
        let time = self.time.as_deref().unwrap_or_default();
        for (field, text) in
            [("manager", owner.name.as_str()), ("time", time), ("subresource", &owner.subresource)]
        {
            if !text.is_empty() {
                entry[field] = text.into();
            }
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_survive_reading() {
        let entry = |name: &str, operation: &str, time: &str| {
            json!({
                "manager": name, "operation": operation, "apiVersion": "v1", "time": time,
                "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}},
            })
        };
        let early = "2026-01-01T00:00:00Z";
        let late = "2026-01-01T00:00:01Z";
        let entries =
            json!([entry("b", "Update", early), entry("a", "Update", late), entry("c", "Apply", late)]);
        let wanted =
            json!([entry("c", "Apply", late), entry("b", "Update", early), entry("a", "Update", late)]);
        assert_eq!(Owners::parse(Some(&entries)).unwrap().to_json(), Some(wanted));
        assert_eq!(Owners::default().to_json(), None);
    }

    #[test]
    fn invalid_entries_are_errors() {
        let table = [
            (json!([{}]), "operation must be `Apply` or `Update`"),
            (json!([{"operation": "Update"}]), "apiVersion must not be empty"),
            (
                json!([{"operation": "Update", "apiVersion": "v1"}]),
                "missing fieldsType in managed fields entry 0",
            ),
            (
                json!([{"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV2"}]),
                "invalid fieldsType \"FieldsV2\" in managed fields entry 0",
            ),
        ];
        for (entries, why) in table {
            assert_eq!(Owners::parse(Some(&entries)).unwrap_err(), why);
        }
    }
}
