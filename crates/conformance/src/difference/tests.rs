//! Two values and the sentences about their differences.

use serde_json::{Value, json};

use super::*;
use crate::report::{Check, ValueChange};

/// The differences as sentences.
fn words(before: &Value, after: &Value) -> Vec<String> {
    let text = |edit: &Edit| {
        let place: Vec<&str> = edit.place.iter().chain(&edit.name).map(String::as_str).collect();
        let words = edit.words(Sides::ANSWERS);
        if place.is_empty() { words } else { format!("{}: {words}", place.join(", ")) }
    };
    edits(before, after).iter().map(text).collect()
}

fn command(change: impl Fn(&mut Vec<String>)) -> Value {
    let mut words: Vec<String> = (0..40).map(|number| format!("--flag-{number}=v{number}")).collect();
    words.insert(0, "kube-apiserver".to_owned());
    words.push("--feature-gates=A=true,B=false".to_owned());
    change(&mut words);
    json!(words)
}

#[test]
fn a_command_line_differs_in_its_flags_only() {
    let before = command(|_| ());
    let remove =
        |name: &'static str| move |words: &mut Vec<String>| words.retain(|word| !word.starts_with(name));
    let replace = |name: &'static str, text: &'static str| {
        move |words: &mut Vec<String>| {
            let at = words.iter().position(|word| word.starts_with(name)).unwrap();
            words[at] = text.to_owned();
        }
    };
    let push = |text: &'static str| move |words: &mut Vec<String>| words.push(text.to_owned());
    let table: [(Value, &[&str]); 9] = [
        (command(remove("--flag-7=")), &["--flag-7=v7 is gone"]),
        (command(replace("--flag-9=", "--flag-9=x")), &["--flag-9: v9 → x"]),
        (command(push("--new=a")), &["--new=a is added"]),
        (command(push("--flag-3=v3")), &["--flag-3=v3 occurs twice"]),
        (command(push("--flag-3=other")), &["--flag-3=other is added"]),
        (
            command(replace("--feature-gates=", "--feature-gates=B=true,C=true")),
            &[
                "--feature-gates: A=true is gone",
                "--feature-gates, B: false → true",
                "--feature-gates: C=true is added",
            ],
        ),
        (
            command(replace("--feature-gates=", "--feature-gates=B=false,A=true")),
            &["--feature-gates: the same members in another order"],
        ),
        (command(|words| words.swap(3, 4)), &["the same members in another order"]),
        (command(replace("kube-apiserver", "hyperkube")), &["kube-apiserver → hyperkube"]),
    ];
    for (after, want) in table {
        assert_eq!(words(&before, &after), want);
    }
}

#[test]
fn a_unit_differs_by_option() {
    let unit = |exec: &str, more: &str| {
        json!(format!(
            "# written by Gardener\n[Unit]\nAfter=containerd.service\n[Service]\nExecStart=/opt/bin/kubelet \\\n    --v=2{exec}\n{more}"
        ))
    };
    let before = unit(" \\\n    --cloud-provider=external", "");
    let table: [(Value, &[&str]); 4] = [
        (
            unit(" \\\n    --cloud-provider=external \\\n    --cloud-provider=external", ""),
            &["ExecStart: --cloud-provider=external occurs twice"],
        ),
        (
            unit("", "MemoryMax=2G\n"),
            &["ExecStart: --cloud-provider=external is gone", "MemoryMax: 2G is added"],
        ),
        (
            json!(before.as_str().unwrap().replace("containerd", "docker")),
            &["[Unit] After: containerd.service → docker.service"],
        ),
        (
            json!(before.as_str().unwrap().replace("# written by Gardener", "# written by us")),
            &["# written by Gardener → # written by us"],
        ),
    ];
    for (after, want) in table {
        assert_eq!(words(&before, &after), want);
    }
}

#[test]
fn texts_differ_by_line_and_documents_by_field() {
    let table: [(Value, Value, &[&str]); 6] = [
        (json!("a\nb\nc\n"), json!("a\nc\n"), &["b is gone"]),
        (json!("a: 1\nb:\n  c: x\n"), json!("a: 1\nb:\n  c: z\nd: 2\n"), &["b, c: x → z", "d: 2 is added"]),
        (json!("{\"a\": 1}"), json!("{\"a\": 2}"), &["a: 1 → 2"]),
        (json!("YTogMQpiOiAyCmM6IDMK"), json!("YTogMQpiOiAzCmM6IDMK"), &["b: 2 → 3"]),
        (json!("one"), json!("two"), &["one → two"]),
        (json!("a\n\n"), json!("a\n"), &[" is gone"]),
    ];
    for (before, after, want) in table {
        assert_eq!(words(&before, &after), want);
    }
}

#[test]
fn elements_are_compared_by_their_key() {
    let env = |list: &[(&str, &str)]| -> Value {
        list.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
    };
    let before = env(&[("A", "1"), ("B", "2")]);
    let after = env(&[("B", "3"), ("C", "4")]);
    let want = [
        "name=A: {\"name\":\"A\",\"value\":\"1\"} is gone",
        "name=B, value: 2 → 3",
        "name=C: {\"name\":\"C\",\"value\":\"4\"} is added",
    ];
    assert_eq!(words(&before, &after), want);
    assert_eq!(words(&json!([1, 2, 3]), &json!([1, 3])), ["2 is gone"]);
}

fn check(part: &str, path: &str, want: &str, got: &str) -> Check {
    let text = str::to_owned;
    Check { part: text(part), path: text(path), want: text(want), got: text(got), ..Check::default() }
}

fn kept(path: &str, want: &str, got: Option<&str>) -> Check {
    let change = ValueChange::new(path, Some(want), got);
    Check { changes: vec![change], ..check("object", path, want, got.unwrap_or("absent")) }
}

fn shown(checks: &[Check]) -> Vec<String> {
    let checks: Vec<&Check> = checks.iter().collect();
    diff(&checks)
        .iter()
        .map(|line| {
            format!("{} {}{} {}", line.sign, "  ".repeat(line.depth), line.text, line.note)
                .trim_end()
                .to_owned()
        })
        .collect()
}

#[test]
fn parents_are_shown_once() {
    let checks = [
        check("object", "spec.replicas", "2", "3"),
        check("object", "spec.template.metadata", "absent", "{}"),
        check("message", "", "no", "absent"),
    ];
    let want = [
        "- spec.replicas: 2 wanted",
        "+ spec.replicas: 3 got",
        "- spec.template.metadata: absent wanted",
        "+ spec.template.metadata: {} got",
        "- message: no wanted",
        "+ message: absent got",
    ];
    assert_eq!(shown(&checks), want);
    let list: Vec<&Check> = checks.iter().collect();
    assert_eq!(sentences(&list)[0], "spec.replicas: wanted 2, got 3");
}

#[test]
fn elements_of_a_list_that_moved_are_aligned() {
    let list = "spec.template.spec.containers[name=kube-apiserver].command";
    let checks: Vec<Check> = (10..42)
        .map(|at| {
            let next = (at < 41).then(|| format!("--flag-{}=v", at + 1));
            kept(&format!("{list}[{at}]"), &format!("--flag-{at}=v"), next.as_deref())
        })
        .collect();
    assert_eq!(shown(&checks), ["  container kube-apiserver:", "    command:", "-     --flag-10=v is gone"]);
    let checks: Vec<&Check> = checks.iter().collect();
    assert_eq!(sentences(&checks), ["container kube-apiserver, command: --flag-10=v is gone"]);
}

#[test]
fn a_value_that_a_clause_keeps_is_gone_and_an_expected_one_is_wanted() {
    let flag = "spec.template.spec.containers[name=app]<Flags>.--tls-cert-file";
    assert_eq!(
        shown(&[kept(flag, "/srv/a.crt", None)]),
        ["  container app:", "-   --tls-cert-file: /srv/a.crt is gone"]
    );
    let expected = check("object", flag, "present", "absent");
    let want = ["  container app:", "-   --tls-cert-file: present wanted", "+   --tls-cert-file: absent got"];
    assert_eq!(shown(&[expected]), want);
    let list = check("object", "spec.args", "[a, b, c]", r#"["a","c"]"#);
    assert_eq!(shown(&[list]), ["  spec.args:", "-   b is missing"]);
}

#[test]
fn a_broken_law_shows_the_first_answer_against_the_second() {
    let unit = |flags: &str| format!("[Service]\nExecStart=/kubelet --v=2{flags}\n");
    let (first, second) =
        (unit(" --cloud-provider=external"), unit(" --cloud-provider=external --cloud-provider=external"));
    let change = ValueChange::new("spec.units[name=kubelet.service].content", Some(&first), Some(&second));
    let law =
        Check { changes: vec![change], ..check("law", "idempotent", "applying twice", "the result changes") };
    let want = ["  kubelet.service:", "    ExecStart:", "+     --cloud-provider=external occurs twice"];
    assert_eq!(shown(std::slice::from_ref(&law)), want);
    assert_eq!(sentences(&[&law]), ["kubelet.service, ExecStart: --cloud-provider=external occurs twice"]);
}
