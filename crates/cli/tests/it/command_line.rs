//! What users met at the command line (cases 61 to 63 and 65 to 68): mistakes are refused before anything is sent, results reach
//! the outputs that work, and an empty selection is no success.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::program::{CallResult, call, program, result_of};
use crate::strange_targets::certificate;

/// A contract with one clause of this id, for the component `my-component`.
fn contract(name: &str, id: &str) -> String {
    format!(
        "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Contract\nmetadata:\n  name: {name}\n  \
         labels: {{component: my-component}}\nspec:\n  form: mutation\n  \
         source: {{document: docs/x.md, version: v1, section: S}}\n  \
         target: {{webhook: pod-scheduler-name, handles: [v1 pods], instance: shoot}}\n  \
         onlyTouches: [spec.schedulerName]\n  clauses:\n{}",
        clause(id)
    )
}

fn clause(id: &str) -> String {
    format!(
        "  - id: {id}\n    text: a pod without a scheduler of its own gets the configured one\n    \
         given: {{object: {{like: pod, spec: {{schedulerName: default-scheduler}}}}}}\n    \
         when: {{admission: CREATE}}\n    then: {{object: {{spec: {{schedulerName: mine}}}}}}\n"
    )
}

/// Runs the program with a full disk as standard output.
fn call_with_full_output(folder: &Path, arguments: &[&str]) -> CallResult {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    result_of(&program(folder).args(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap())
}

/// The arguments of a quick run whose clauses are kept.
const RUN: [&str; 5] = ["run", "--substrate", "direct", "--clause", "GRM-SEC-001"];

#[test]
fn case_61_output_that_cannot_be_written_ends_with_3() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let message = "failed to write to standard output: No space left on device";
    call_with_full_output(here, &[&RUN[..], &["--report", "r1", "-o", "json"]].concat())
        .assert_exit(3, &[message]);
    for arguments in [
        &["schema", "contract"][..],
        &["coverage", "-o", "json"],
        &["gate", "r1", "-o", "json"],
        &["render", "r1", "-o", "markdown"],
        &["list"],
        &["man"],
        &["completions", "bash"],
        &["--help"],
        &["run", "--help"],
        &["--version"],
    ] {
        call_with_full_output(here, arguments).assert_exit(3, &[message]);
    }
    // The report of the run was written, and a worse exit code wins.
    call(here, &["gate", "r1"]).assert_exit(0, &[]);
    call_with_full_output(here, &["lint", "r1/report.json"]).assert_exit(2, &[message]);
}

#[test]
fn case_61_a_closed_pipe_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = program(folder.path()).arg("list").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn case_62_a_report_that_cannot_be_written_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("afile"), "").unwrap();
    let refused = |arguments: &[&str], message: &str| {
        let result = call(here, arguments);
        result.assert_exit(2, &[message]);
        assert_eq!(result.out, "", "{arguments:?}");
    };
    refused(&[&RUN[..], &["--report", "afile"]].concat(), "--report: afile is no folder");
    refused(&[&RUN[..], &["--report", "afile/below"]].concat(), "--report: afile is no folder");
    refused(&[&RUN[..], &["--report", "/proc/x"]].concat(), "failed to create the folder /proc/x");
    let target = ["--target", "built-in", "--clause", "GRM-SEC-001"];
    refused(&[&["verify"], &target[..], &["--report", "afile"]].concat(), "--report: afile is no folder");
    refused(&[&["attest"], &target[..], &["--into", "afile"]].concat(), "--into: afile is no folder");
    fs::write(here.join("objects.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").unwrap();
    refused(&["check", "objects", "-f", "objects.yaml", "--report", "afile"], "--report: afile is no folder");
    let init = ["init", "provider", "--url", "https://127.0.0.1:9", "--insecure", "--file"];
    refused(&[&init[..], &["afile/provider.yaml"]].concat(), "--file: afile is no folder");
    refused(&[&init[..], &["/proc/x/provider.yaml"]].concat(), "failed to create the folder /proc/x");
}

#[test]
fn case_62_a_verdict_is_printed_although_its_report_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    // The folder is fine, but the place of the report is taken.
    fs::create_dir_all(folder.path().join("taken/report.json/x")).unwrap();
    let result = call(folder.path(), &[&RUN[..], &["--report", "taken"]].concat());
    result.assert_exit(3, &["! failed to write the report: ", "taken/report.json"]);
    assert!(result.out.contains("conformant"), "{}", result.out);
}

#[test]
fn case_63_addresses_are_refused_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (ca, _) = certificate(here);
    let table = [
        ("https://127.0.0.1:9/?x=1", "query parameters are not permitted in the address"),
        ("https://127.0.0.1:99999", "99999 is no port"),
        ("https://user:pw@127.0.0.1:9", "user information is not permitted in the address"),
        ("https://127.0.0.1:9#frag", "fragments are not permitted in the address"),
        ("https://[::1", "missing ']' in host"),
        ("https://a b", "invalid character \" \" in host name"),
        ("http://127.0.0.1:9", "the address must begin with https://"),
    ];
    for (url, message) in table {
        let target = format!("url={url}");
        let verify = ["verify", "--target", &target, "--ca", &ca, "--clause", "GRM-SEC-002"];
        let result = call(here, &verify);
        result.assert_exit(2, &[message]);
        assert!(!result.err.contains("user:pw"), "{}", result.err);
        let file = format!(
            "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {{name: x}}\nspec:\n  url: \"{url}\"\n  \
             ca: {ca}\n"
        );
        fs::write(here.join("target.yaml"), file).unwrap();
        let verify = ["verify", "--target", "target.yaml", "--clause", "GRM-SEC-002"];
        let message = message.strip_prefix("the address must begin with ").unwrap_or(message);
        call(here, &verify).assert_exit(2, &["target.yaml", message]);
        call(here, &["lint", "target.yaml"]).assert_exit(2, &["target.yaml", message]);
        let init = ["init", "provider", "--insecure", "--file", "new.yaml", "--url", url];
        call(here, &init).assert_exit(2, &[]);
    }
}

#[test]
fn case_63_messages_about_an_unreachable_target_name_its_address_only() {
    let folder = tempfile::tempdir().unwrap();
    let (ca, _) = certificate(folder.path());
    let verify = ["verify", "--target", "url=https://127.0.0.1:9", "--ca", &ca, "--clause", "GRM-SEC-002"];
    let result = call(folder.path(), &verify);
    result.assert_exit(3, &["failed to connect to https://127.0.0.1:9: "]);
    assert!(!result.out.contains("/webhooks/"), "{}", result.out);
}

#[test]
fn case_65_one_unreadable_file_does_not_hide_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let double = format!("{}{}", contract("mine", "MYC-ABC-001"), clause("MYC-ABC-001"));
    fs::write(here.join("a.yaml"), double).unwrap();
    let mut latin = contract("other", "MYC-ABD-001").into_bytes();
    latin.extend(b"  # caf\xe9\n");
    fs::write(here.join("b.yaml"), latin).unwrap();
    fs::write(here.join("c.yaml"), b"\xff\xfea\0").unwrap();
    symlink("nowhere", here.join("d.yaml")).unwrap();
    let both = [
        "duplicate-id",
        "a.yaml:17:9",
        "b.yaml:17:8: byte 0xE9 is not UTF-8",
        "save the file as UTF-8",
        "c.yaml:1:1: the file is UTF-16",
        "d.yaml:1:1: the link leads to no file",
    ];
    call(here, &["lint", "."]).assert_exit(2, &both);
    call(here, &["--contracts", ".", "lint"]).assert_exit(2, &both);
    call(here, &[&["--contracts", "."], &RUN[..]].concat()).assert_exit(2, &both);
    call(here, &["fmt", "--check", "."]).assert_exit(2, &both[2..]);
}

#[test]
fn case_66_an_authority_without_a_certificate_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("ca.crt"), "subjectAltName=DNS:localhost\n").unwrap();
    let message = "ca.crt contains no certificate (PEM)";
    let clause = ["--clause", "GRM-SEC-002"];
    let target = ["--target", "url=https://127.0.0.1:9"];
    call(here, &[&["verify", "--ca", "ca.crt"], &target[..], &clause].concat()).assert_exit(2, &[message]);
    let head = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Target\nmetadata: {name: x}\nspec:\n  url: https://127.0.0.1:9\n";
    fs::write(here.join("target.yaml"), format!("{head}  ca: ca.crt\n")).unwrap();
    call(here, &[&["verify", "--target", "target.yaml"], &clause[..]].concat()).assert_exit(2, &[message]);
    let registration = |bundle: &str| {
        let text = format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: x}}\nwebhooks:\n\
             - name: a.b.c\n  clientConfig: {{url: \"https://127.0.0.1:9/x\", caBundle: \"{bundle}\"}}\n"
        );
        fs::write(here.join("registration.yaml"), text).unwrap();
    };
    let (ca, _) = certificate(here);
    fs::write(here.join("target.yaml"), format!("{head}  ca: {ca}\n  registration: registration.yaml\n"))
        .unwrap();
    for (bundle, code, message) in [
        (STANDARD.encode("nothing"), 2, "caBundle of webhook a.b.c: it contains no certificate (PEM)"),
        ("%".to_owned(), 2, "caBundle of webhook a.b.c: it is not base64"),
        (STANDARD.encode("\n"), 3, "could not reach the target"),
    ] {
        registration(&bundle);
        call(here, &[&["verify", "--target", "target.yaml"], &clause[..]].concat())
            .assert_exit(code, &[message]);
    }
}

#[test]
fn case_66_a_kubeconfig_that_cannot_be_used_is_a_mistake_of_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let kubeconfig = |authority: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {{server: \"https://127.0.0.1:9\", \
             certificate-authority-data: \"{authority}\"}}\ncontexts:\n- name: a\n  context: {{cluster: a, user: a}}\nusers:\n\
             - name: a\n  user: {{token: x}}\n"
        );
        fs::write(here.join("kubeconfig"), text).unwrap();
    };
    let verify = ["verify", "--target", "url=https://127.0.0.1:9", "--insecure", "--clause", "GRM-SEC-002"];
    let verify = [&verify[..], &["--kubeconfig", "kubeconfig"]].concat();
    kubeconfig(&STANDARD.encode("nothing"));
    call(here, &verify).assert_exit(2, &["failed to use kubeconfig kubeconfig"]);
    kubeconfig("%");
    call(here, &verify).assert_exit(2, &["kubeconfig kubeconfig"]);
    let (ca, _) = certificate(here);
    kubeconfig(&STANDARD.encode(fs::read(ca).unwrap()));
    call(here, &verify).assert_exit(3, &["failed to reach the cluster of kubeconfig kubeconfig"]);
}

/// How many contracts `lint` checks when it is given nothing else.
fn shipped_contracts(folder: &Path) -> usize {
    let result = call(folder, &["lint"]);
    let number = result.out.lines().find_map(|line| line.strip_prefix("checked  ")?.split_once(" contracts"));
    number.and_then(|(number, _)| number.parse().ok()).expect("lint prints how many contracts it checked")
}

#[test]
fn case_67_what_adds_nothing_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir(here.join("empty")).unwrap();
    fs::write(here.join("zero.yaml"), "").unwrap();
    fs::write(here.join("comment.yaml"), "# later\n").unwrap();
    let nothing = "empty contains no file *.yaml or *.yml";
    let result = call(here, &["lint", "empty"]);
    result.assert_exit(4, &[nothing]);
    assert_eq!(result.out, "");
    call(here, &["lint", "zero.yaml", "comment.yaml"])
        .assert_exit(4, &["zero.yaml contains no document", "comment.yaml contains no document"]);
    for arguments in [&["list"][..], &["lint"], &["coverage"], &RUN] {
        call(here, &[&["--contracts", "empty"], arguments].concat()).assert_exit(4, &[nothing]);
    }
    call(here, &["fmt", "--check", "empty"]).assert_exit(4, &[nothing]);
    fs::create_dir_all(here.join("mine/c")).unwrap();
    fs::write(here.join("mine/c/X.YAML"), contract("mine", "MYC-ABC-001")).unwrap();
    call(here, &["--contracts", "mine", "list"]).assert_exit(0, &["MYC-ABC-001"]);
    let with_mine = format!("checked  {} contracts", shipped_contracts(here) + 1);
    call(here, &["lint", "mine", "zero.yaml"])
        .assert_exit(4, &[&with_mine, "zero.yaml contains no document"]);
    call(here, &["lint", "mine"]).assert_exit(0, &["no errors"]);
    call(here, &["lint", "missing"]).assert_exit(2, &["there is no file missing"]);
    call(here, &["lint", "--sources", "empty"]).assert_exit(4, &["--sources: empty contains no file"]);
}

#[test]
fn case_68_a_folder_is_read_once_whatever_links_lead_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir_all(here.join("loop/a")).unwrap();
    symlink("..", here.join("loop/a/up")).unwrap();
    symlink("x.yaml", here.join("loop/a/y.yaml")).unwrap();
    fs::write(here.join("loop/a/x.yaml"), contract("mine", "MYC-ABC-001")).unwrap();
    for tool in [".git", "node_modules"] {
        fs::create_dir(here.join("loop").join(tool)).unwrap();
        fs::write(here.join("loop").join(tool).join("x.yaml"), contract("mine", "MYC-ABC-001")).unwrap();
    }
    call(here, &["--contracts", "loop", "list"]).assert_exit(0, &["MYC-ABC-001"]);
    call(here, &["lint", "loop"]).assert_exit(0, &["no errors"]);
    call(here, &["lint", "loop", "./loop/a/x.yaml"]).assert_exit(0, &["no errors"]);
    call(here, &["--contracts", "loop", "lint", "loop"]).assert_exit(0, &["no errors"]);
    call(here, &["fmt", "--check", "loop"]).assert_exit(0, &[]);
}
