//! CEL expressions over `self`, with Kubernetes' functions; only with the feature `cel`.

use serde_json::Value;

/// Whether an expression is true for a value (null if absent). An expression that cannot be evaluated is not true.
#[cfg(feature = "cel")]
pub(crate) fn holds(expression: &str, value: Option<&Value>) -> bool {
    use kube_cel::KubeCelExt as _;
    use kube_cel::cel::{Context, Program, Value as Result};

    let Ok(program) = Program::compile(expression) else { return false };
    let mut context = Context::default().with_all();
    if context.add_variable("self", value.unwrap_or(&Value::Null)).is_err() {
        return false;
    }
    matches!(program.execute(&context), Ok(Result::Bool(true)))
}

/// Without the feature nothing is evaluated; the loader refuses such a contract.
#[cfg(not(feature = "cel"))]
pub(crate) fn holds(_: &str, _: Option<&Value>) -> bool {
    false
}

/// Why an expression cannot be evaluated, and the remedy.
#[cfg(feature = "cel")]
pub(crate) fn wrong(expression: &str) -> Option<(String, &'static str)> {
    let error = kube_cel::cel::Program::compile(expression).err()?.to_string();
    let line = error.lines().next().unwrap_or_default().trim_start_matches("ERROR: ").to_owned();
    Some((format!("invalid CEL expression: {line}"), ""))
}

/// Why an expression cannot be evaluated, and the remedy.
#[cfg(not(feature = "cel"))]
#[expect(clippy::unnecessary_wraps, reason = "with the feature some expressions can be evaluated")]
pub(crate) fn wrong(_: &str) -> Option<(String, &'static str)> {
    let message = "this build does not support $cel".to_owned();
    Some((
        message,
        "build with the feature: `cargo build -p cli --features cel`; or use another operator, or rows of a table",
    ))
}

#[cfg(all(test, feature = "cel"))]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_expression_is_true_of_a_value_or_it_is_not() {
        let table = [
            ("self > 3", json!(4), true),
            ("self > 3", json!(3), false),
            ("self.all(one, one.size() == 2)", json!(["ab", "cd"]), true),
            ("self.a == 'x'", json!({"b": "x"}), false),
            ("quantity(self).isLessThan(quantity('2Gi'))", json!("1Gi"), true),
            ("self", json!(1), false),
            ("self >", json!(1), false),
        ];
        for (expression, value, want) in table {
            assert_eq!(holds(expression, Some(&value)), want, "{expression} of {value}");
        }
        assert!(holds("self == null", None));
        assert!(wrong("self > 1").is_none());
        assert!(wrong("self >").is_some_and(|(message, _)| message.contains("mismatched input")));
    }
}
