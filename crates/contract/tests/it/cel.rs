//! `$cel`: evaluated with the feature `cel`, refused without it.

use crate::{contract, load_one};

fn text(operator: &str) -> String {
    let clause = "- id: S-001\n  text: a sentence\n  given: {object: {like: pod}}\n  when: {admission: CREATE}\n  then: {object: {spec: {priority: ";
    contract("", &format!("{clause}{operator}}}}}}}\n"))
}

#[cfg(not(feature = "cel"))]
#[test]
fn without_the_feature_the_error_names_it() {
    let errors = load_one(&text("{$cel: \"self > 1\", notFor: 1}")).errors;
    let remedy = errors[0].remedy.as_deref().unwrap_or_default();
    assert!(errors[0].code == "cel" && remedy.contains("--features cel"), "{errors:?}");
}

#[cfg(feature = "cel")]
#[test]
fn an_expression_needs_a_value_for_which_it_is_false() {
    let table = [
        ("{$cel: \"self > 1\", notFor: 1}", None),
        ("{$cel: \"self > 1\"}", Some("not-for")),
        ("{$cel: \"self > 1\", notFor: 2}", Some("not-for")),
        ("{$cel: \"self >\", notFor: 2}", Some("cel")),
        ("{$cel: 5, notFor: 2}", Some("operator")),
    ];
    for (operator, code) in table {
        let errors = load_one(&text(operator)).errors;
        assert_eq!(errors.first().map(|error| error.code), code, "{operator}: {errors:?}");
    }
}
