//! When data was made, how long it is valid, and when it is renewed.

use super::*;

/// The original's unit test "should maintain the lifetime labels (w/ validity)".
#[test]
fn a_changed_validity_counts_from_the_beginning() {
    let days = |days: u64| GenerateOptions {
        validity: Some(Duration::from_hours(24 * days)),
        ..GenerateOptions::default()
    };
    let table = [
        (0, days(100), Some(NOW + 100 * DAY)),
        (30 * DAY, days(100), Some(NOW + 100 * DAY)),
        (30 * DAY, days(200), Some(NOW + 200 * DAY)),
        (30 * DAY, GenerateOptions::default(), None),
        (30 * DAY, days(100), Some(NOW + 130 * DAY)),
    ];
    let mut namespace = Namespace::default();
    for (later, options, until) in table {
        let run = namespace.run(NOW + later, &[(password(), options)]);
        let secret = &namespace.secrets[&run.names["config"]];
        assert_eq!(secret.label(labels::ISSUED_AT), NOW.to_string());
        assert_eq!(secret.labels.get(labels::VALID_UNTIL).cloned(), until.map(|until| until.to_string()));
    }
}

/// The original's unit tests of `New`: renewed after 80 % of the validity, or with less than ten days left.
#[rstest]
#[case::at_80_percent(0, 100 * DAY, 80 * DAY, false)]
#[case::after_80_percent(0, 100 * DAY, 80 * DAY + 1, true)]
#[case::ten_days_left(0, 30 * DAY, 20 * DAY, false)]
#[case::less_than_ten_days_left(0, 30 * DAY, 20 * DAY + 1, true)]
#[case::ended(0, 30 * DAY, 40 * DAY, true)]
fn data_is_renewed_before_it_ends(
    #[case] issued: i64,
    #[case] until: i64,
    #[case] now: i64,
    #[case] want: bool,
) {
    let mut namespace = Namespace::default();
    let times = [(labels::ISSUED_AT, issued.to_string()), (labels::VALID_UNTIL, until.to_string())];
    let managed = [
        (labels::NAME, "a".to_owned()),
        (labels::MANAGED_BY, labels::MANAGER.to_owned()),
        (labels::IDENTITY, IDENTITY.to_owned()),
        (labels::ROTATION, "-100".to_owned()),
    ];
    let all: Vec<(&str, &str)> =
        times.iter().chain(&managed).map(|(key, value)| (*key, value.as_str())).collect();
    namespace.put(secret("a-1", &all));
    let rotation = |namespace: &Namespace| namespace.manager(now).rotations["a"].clone();
    assert_eq!(rotation(&namespace), if want { now.to_string() } else { "-100".to_owned() });

    let authority = SecretData::from([("ca.crt", ""), ("ca.key", "")]);
    namespace.put(ManagedSecret { data: authority, ..secret("a-1", &all) });
    assert_eq!(rotation(&namespace), "-100", "an authority, unless they are renewed");
    namespace.renews_authorities = true;
    assert_eq!(rotation(&namespace), if want { now.to_string() } else { "-100".to_owned() });
    namespace.rotate("a", 7);
    assert_eq!(rotation(&namespace), "7", "what is given wins");
}

#[test]
fn the_newest_secret_decides() {
    let mut namespace = Namespace::default();
    for (name, created, rotation) in [("a-1", Some(2), "22"), ("a-2", Some(4), "24"), ("a-3", None, "23")] {
        let all = [
            (labels::NAME, "a"),
            (labels::MANAGED_BY, labels::MANAGER),
            (labels::IDENTITY, IDENTITY),
            (labels::ROTATION, rotation),
        ];
        namespace.put(ManagedSecret { created, ..secret(name, &all) });
    }
    assert_eq!(namespace.manager(NOW).rotations["a"], "24");
}

/// The authority of the runtime cluster: 30 days, renewed by itself, the old one dropped a day later.
#[test]
fn a_short_lived_authority_renews_itself() {
    let content = CertificateContent {
        validity: Some(Duration::from_hours(30 * 24)),
        ..CertificateContent::new(CertificateKind::Authority)
    };
    let request = SecretRequest::new("ca-garden-runtime", Content::Certificate(content));
    let options = GenerateOptions { ignore_old_after: Some(Duration::from_hours(24)), ..keep_old() };
    let requests = [(request, options)];
    let mut namespace = Namespace { renews_authorities: true, ..Namespace::default() };
    let first = namespace.run(NOW, &requests).names["ca-garden-runtime"].clone();
    assert_eq!(first, "ca-garden-runtime-03768586");
    assert_eq!(namespace.run(NOW + 20 * DAY, &requests).writes, NOTHING);
    let renewed_at = NOW + 20 * DAY + 1;
    let second = namespace.run(renewed_at, &requests);
    let name = second.names["ca-garden-runtime"].clone();
    assert_ne!(name, first);
    let old = |run: &Run| run.manager.get("ca-garden-runtime", Some(SecretClass::Old)).cloned();
    assert_eq!(old(&second).unwrap().name, first);
    let day_later = namespace.run(renewed_at + DAY - 1, &requests);
    assert!(old(&day_later).is_some());
    let later = namespace.run(renewed_at + DAY, &requests);
    assert_eq!(old(&later), None);
    assert_eq!(later.names["ca-garden-runtime"], name);
    assert!(later.deleted.contains(&first), "{:?}", later.deleted);
}

#[rstest]
#[case(labels::ISSUED_AT)]
#[case(labels::VALID_UNTIL)]
fn a_malformed_lifetime_is_an_error(#[case] label: &str) {
    let mut all = vec![
        (labels::ISSUED_AT, "1"),
        (labels::VALID_UNTIL, "2"),
        (labels::MANAGED_BY, labels::MANAGER),
        (labels::IDENTITY, IDENTITY),
    ];
    all.retain(|(key, _)| *key != label);
    all.push((label, "x"));
    let setup = Setup { namespace: "garden".to_owned(), identity: IDENTITY.to_owned(), ..Setup::default() };
    let error = SecretsManager::new(setup, [secret("a", &all)], at(NOW)).unwrap_err();
    assert_eq!(
        chain_of(&error),
        format!("Secret garden/a: label {label}: strconv.ParseInt: parsing \"x\": invalid syntax")
    );
}
