//! Compiles and evaluates CEL expressions.

use kube_cel::KubeCelExt as _;
use kube_cel::cel::{Context, ExecutionError, Program, Value};

use super::ValidationRule;

/// The compiled expressions of a rule.
#[derive(Debug)]
pub(super) struct CompiledRule {
    /// The rule, or the error of compiling it.
    pub(super) program: Result<Program, String>,
    /// The message expression, if there is one.
    pub(super) message: Option<Program>,
    /// Whether the rule uses `oldSelf`.
    pub(super) uses_old_self: bool,
}

impl CompiledRule {
    /// Compiles the expressions of a rule.
    pub(super) fn of(rule: &ValidationRule) -> Self {
        let program = compile(&rule.expression);
        let uses_old_self =
            program.as_ref().is_ok_and(|program| program.references().has_variable("oldSelf"));
        let message = Some(rule.message_expression.as_str()).filter(|text| !text.is_empty());
        Self { program, message: message.and_then(|text| compile_text(text).ok()), uses_old_self }
    }
}

/// The error if an expression cannot be compiled.
pub(super) fn compile_error(text: &str) -> Option<String> {
    compile(text).err()
}

/// Evaluates an expression with `self` and `oldSelf`.
///
/// # Errors
/// The error of the evaluation, with kube-apiserver's message where that is the same.
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

fn compile(text: &str) -> Result<Program, String> {
    compile_text(text.trim())
}

fn compile_text(text: &str) -> Result<Program, String> {
    Program::compile(text).map_err(|error| error.to_string())
}
