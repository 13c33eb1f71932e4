//! Label and field selectors of a request.

use formats::selector::{FieldSelector, FieldTerm, LabelSelector};
use serde_json::Value;

use crate::call::Call;
use crate::convert;
use crate::http::query::Query;
use crate::http::status::Status;
use crate::object::meta;
use crate::registry::{ServedKinds, ServedResource};
use crate::store::Object;

/// The selectors of a request.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
}

/// The name that the field selector requires, if it is a valid object name; absent if a query parameter cannot be
/// parsed.
pub(crate) fn selected_name(query: &Query) -> Option<String> {
    let fields: FieldSelector = query.text("fieldSelector").parse().ok()?;
    query.text("labelSelector").parse::<LabelSelector>().ok()?;
    for number in ["limit", "timeoutSeconds"] {
        query.integer(number).ok()?;
    }
    let name = fields.terms.iter().find(|term| is_name_term(term))?.value.clone();
    let is_name = !matches!(name.as_str(), "" | "." | "..") && !name.contains(['/', '%']);
    is_name.then_some(name)
}

impl Selection {
    /// Parses `labelSelector` and `fieldSelector`; [`Self::check`] checks whether the kind supports the fields.
    pub(crate) fn read(call: &Call) -> Result<Self, Status> {
        let labels = call.query.text("labelSelector").parse();
        let labels: LabelSelector = labels.map_err(|error| Status::bad_request(format!("{error}")))?;
        let fields: FieldSelector = call
            .query
            .text("fieldSelector")
            .parse()
            .map_err(|error| Status::bad_request(format!("{error}")))?;
        Ok(Self { labels, fields })
    }

    /// Refuses field selectors that the kind does not support.
    pub(crate) fn check(&self, target: &ServedResource, served: &ServedKinds) -> Result<(), Status> {
        check_fields(&self.fields, target, served)
    }

    /// Whether there are no selectors.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.terms.is_empty()
    }

    /// The name that the field selector requires.
    pub(crate) fn name(&self) -> Option<&str> {
        self.fields.terms.iter().find(|term| is_name_term(term)).map(|term| term.value.as_str())
    }

    /// Whether an object, in its storage version, is selected.
    pub(crate) fn selects(&self, object: &Object, target: &ServedResource) -> bool {
        self.is_everything() || self.selects_tree(&object.tree(), target)
    }

    fn selects_tree(&self, object: &Value, target: &ServedResource) -> bool {
        if !self.labels.is_empty() && !self.labels.matches_by(|key| meta::label(object, key)) {
            return false;
        }
        if self.fields.terms.is_empty() {
            return true;
        }
        let converted = convert::to_version(object, &target.resource);
        self.fields.terms.iter().all(|term| (value(&converted, &term.field) == term.value) == term.equal)
    }
}

fn is_name_term(term: &FieldTerm) -> bool {
    term.equal && term.field == "metadata.name"
}

fn check_fields(fields: &FieldSelector, target: &ServedResource, served: &ServedKinds) -> Result<(), Status> {
    if fields.terms.is_empty() {
        return Ok(());
    }
    let known = served.kinds.selectable_fields(&target.resource);
    let unknown = fields.terms.iter().find(|term| !known.contains(&term.field));
    let Some(term) = unknown else { return Ok(()) };
    if target.table == "jobs.batch" {
        return Err(Status::bad_request(format!("field label {:?} not supported for Job", term.field)));
    }
    let metadata_fields = ["metadata.name", "metadata.namespace"];
    if target.custom || known.iter().any(|field| !metadata_fields.contains(&field.as_str())) {
        return Err(Status::bad_request(format!("field label not supported: {}", term.field)));
    }
    Err(Status::bad_request(format!(
        "{:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        term.field
    )))
}

/// The text of a field that selectors compare; an absent field has its type's zero value.
fn value(object: &Value, field: &str) -> String {
    let found = field.split('.').try_fold(object, |at, name| at.get(name));
    match found {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(value)) => value.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        _ => zero_value(field).to_owned(),
    }
}

fn zero_value(field: &str) -> &'static str {
    match field {
        "spec.unschedulable" | "spec.hostNetwork" => "false",
        "status.replicas" | "status.successful" => "0",
        _ => "",
    }
}
