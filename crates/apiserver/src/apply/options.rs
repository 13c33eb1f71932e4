//! The options of a write that tell who writes, and how.

use webhook::field::{Error, Path};

use crate::call::Call;
use crate::http::status::Status;
use crate::object::fields::Directive;

/// How long the name of a manager may be, in bytes.
const LONGEST_NAME: usize = 128;

/// Who applies a configuration, and whether against others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// `fieldManager`.
    pub(crate) manager: String,
    /// `force`: fields that others own are taken from them.
    pub(crate) force: bool,
}

impl Options {
    /// The options of a request.
    pub(crate) fn of(call: &Call) -> Self {
        Self {
            manager: call.query.text("fieldManager").to_owned(),
            force: call.query.optional_flag("force").unwrap_or(false),
        }
    }
}

/// Who writes: as the request says, else as its client calls itself.
pub(crate) fn manager(call: &Call) -> String {
    let said = call.query.text("fieldManager");
    if !said.is_empty() {
        return said.to_owned();
    }
    let name = call.user_agent.split('/').next().unwrap_or_default();
    let mut manager = String::new();
    for letter in name.chars().filter(|letter| !letter.is_control()) {
        if manager.len() + letter.len_utf8() > LONGEST_NAME {
            break;
        }
        manager.push(letter);
    }
    manager
}

/// Refuses wrong options of a write; `kind` is that of the options, `applies` says whether it is an apply patch.
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
    if manager.len() > LONGEST_NAME {
        let detail = format!("may not be more than {LONGEST_NAME} bytes");
        errors.push(Error { detail, ..Error::too_long(&at, LONGEST_NAME) });
    }
    for (position, letter) in manager.char_indices().filter(|(_, letter)| letter.is_control()) {
        let why = format!("invalid character U+{:04X} (at position {position})", u32::from(letter));
        errors.push(Error::invalid(&at, manager, &why));
    }
    errors.extend(call.query.dry_run_error());
    errors.extend(Directive::errors(call));
    if errors.is_empty() { Ok(()) } else { Err(Status::invalid("meta.k8s.io", kind, "", &errors)) }
}
