//! The options of a write about field management: the manager's name, and `force`.

use webhook::field::{Error, Path};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::fields::Directive;

/// Longest name of a manager, in bytes.
const MAX_NAME_LENGTH: usize = 128;

/// The manager that applies a configuration, and whether it takes fields from other managers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApplyOptions {
    /// `fieldManager`.
    pub(crate) manager: String,
    /// `force`: take fields from their owners.
    pub(crate) force: bool,
}

impl ApplyOptions {
    /// The options of a request.
    pub(crate) fn of(call: &Call) -> Self {
        Self {
            manager: call.query.text("fieldManager").to_owned(),
            force: call.query.optional_flag("force").unwrap_or(false),
        }
    }
}

/// The field manager: `fieldManager` of the request, or else the client's name in its user agent.
pub(crate) fn manager(call: &Call) -> String {
    let requested = call.query.text("fieldManager");
    if !requested.is_empty() {
        return requested.to_owned();
    }
    let name = call.user_agent.split('/').next().unwrap_or_default();
    let mut manager = String::new();
    for letter in name.chars().filter(|letter| !letter.is_control()) {
        if manager.len() + letter.len_utf8() > MAX_NAME_LENGTH {
            break;
        }
        manager.push(letter);
    }
    manager
}

/// Rejects invalid options of a write. `kind` is the kind of the options; `applies` says whether it is an apply
/// patch.
pub(crate) fn check(call: &Call, kind: &str, applies: Option<bool>) -> Result<(), Status> {
    let manager = call.query.text("fieldManager");
    let at = Path::new("fieldManager");
    let mut errors = Vec::new();
    if applies == Some(true) && manager.is_empty() {
        errors.push(Error::required(&at, "is required for apply patch"));
    }
    if applies == Some(false) && call.query.optional_flag("force").is_some() {
        errors.push(Error::forbidden(&Path::new("force"), "may not be specified for non-apply patch"));
    }
    if manager.len() > MAX_NAME_LENGTH {
        let detail = format!("may not be more than {MAX_NAME_LENGTH} bytes");
        errors.push(Error { detail, ..Error::too_long(&at, MAX_NAME_LENGTH) });
    }
    for (position, letter) in manager.char_indices().filter(|(_, letter)| letter.is_control()) {
        let why = format!("invalid character U+{:04X} (at position {position})", u32::from(letter));
        errors.push(Error::invalid(&at, manager, &why));
    }
    errors.extend(call.query.dry_run_error());
    errors.extend(Directive::errors(call));
    if errors.is_empty() { Ok(()) } else { Err(Status::invalid("meta.k8s.io", kind, "", &errors)) }
}
