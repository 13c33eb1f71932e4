//! Cases that no API server would send: direct requests, versions of the AdmissionReview, registrations, configurations.

use contract::case::{About, Case, Review, Sending, When};
use contract::expect::Expect;
use serde_json::json;

use crate::{contract, load_clean, load_one};

/// A contract of the form configuration with these clauses.
fn configuration(clauses: &str) -> String {
    let text = contract("config: {lease: garden}", clauses);
    text.replace("form: mutation", "form: configuration")
        .replace("  target: {webhook: sample, handles: [v1 pods]}\n", "")
}

fn cases(text: &str) -> Vec<Case> {
    let contracts = load_clean(text).catalog.contracts.into_iter();
    contracts.flat_map(|contract| contract.clauses).flat_map(|clause| clause.cases).collect()
}

/// The errors of loading: `code line:column`.
fn refused(text: &str) -> Vec<String> {
    let errors = load_one(text).errors.into_iter();
    errors.map(|error| format!("{} {}:{}", error.code, error.location.line, error.location.column)).collect()
}

#[test]
fn a_request_goes_directly_to_the_webhook_in_a_version_of_the_review() {
    let clauses = "- id: S-001\n  text: a sentence\n  table: |\n    | review  | answered |\n    | v1      | v1       |\n    \
                   | v1beta1 | v1beta1  |\n  given: {object: {like: pod}}\n  \
                   when: {admission: CREATE, review: <review>}\n  then: {review: <answered>}\n\
                   - id: S-002\n  text: a sentence\n  given: {object: {like: pod}}\n  \
                   when: {admission: CREATE, direct: true}\n  then: {object: $unchanged}\n";
    let cases = cases(&contract("", clauses));
    let sent = |sending: Sending| When::Admission { operation: "CREATE".to_owned(), sending };
    let reviewed = |review| sent(Sending { review: Some(review), ..Sending::default() });
    assert_eq!(cases[0].when, reviewed(Review::V1));
    assert_eq!((&cases[1].when, cases[1].then.review), (&reviewed(Review::V1beta1), Some(Review::V1beta1)));
    let direct = Sending { direct: true, ..Sending::default() };
    assert!(direct.is_direct() && !Sending::default().is_direct());
    assert_eq!(cases[2].when, sent(direct));
}

#[test]
fn a_registration_is_read_for_each_instance_with_the_types_of_a_webhook_configuration() {
    let clause = |then: &str| {
        let clauses = format!(
            "- id: S-001\n  text: a sentence\n  when: {{registration: [seed, shoot]}}\n  then: {{registration: {then}}}\n"
        );
        contract("", &clauses)
    };
    let cases = cases(&clause("{webhooks: [{name: a, timeoutSeconds: 10}]}"));
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["seed", "shoot"]);
    assert_eq!(cases[1].when, When::Registration { instance: "shoot".to_owned() });
    assert_eq!(cases[0].then.about, About::Registration);
    let Some(Expect::Map(fields)) = &cases[0].then.object else { panic!("{:?}", cases[0].then) };
    // The schema declares the name as the key of webhooks.
    assert!(matches!(&fields["webhooks"], Expect::Keyed { keys, .. } if keys == &["name"]));
    assert_eq!(refused(&clause("{webhooks: [{name: a, timeoutSecond: 10}]}")), ["unknown-field 14:48"]);
}

#[test]
fn a_configuration_starts_is_refused_or_takes_defaults() {
    let clauses = "- id: S-001\n  text: a sentence\n  table: |\n    | burst | starts | causes                                  |\n    \
                   | 1     | true   | any                                     |\n    \
                   | -1    | false  | [{field: burst, message: \"negative\"}] |\n  \
                   config: {burst: <burst>}\n  then: {starts: <starts>, causes: <causes>}\n\
                   - id: S-002\n  text: a sentence\n  then: {effective: {burst: 130}}\n";
    let cases = cases(&configuration(clauses));
    assert_eq!(cases[1].config, json!({"lease": "garden", "burst": -1}));
    let then = &cases[1].then;
    assert_eq!(
        (&cases[1].when, then.about, then.allowed),
        (&When::Configuration, About::Configuration, Some(false))
    );
    assert!(then.causes.is_some() && !then.is_invalid());
    assert!(cases[2].then.object.is_some());
}

#[test]
fn keys_that_are_not_allowed_are_reported() {
    let clause = |lines: &str| format!("- id: S-001\n  text: a sentence\n{lines}");
    let table = [
        (
            contract("", &clause("  when: {registration: sed}\n  then: {registration: {kind: a}}\n")),
            "instance 13:26",
        ),
        (
            contract(
                "",
                &clause("  when: {registration: seed, direct: true}\n  then: {registration: {kind: a}}\n"),
            ),
            "request 13:40",
        ),
        (
            contract("", &clause("  when: {registration: seed}\n  then: {allowed: true}\n")),
            "unknown-key 14:12",
        ),
        (
            contract(
                "",
                &clause(
                    "  given: {object: {like: pod}}\n  when: {admission: CREATE, review: v2}\n  then: {allowed: true}\n",
                ),
            ),
            "review 14:39",
        ),
        (
            contract(
                "",
                &clause(
                    "  given: {object: {like: pod}}\n  when: {admission: CREATE, direct: maybe}\n  then: {allowed: true}\n",
                ),
            ),
            "type 14:39",
        ),
        (configuration(&clause("  when: {admission: CREATE}\n  then: {starts: true}\n")), "form 13:11"),
        (configuration(&clause("  given: {object: {like: pod}}\n  then: {starts: true}\n")), "form 13:12"),
        (configuration(&clause("  then: {allowed: true}\n")), "unknown-key 13:12"),
        (configuration(&clause("  then: {starts: true, causes: [{field: a}]}\n")), "causes 13:12"),
    ];
    for (text, want) in table {
        assert_eq!(refused(&text).first().map(String::as_str), Some(want), "{text}");
    }
}
