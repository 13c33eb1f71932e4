//! An expression that was read, and what it gives.

use kube_cel::KubeCelExt as _;
use kube_cel::cel::{Context, ExecutionError, Program, Value};

use super::Rule;

/// The expressions of a rule.
#[derive(Debug)]
pub(super) struct Read {
    /// The rule itself, or why it cannot be read.
    pub(super) rule: Result<Program, String>,
    /// Its message, where one is made.
    pub(super) message: Option<Program>,
    /// Whether the rule looks at what was there before.
    pub(super) looks_back: bool,
}

impl Read {
    /// Reads the expressions of a rule.
    pub(super) fn of(rule: &Rule) -> Self {
        let program = program(&rule.holds);
        let looks_back = program.as_ref().is_ok_and(|program| program.references().has_variable("oldSelf"));
        let message = Some(rule.message_expression.as_str()).filter(|text| !text.is_empty());
        Self { rule: program, message: message.and_then(|text| program_of(text).ok()), looks_back }
    }
}

/// Why a text is no expression; absent if it is one.
pub(super) fn wrong(text: &str) -> Option<String> {
    program(text).err()
}

/// What an expression gives of `self` and `oldSelf`.
///
/// # Errors
/// In the words of Kubernetes, where they are the same.
pub(super) fn evaluate(program: &Program, own: &Value, old: Option<&Value>) -> Result<Value, String> {
    let mut context = Context::default().with_all();
    context.add_variable_from_value("self", own.clone());
    if let Some(old) = old {
        context.add_variable_from_value("oldSelf", old.clone());
    }
    program.execute(&context).map_err(|error| match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        other => other.to_string(),
    })
}

fn program(text: &str) -> Result<Program, String> {
    program_of(text.trim())
}

fn program_of(text: &str) -> Result<Program, String> {
    Program::compile(text).map_err(|error| error.to_string())
}
