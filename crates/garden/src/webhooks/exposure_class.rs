//! Validation of a created or updated ExposureClass.

use api::garden::ExposureClass;
use api::garden::exposure_class::ExposureClassScheduling;
use api::garden::reference::SeedSelector;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{self, FieldErrors, each_invalid, immutable};
use super::go_value::GoValue;
use super::{label_selector, names, reading, references, tolerations};

const KIND: &str = "ExposureClass";
/// A handler is part of the names of namespaces.
const LONGEST_HANDLER: usize = 34;

/// Validates an ExposureClass; an update may change nothing but metadata, and nothing else is checked.
///
/// # Errors
/// 422 with all errors; 400 when it is not an ExposureClass.
pub fn validate(old: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let class: ExposureClass = reading::read(KIND, new)?;
    let errors = match old {
        None => new_class(&class),
        Some(old) => unchanged(&class, &reading::read(KIND, old)?),
    };
    field_errors::invalid(KIND, &class.metadata.name.unwrap_or_default(), &errors)
}

/// GDN-EXC-001 to -003. As in the original, messages about the handler show the name of the class.
fn new_class(class: &ExposureClass) -> FieldErrors {
    let name = class.metadata.name.as_deref().unwrap_or_default();
    let at = Path::new("handler");
    let mut errors = each_invalid(&at, name, &names::dns_label(&class.handler));
    if class.handler.len() > LONGEST_HANDLER {
        let text = format!("exposure class handler is restricted to {LONGEST_HANDLER} characters");
        errors.push(Error::invalid(&at, name, &text));
    }
    let Some(scheduling) = &class.scheduling else { return errors };
    let at = Path::new("scheduling");
    if let Some(selector) = &scheduling.seed_selector {
        let at = at.child("seedSelector");
        errors.extend(label_selector::validate(&selector.match_labels, &selector.match_expressions, &at));
    }
    errors.extend(tolerations::validate(&scheduling.tolerations, &at.child("tolerations")));
    errors
}

/// GDN-EXC-004. As in the original, messages show the old value.
fn unchanged(new: &ExposureClass, old: &ExposureClass) -> FieldErrors {
    let handler = |class: &ExposureClass| GoValue::text(&class.handler);
    let mut errors = FieldErrors::new();
    errors.extend(immutable(&Path::new("handler"), &handler(old), &handler(new)));
    let (new, old) = (scheduling(new.scheduling.as_ref()), scheduling(old.scheduling.as_ref()));
    errors.extend(immutable(&Path::new("scheduling"), &old, &new));
    errors
}

fn scheduling(scheduling: Option<&ExposureClassScheduling>) -> GoValue {
    const TYPE: &str = "core.ExposureClassScheduling";
    const SELECTOR: &str = "core.SeedSelector";
    let selector = |selector: &SeedSelector| {
        let labels = vec![
            ("MatchLabels", GoValue::Map(selector.match_labels.clone())),
            ("MatchExpressions", references::requirements(&selector.match_expressions)),
        ];
        let fields = vec![
            ("LabelSelector", GoValue::Struct("v1.LabelSelector", labels)),
            ("ProviderTypes", GoValue::texts(&selector.provider_types)),
        ];
        GoValue::Struct(SELECTOR, fields)
    };
    let fields = |scheduling: &ExposureClassScheduling| {
        let selector = scheduling.seed_selector.as_ref().map(selector);
        vec![
            ("SeedSelector", GoValue::pointer(SELECTOR, selector)),
            ("Tolerations", references::tolerations(&scheduling.tolerations)),
        ]
    };
    GoValue::pointer(TYPE, scheduling.map(|scheduling| GoValue::Struct(TYPE, fields(scheduling))))
}
